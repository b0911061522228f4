"""Named wrong answers of 8.3."""

import torch


def _with(weight_NK, group, of_piece, code=torch.round):
    pieces = weight_NK.split(group, dim=1)
    scale_NG = torch.stack([of_piece(p) for p in pieces], dim=1)
    spread_NK = scale_NG.repeat_interleave(group, dim=1)[:, : weight_NK.shape[1]]
    codes_NK = code(weight_NK / spread_NK).clamp(-8, 7).to(torch.int8)
    return codes_NK, scale_NG, codes_NK * spread_NK


def one_scale_a_row(weight_NK, group):
    """one scale for the whole row"""
    return _with(weight_NK, group, lambda p: weight_NK.abs().amax(1) / 7)


def shared_by_rows(weight_NK, group):
    """one scale for the columns of a group in ALL rows"""
    return _with(weight_NK, group, lambda p: (p.abs().max() / 7).expand(len(p)).clone())


def by_8(weight_NK, group):
    """dividing by 8: the largest value has no code"""
    return _with(weight_NK, group, lambda p: p.abs().amax(1) / 8)


def by_15(weight_NK, group):
    """dividing by 15: all codes above 7 are clipped"""
    return _with(weight_NK, group, lambda p: p.abs().amax(1) / 15)


def cuts(weight_NK, group):
    """cutting the fraction off instead of rounding to nearest"""
    return _with(weight_NK, group, lambda p: p.abs().amax(1) / 7, torch.trunc)


def every_gth_column(weight_NK, group):
    """the scales laid out in turns (repeat), not each for its neighbours (repeat_interleave)"""
    _, scale_NG, _ = _with(weight_NK, group, lambda p: p.abs().amax(1) / 7)
    spread_NK = scale_NG.repeat(1, group)[:, : weight_NK.shape[1]]
    codes_NK = (weight_NK / spread_NK).round().clamp(-8, 7).to(torch.int8)
    return codes_NK, scale_NG, codes_NK * spread_NK
