"""Named wrong answers of 2.6."""


def norm_after_the_addition(x_TD, attention_norm, attention, mlp_norm, mlp):
    """the norm after each addition (the post-norm of 2017)"""
    x_TD = attention_norm(x_TD + attention(x_TD))
    return mlp_norm(x_TD + mlp(x_TD))


def no_residual(x_TD, attention_norm, attention, mlp_norm, mlp):
    """no additions: each part replacing the stream"""
    return mlp(mlp_norm(attention(attention_norm(x_TD))))


def both_read_the_same(x_TD, attention_norm, attention, mlp_norm, mlp):
    """attention and MLP side by side, both reading the stream before the block"""
    return x_TD + attention(attention_norm(x_TD)) + mlp(mlp_norm(x_TD))


def stream_normalised(x_TD, attention_norm, attention, mlp_norm, mlp):
    """additions to the normalised copy instead of to the stream"""
    x_TD = attention_norm(x_TD)
    x_TD = mlp_norm(x_TD + attention(x_TD))
    return x_TD + mlp(x_TD)


def attention_forgotten(x_TD, attention_norm, attention, mlp_norm, mlp):
    """a second addition that starts from the stream before attention"""
    return x_TD + mlp(mlp_norm(x_TD + attention(attention_norm(x_TD))))


def one_norm_for_both(x_TD, attention_norm, attention, mlp_norm, mlp):
    """the attention's norm used before the MLP too"""
    x_TD = x_TD + attention(attention_norm(x_TD))
    return x_TD + mlp(attention_norm(x_TD))


def no_norms(x_TD, attention_norm, attention, mlp_norm, mlp):
    """no norms at all"""
    x_TD = x_TD + attention(x_TD)
    return x_TD + mlp(x_TD)


def no_mlp_norm(x_TD, attention_norm, attention, mlp_norm, mlp):
    """the MLP reading the stream itself: its norm is left out"""
    x_TD = x_TD + attention(attention_norm(x_TD))
    return x_TD + mlp(x_TD)


def no_attention_norm(x_TD, attention_norm, attention, mlp_norm, mlp):
    """attention reading the stream itself: its norm is left out"""
    x_TD = x_TD + attention(x_TD)
    return x_TD + mlp(mlp_norm(x_TD))


def norm_after_the_part(x_TD, attention_norm, attention, mlp_norm, mlp):
    """each norm after its part instead of before it"""
    x_TD = x_TD + attention_norm(attention(x_TD))
    return x_TD + mlp_norm(mlp(x_TD))
