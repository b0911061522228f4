"""Reference of 2.1."""


def rms_norm(x_TD, weight_D, eps):
    wide_TD = x_TD.float()
    scale_T1 = ((wide_TD * wide_TD).mean(-1, keepdim=True) + eps).rsqrt()
    return (wide_TD * scale_T1).to(x_TD.dtype) * weight_D
