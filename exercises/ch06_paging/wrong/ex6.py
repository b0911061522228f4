"""Named wrong answers of 6.6."""

import torch


def _with(a, b, weight_a, weight_b, top):
    acc = weight_a[:, None] * a[2] + weight_b[:, None] * b[2]
    return top, weight_a * a[1] + weight_b * b[1], acc


def adds_only(a, b):
    """adding sums and accumulators as they are, each with its own maximum"""
    one = torch.ones_like(a[0])
    return _with(a, b, one, one, torch.maximum(a[0], b[0]))


def averages(a, b):
    """the mean of the two halves, as if both were equally heavy"""
    half = torch.full_like(a[0], 0.5)
    return _with(a, b, half, half, torch.maximum(a[0], b[0]))


def wrong_sign(a, b):
    """exp(max - max_a): the smaller half becomes the heavier one"""
    top = torch.maximum(a[0], b[0])
    return _with(a, b, torch.exp(top - a[0]), torch.exp(top - b[0]), top)


def weights_exchanged(a, b):
    """each half multiplied with the weight of the other"""
    top = torch.maximum(a[0], b[0])
    return _with(a, b, torch.exp(b[0] - top), torch.exp(a[0] - top), top)


def without_a_maximum(a, b):
    """exp(max) itself: it overflows for large scores"""
    top = torch.maximum(a[0], b[0])
    return _with(a, b, a[0].exp() / top.exp(), b[0].exp() / top.exp(), top)


def sum_not_rescaled(a, b):
    """rescaling the accumulators but not the sums"""
    top = torch.maximum(a[0], b[0])
    _, _, acc = _with(a, b, torch.exp(a[0] - top), torch.exp(b[0] - top), top)
    return top, a[1] + b[1], acc


def divides_already(a, b):
    """dividing by the sum in the merge: the next merge then starts from a wrong accumulator"""
    top = torch.maximum(a[0], b[0])
    top, total, acc = _with(a, b, torch.exp(a[0] - top), torch.exp(b[0] - top), top)
    return top, total, acc / total[:, None]


def keeps_the_first_maximum(a, b):
    """the maximum of the first half for both (it overflows, and an empty first half gives NaN)"""
    return _with(a, b, torch.ones_like(a[0]), torch.exp(b[0] - a[0]), a[0])


def exp_of_each_maximum(a, b):
    """exp(max_a) without "- max": it overflows, and small maxima make the sum far too small"""
    top = torch.maximum(a[0], b[0])
    return _with(a, b, a[0].exp(), b[0].exp(), top)
