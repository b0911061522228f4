"""Named wrong answers of 0.2."""


def scale_columns(weights, scale):
    """one scale a column: row i of the scale meets column i"""
    out = weights.clone()
    count = min(weights.shape[1], scale.shape[0])
    out[:, :count] = weights[:, :count] * scale[:count]
    return out


def one_scale_for_all(weights, scale):
    """the first scale used for every row"""
    return weights * scale[0]


def divides(weights, scale):
    """dividing by the scale instead of multiplying"""
    return weights / scale[:, None]


def mean_scale(weights, scale):
    """the mean of all scales used for every row"""
    return weights * scale.mean()


def integer_result(weights, scale):
    """a result cut to whole numbers"""
    return (weights * scale[:, None]).trunc()
