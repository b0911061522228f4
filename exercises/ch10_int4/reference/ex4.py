"""Reference of 10.4."""

import torch


def nf4(weight_NK, above_8, below_7, block):
    levels_16 = torch.cat([above_8, -below_7, torch.zeros(1)]).sort().values / above_8.max()
    scale_B = torch.stack([b.abs().max() for b in weight_NK.flatten().split(block)])
    scale_B = torch.where(scale_B == 0, 1.0, scale_B)
    scale_NK = scale_B.repeat_interleave(block)[: weight_NK.numel()].view_as(weight_NK)
    unit_NK = weight_NK / scale_NK
    codes_NK = (unit_NK[..., None] - levels_16).abs().argmin(-1)
    return levels_16, codes_NK.to(torch.uint8), scale_B, levels_16[codes_NK] * scale_NK
