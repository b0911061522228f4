"""False mends of 12.6."""

import torch


def _score(weight_NK, hessian_KK):
    live_K = hessian_KK.diagonal() > 0
    score_NK = torch.zeros_like(weight_NK)
    inverse_KK = hessian_KK[live_K][:, live_K].inverse()
    score_NK[:, live_K] = weight_NK[:, live_K] ** 2 / inverse_KK.diagonal()
    return score_NK


def _mask(score_NK, count):
    mask_NK = torch.ones_like(score_NK, dtype=torch.bool)
    return mask_NK.scatter(1, score_NK.argsort(dim=1, stable=True)[:, :count], False)


def _count(weight_NK, sparsity):
    return int(sparsity * weight_NK.shape[1] + 0.5)


def all_dead_dropped(weight_NK, hessian_KK, sparsity):
    """every dead weight dropped, even where that is more than the count"""
    mask_NK = _mask(_score(weight_NK, hessian_KK), _count(weight_NK, sparsity))
    return mask_NK & (hessian_KK.diagonal() > 0)


def share_of_the_live(weight_NK, hessian_KK, sparsity):
    """the share taken of the live weights, and the dead ones dropped beside them"""
    live_K = hessian_KK.diagonal() > 0
    mask_NK = torch.zeros_like(weight_NK, dtype=torch.bool)
    count = int(sparsity * int(live_K.sum()) + 0.5)
    mask_NK[:, live_K] = _mask(_score(weight_NK, hessian_KK)[:, live_K], count)
    return mask_NK


def a_little_added(weight_NK, hessian_KK, sparsity):
    """a little added to the diagonal: dead weights get small scores, and go in order of size"""
    tiny = 1e-9 * hessian_KK.diagonal().amax().clamp(min=1e-9)
    inverse_KK = (hessian_KK + tiny * torch.eye(len(hessian_KK))).inverse()
    return _mask(weight_NK**2 / inverse_KK.diagonal(), _count(weight_NK, sparsity))


def one_on_the_diagonal(weight_NK, hessian_KK, sparsity):
    """1 on the diagonal of dead inputs: their weights then have the score w^2 and may stay"""
    whole_KK = hessian_KK.clone()
    whole_KK.diagonal()[hessian_KK.diagonal() == 0] = 1
    return _mask(weight_NK**2 / whole_KK.inverse().diagonal(), _count(weight_NK, sparsity))


def by_the_diagonal(weight_NK, hessian_KK, sparsity):
    """w^2 * H[k, k], which needs no inverse: this is Wanda, nobody mends"""
    return _mask(weight_NK**2 * hessian_KK.diagonal(), _count(weight_NK, sparsity))


def whole_matrix(weight_NK, hessian_KK, sparsity):
    """the smallest scores of the whole matrix: rows lose unequally many"""
    score_NK = _score(weight_NK, hessian_KK)
    count = int(sparsity * weight_NK.numel() + 0.5)
    return _mask(score_NK.view(1, -1), count).view_as(weight_NK)


def last_of_equals_first(weight_NK, hessian_KK, sparsity):
    """of equal scores the one further right dropped first"""
    score_NK = _score(weight_NK, hessian_KK)
    return _mask(score_NK.flip(1), _count(weight_NK, sparsity)).flip(1)


def dead_ones_last(weight_NK, hessian_KK, sparsity):
    """dead weights with an endless score: they all stay, the live ones go"""
    score_NK = _score(weight_NK, hessian_KK)
    score_NK[:, hessian_KK.diagonal() == 0] = float("inf")
    return _mask(score_NK, _count(weight_NK, sparsity))


def dead_ones_first(weight_NK, hessian_KK, sparsity):
    """dead weights before live ones of score 0: of equals the one further left goes first"""
    score_NK = _score(weight_NK, hessian_KK)
    score_NK[:, hessian_KK.diagonal() == 0] = -float("inf")
    return _mask(score_NK, _count(weight_NK, sparsity))


def quiet_is_dead(weight_NK, hessian_KK, sparsity):
    """inputs below a small border taken for dead, quiet ones among them"""
    live_K = hessian_KK.diagonal() > 1e-6
    score_NK = torch.zeros_like(weight_NK)
    inverse_KK = hessian_KK[live_K][:, live_K].inverse()
    score_NK[:, live_K] = weight_NK[:, live_K] ** 2 / inverse_KK.diagonal()
    return _mask(score_NK, _count(weight_NK, sparsity))
