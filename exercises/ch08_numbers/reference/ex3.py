"""Reference of 8.3."""

import torch


def int4_groups(weight_NK, group):
    pieces = weight_NK.split(group, dim=1)
    scale_NG = torch.stack([p.abs().amax(1) / 7 for p in pieces], dim=1)
    spread_NK = scale_NG.repeat_interleave(group, dim=1)[:, : weight_NK.shape[1]]
    codes_NK = (weight_NK / spread_NK).round().to(torch.int8)
    return codes_NK, scale_NG, codes_NK * spread_NK
