"""Named wrong answers of 10.4."""

import torch


def _levels(above_8, below_7):
    return torch.cat([above_8, -below_7, torch.zeros(1)]).sort().values / above_8.max()


def _largest(blocks):
    scale_B = torch.stack([b.abs().max() for b in blocks])
    return torch.where(scale_B == 0, 1.0, scale_B)


def _nearest(unit_NK, levels):
    return (unit_NK[..., None] - levels).abs().argmin(-1)


def _code(weight_NK, levels, block, scale_B=None, code=_nearest):
    if scale_B is None:
        scale_B = _largest(weight_NK.flatten().split(block))
    scale_NK = scale_B.repeat_interleave(block)[: weight_NK.numel()].view_as(weight_NK)
    codes_NK = code(weight_NK / scale_NK, levels)
    return levels, codes_NK.to(torch.uint8), scale_B, levels[codes_NK] * scale_NK


def level_below(weight_NK, above_8, below_7, block):
    """the level below, not the nearest one"""
    below = lambda unit, levels: (unit[..., None] >= levels).sum(-1).clamp(min=1) - 1
    return _code(weight_NK, _levels(above_8, below_7), block, code=below)


def equal_distances(weight_NK, above_8, below_7, block):
    """16 levels at equal distances: int4 and not NF4"""
    return _code(weight_NK, torch.linspace(-1, 1, 16), block)


def not_divided(weight_NK, above_8, below_7, block):
    """quantiles that were not divided by the largest one"""
    return _code(weight_NK, _levels(above_8, below_7) * above_8.max(), block)


def each_side_by_its_largest(weight_NK, above_8, below_7, block):
    """each side mirrored from the 8 quantiles: 8 below, 0 and 7 above"""
    mirrored = (-_levels(above_8, below_7)).flip(0)
    return _code(weight_NK, mirrored, block)


def not_sorted(weight_NK, above_8, below_7, block):
    """levels in the order in which they came"""
    levels = torch.cat([above_8, -below_7, torch.zeros(1)]) / above_8.max()
    return _code(weight_NK, levels, block)


def one_scale(weight_NK, above_8, below_7, block):
    """one scale for the whole matrix"""
    scale_B = _largest([weight_NK]).repeat(-(-weight_NK.numel() // block))
    return _code(weight_NK, _levels(above_8, below_7), block, scale_B)


def blocks_of_a_row(weight_NK, above_8, below_7, block):
    """blocks that start anew in every row"""
    levels, rows = _levels(above_8, below_7), []
    for row in weight_NK:
        rows.append(_code(row[None], levels, block))
    _, codes, scales, back = zip(*rows)
    return levels, torch.cat(codes), torch.cat(scales), torch.cat(back)


def largest_with_its_sign(weight_NK, above_8, below_7, block):
    """max without abs as scale, and 1 where that is 0 or less: values below zero are cut"""
    scale_B = torch.stack([b.max() for b in weight_NK.flatten().split(block)])
    scale_B = torch.where(scale_B <= 0, 1.0, scale_B)
    return _code(weight_NK, _levels(above_8, below_7), block, scale_B)


def scale_0_for_zeros(weight_NK, above_8, below_7, block):
    """scale 0 for a block of zeros, so that 0 / 0 is NaN"""
    scale_B = torch.stack([b.abs().max() for b in weight_NK.flatten().split(block)])
    return _code(weight_NK, _levels(above_8, below_7), block, scale_B)


def codes_from_minus_8(weight_NK, above_8, below_7, block):
    """codes from -8 to 7, as int8"""
    levels, codes, scale_B, back = _code(weight_NK, _levels(above_8, below_7), block)
    return levels, (codes - 8).to(torch.int8), scale_B, back


def below_not_negated(weight_NK, above_8, below_7, block):
    """the 7 for the side below not negated: no level lies below zero"""
    return _code(weight_NK, _levels(above_8, -below_7), block)


def codes_moved_by_8(weight_NK, above_8, below_7, block):
    """codes less 8, which a uint8 cannot hold: -1 becomes 255"""
    levels, codes, scale_B, back = _code(weight_NK, _levels(above_8, below_7), block)
    return levels, codes - 8, scale_B, back


def largest_of_all_with_its_sign(weight_NK, above_8, below_7, block):
    """max without abs: the largest w of a block, and 1 only for a block of zeros"""
    scale_B = torch.stack([b.max() for b in weight_NK.flatten().split(block)])
    scale_B = torch.where(scale_B == 0, 1.0, scale_B)
    return _code(weight_NK, _levels(above_8, below_7), block, scale_B)
