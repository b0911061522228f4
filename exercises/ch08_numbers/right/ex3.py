"""Other right answers of 8.3."""

import torch
import torch.nn.functional as F


def fills_with_zeros(weight_NK, group):
    N, K = weight_NK.shape
    grouped = F.pad(weight_NK, (0, -K % group)).reshape(N, -1, group)
    scale_NG = grouped.abs().amax(2) / 7
    codes = torch.round(grouped / scale_NG[:, :, None])
    back = codes * scale_NG[:, :, None]
    return codes.reshape(N, -1)[:, :K].char(), scale_NG, back.reshape(N, -1)[:, :K]


def group_by_group(weight_NK, group):
    codes, scales, back = [], [], []
    for piece in weight_NK.split(group, dim=1):
        scale_N1 = piece.abs().max(dim=1, keepdim=True).values / 7
        codes.append(torch.round(piece / scale_N1).to(torch.int8))
        scales.append(scale_N1)
        back.append(codes[-1] * scale_N1)
    return torch.cat(codes, 1), torch.cat(scales, 1), torch.cat(back, 1)
