"""Other right answers of 8.7."""

import torch


def nan_to_zero(weight_NK, group):
    grouped_NGg = weight_NK.unflatten(1, (-1, group))
    scale_NG1 = grouped_NGg.abs().amax(-1, keepdim=True) / 7
    codes_NGg = torch.nan_to_num(torch.round(grouped_NGg / scale_NG1))
    return (codes_NGg * scale_NG1).flatten(1)


def smallest_normal(weight_NK, group):
    grouped_NGg = weight_NK.unflatten(1, (-1, group))
    scale_NG1 = (grouped_NGg.abs().amax(-1, keepdim=True) / 7).clamp(min=1e-30)
    return (torch.round(grouped_NGg / scale_NG1) * scale_NG1).flatten(1)
