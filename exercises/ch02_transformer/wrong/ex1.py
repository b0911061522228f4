"""Named wrong answers of 2.1."""


def _scaled(x_TD, factor, weight_D):
    return (x_TD.float() * factor).to(x_TD.dtype) * weight_D


def layer_norm(x_TD, weight_D, eps):
    """subtracting the mean first (that is LayerNorm)"""
    centred = x_TD.float() - x_TD.float().mean(-1, keepdim=True)
    scale = (centred.square().mean(-1, keepdim=True) + eps).rsqrt()
    return _scaled(centred.to(x_TD.dtype), scale, weight_D)


def mean_over_tokens(x_TD, weight_D, eps):
    """the mean taken over the tokens instead of over each row"""
    return _scaled(x_TD, (x_TD.float().square().mean(0) + eps).rsqrt(), weight_D)


def mean_over_all(x_TD, weight_D, eps):
    """one mean for all rows together"""
    return _scaled(x_TD, (x_TD.float().square().mean() + eps).rsqrt(), weight_D)


def sum_of_squares(x_TD, weight_D, eps):
    """the sum of the squares instead of their mean (rows of length 1)"""
    return _scaled(x_TD, (x_TD.float().square().sum(-1, keepdim=True) + eps).rsqrt(), weight_D)


def eps_outside(x_TD, weight_D, eps):
    """eps added after the square root"""
    return _scaled(x_TD, 1 / (x_TD.float().square().mean(-1, keepdim=True).sqrt() + eps), weight_D)


def no_eps(x_TD, weight_D, eps):
    """no eps at all"""
    return _scaled(x_TD, x_TD.float().square().mean(-1, keepdim=True).rsqrt(), weight_D)


def no_weight(x_TD, weight_D, eps):
    """the weight left out"""
    return _scaled(x_TD, (x_TD.float().square().mean(-1, keepdim=True) + eps).rsqrt(), 1)


def squares_in_16_bit(x_TD, weight_D, eps):
    """squares computed in float16, where they overflow to infinity"""
    return x_TD * (x_TD.square().mean(-1, keepdim=True) + eps).rsqrt() * weight_D


def eps_of_its_own(x_TD, weight_D, eps):
    """an eps of 1e-6, whatever eps is given"""
    wide_TD = x_TD.float()
    return _scaled(x_TD, ((wide_TD * wide_TD).mean(-1, keepdim=True) + 1e-6).rsqrt(), weight_D)


def no_keepdim(x_TD, weight_D, eps):
    """the mean without keepdim=True: factor t meets column t, not row t"""
    return _scaled(x_TD, (x_TD.float().square().mean(-1) + eps).rsqrt(), weight_D)


def _narrow(x_TD, squares, eps, weight_D):
    return x_TD / (squares + eps).sqrt() * weight_D


def layer_norm_in_16_bit(x_TD, weight_D, eps):
    """subtracting the mean first: LayerNorm (and float16 rows stay in float16)"""
    centred = x_TD - x_TD.mean(-1, keepdim=True)
    return _narrow(centred, (centred * centred).mean(-1, keepdim=True), eps, weight_D)


def mean_over_tokens_in_16_bit(x_TD, weight_D, eps):
    """the mean taken over the tokens instead of over each row (and float16 rows stay in float16)"""
    return _narrow(x_TD, (x_TD * x_TD).mean(0), eps, weight_D)


def mean_over_all_in_16_bit(x_TD, weight_D, eps):
    """one mean for all rows together (and float16 rows stay in float16)"""
    return _narrow(x_TD, (x_TD * x_TD).mean(), eps, weight_D)


def sum_of_squares_in_16_bit(x_TD, weight_D, eps):
    """the sum of the squares instead of their mean (and float16 rows stay in float16)"""
    return _narrow(x_TD, (x_TD * x_TD).sum(-1, keepdim=True), eps, weight_D)


def eps_outside_in_16_bit(x_TD, weight_D, eps):
    """eps added after the square root (and float16 rows stay in float16)"""
    return x_TD / ((x_TD * x_TD).mean(-1, keepdim=True).sqrt() + eps) * weight_D
