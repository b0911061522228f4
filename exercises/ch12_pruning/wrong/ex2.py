"""Named wrong answers of 12.2."""

import torch


def _norm(x_TK):
    return (x_TK**2).sum(dim=0).sqrt()


def _mask(score_NK, sparsity, count=None):
    count = int(sparsity * score_NK.shape[1] + 0.5) if count is None else count
    mask_NK = torch.ones_like(score_NK, dtype=torch.bool)
    return mask_NK.scatter(1, score_NK.argsort(dim=1, stable=True)[:, :count], False)


def weights_alone(weight_NK, x_TK, sparsity):
    """|w| alone: the inputs are not looked at"""
    return _mask(weight_NK.abs(), sparsity)


def inputs_alone(weight_NK, x_TK, sparsity):
    """the norm of the input alone, the same for all rows"""
    return _mask(_norm(x_TK).expand_as(weight_NK), sparsity)


def with_the_sign(weight_NK, x_TK, sparsity):
    """w times the norm, with its sign: the most negative go first"""
    return _mask(weight_NK * _norm(x_TK), sparsity)


def without_the_root(weight_NK, x_TK, sparsity):
    """the sum of squares without its root: inputs count twice as much as weights"""
    return _mask(weight_NK.abs() * (x_TK**2).sum(0), sparsity)


def mean_of_sizes(weight_NK, x_TK, sparsity):
    """the mean of |x|, as AWQ takes it"""
    return _mask(weight_NK.abs() * x_TK.abs().mean(0), sparsity)


def largest_input(weight_NK, x_TK, sparsity):
    """the largest |x|"""
    return _mask(weight_NK.abs() * x_TK.abs().amax(0), sparsity)


def size_of_the_mean(weight_NK, x_TK, sparsity):
    """the size of the mean input: what is 3 and then -3 counts as 0"""
    return _mask(weight_NK.abs() * x_TK.mean(0).abs(), sparsity)


def spread_of_inputs(weight_NK, x_TK, sparsity):
    """the standard deviation: the mean of the input is taken off first"""
    return _mask(weight_NK.abs() * x_TK.std(dim=0, unbiased=False), sparsity)


def whole_matrix(weight_NK, x_TK, sparsity):
    """the smallest scores of the whole matrix: rows lose unequally many"""
    score_NK = weight_NK.abs() * _norm(x_TK)
    return _mask(score_NK.view(1, -1), sparsity).view_as(weight_NK)


def column_by_column(weight_NK, x_TK, sparsity):
    """comparing the weights of a column, which all have the same input: this is |w| again"""
    return _mask((weight_NK.abs() * _norm(x_TK)).T.contiguous(), sparsity).T.contiguous()


def up_to_a_threshold(weight_NK, x_TK, sparsity):
    """a threshold in each row: of equals at the threshold none is left"""
    score_NK, count = weight_NK.abs() * _norm(x_TK), int(sparsity * weight_NK.shape[1] + 0.5)
    if count == 0:
        return torch.ones_like(weight_NK, dtype=torch.bool)
    return score_NK > score_NK.kthvalue(count, dim=1, keepdim=True).values


def last_of_equals_first(weight_NK, x_TK, sparsity):
    """of equals the one further right dropped first"""
    return _mask((weight_NK.abs() * _norm(x_TK)).flip(1), sparsity).flip(1)


def rounded_down(weight_NK, x_TK, sparsity):
    """a count that is rounded down"""
    count = int(sparsity * weight_NK.shape[1])
    return _mask(weight_NK.abs() * _norm(x_TK), sparsity, count)


def half_to_even(weight_NK, x_TK, sparsity):
    """Python's round(): a half goes to the even number, so 2.5 becomes 2"""
    count = round(sparsity * weight_NK.shape[1])
    return _mask(weight_NK.abs() * _norm(x_TK), sparsity, count)


def true_where_dropped(weight_NK, x_TK, sparsity):
    """True where a weight is dropped"""
    return ~_mask(weight_NK.abs() * _norm(x_TK), sparsity)
