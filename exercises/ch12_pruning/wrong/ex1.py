"""Named wrong answers of 12.1."""

import math

import torch


def _count(weight_NK, sparsity):
    return int(sparsity * weight_NK.numel() + 0.5)


def _mask(weight_NK, size, count):
    """The mask without the `count` smallest of `size`."""
    mask = torch.ones(weight_NK.numel(), dtype=torch.bool)
    mask[size.flatten().argsort(stable=True)[:count]] = False
    return mask.view_as(weight_NK)


def up_to_a_threshold(weight_NK, sparsity):
    """dropping all that are not above a threshold: of equals at the threshold none is left"""
    count, size_NK = _count(weight_NK, sparsity), weight_NK.abs()
    if count == 0:
        return torch.ones_like(weight_NK, dtype=torch.bool)
    return size_NK > size_NK.flatten().kthvalue(count).values


def below_a_threshold(weight_NK, sparsity):
    """dropping only what is below a threshold: equals at the threshold all stay"""
    count, size_NK = _count(weight_NK, sparsity), weight_NK.abs()
    if count == 0:
        return torch.ones_like(weight_NK, dtype=torch.bool)
    return size_NK >= size_NK.flatten().kthvalue(count).values


def by_a_quantile(weight_NK, sparsity):
    """the quantile of |w| as a threshold: it lies between two weights, and ties are lost"""
    size_NK = weight_NK.abs()
    return size_NK > torch.quantile(size_NK.flatten(), sparsity)


def with_the_sign(weight_NK, sparsity):
    """the smallest w, not the smallest |w|: the most negative weights go first"""
    return _mask(weight_NK, weight_NK, _count(weight_NK, sparsity))


def largest_dropped(weight_NK, sparsity):
    """the largest weights dropped"""
    return _mask(weight_NK, -weight_NK.abs(), _count(weight_NK, sparsity))


def rounded_down(weight_NK, sparsity):
    """a count that is rounded down"""
    return _mask(weight_NK, weight_NK.abs(), int(sparsity * weight_NK.numel()))


def rounded_up(weight_NK, sparsity):
    """a count that is rounded up"""
    return _mask(weight_NK, weight_NK.abs(), math.ceil(sparsity * weight_NK.numel()))


def half_to_even(weight_NK, sparsity):
    """Python's round(): a half goes to the even number, so 2.5 becomes 2"""
    return _mask(weight_NK, weight_NK.abs(), round(sparsity * weight_NK.numel()))


def row_by_row(weight_NK, sparsity):
    """the same share in every row"""
    return torch.cat([_mask(row_1K, row_1K.abs(), _count(row_1K, sparsity))
                      for row_1K in weight_NK.split(1)])  # fmt: skip


def last_of_equals_first(weight_NK, sparsity):
    """of equals the last one dropped first"""
    turned = _mask(weight_NK, weight_NK.abs().flatten().flip(0), _count(weight_NK, sparsity))
    return turned.flatten().flip(0).view_as(weight_NK)


def column_by_column(weight_NK, sparsity):
    """of equals the first one down the columns, not along the rows"""
    count = _count(weight_NK, sparsity)
    return _mask(weight_NK.T.contiguous(), weight_NK.T.abs(), count).T.contiguous()


def true_where_dropped(weight_NK, sparsity):
    """True where a weight is dropped"""
    return ~_mask(weight_NK, weight_NK.abs(), _count(weight_NK, sparsity))


def zeros_not_counted(weight_NK, sparsity):
    """zeros that are there already, and the count on top: they are part of the count"""
    count = _count(weight_NK, sparsity) + int((weight_NK == 0).sum())
    return _mask(weight_NK, weight_NK.abs(), count)


def all_zeros_dropped(weight_NK, sparsity):
    """weight * mask != 0 as the mask: zeros that may stay count as dropped"""
    return (weight_NK * _mask(weight_NK, weight_NK.abs(), _count(weight_NK, sparsity))) != 0


def half_precision(weight_NK, sparsity):
    """sizes in half precision: those that are close become equal, and the first ones go"""
    return _mask(weight_NK, weight_NK.abs().half(), _count(weight_NK, sparsity))


def unstable_sort(weight_NK, sparsity):
    """a sort without stable=True: of equals it is not always the first one that goes"""
    mask = torch.ones(weight_NK.numel(), dtype=torch.bool)
    mask[weight_NK.abs().flatten().argsort()[: _count(weight_NK, sparsity)]] = False
    return mask.view_as(weight_NK)


def lowest_by_topk(weight_NK, sparsity):
    """topk, which does not say who goes first among equals"""
    mask = torch.ones(weight_NK.numel(), dtype=torch.bool)
    count = _count(weight_NK, sparsity)
    mask[weight_NK.abs().flatten().topk(count, largest=False).indices] = False
    return mask.view_as(weight_NK)
