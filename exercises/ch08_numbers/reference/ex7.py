"""Reference of 8.7."""

import torch


def through_int4(weight_NK, group):
    grouped_NGg = weight_NK.unflatten(1, (-1, group))
    scale_NG1 = grouped_NGg.abs().amax(-1, keepdim=True) / 7
    scale_NG1 = torch.where(scale_NG1 == 0, 1.0, scale_NG1)
    codes_NGg = torch.round(grouped_NGg / scale_NG1).clamp(-8, 7)
    return (codes_NGg * scale_NG1).flatten(1)
