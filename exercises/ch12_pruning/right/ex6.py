"""Other right answers of 12.6."""

import torch


def where_it_lives(weight_NK, hessian_KK, sparsity):
    """Any number on the diagonal of the dead ones, and 0 for their score afterwards."""
    dead_K = hessian_KK.diagonal() == 0
    inverse_KK = torch.linalg.inv(hessian_KK + torch.diag(dead_K.double()))
    score_NK = (weight_NK.square() / inverse_KK.diagonal()).masked_fill(dead_K, 0)
    rank_NK = score_NK.argsort(dim=1, stable=True).argsort(dim=1)
    return rank_NK >= int(sparsity * weight_NK.shape[1] + 0.5)


def without_the_inverse(weight_NK, hessian_KK, sparsity):
    """1 / (H^-1)[k, k] is what of input k the others cannot make: a Schur complement."""
    K = len(hessian_KK)
    own = []
    for k in range(K):
        rest = [j for j in range(K) if j != k and hessian_KK[j, j] > 0]
        row = hessian_KK[k, rest]
        made = row @ torch.linalg.solve(hessian_KK[rest][:, rest], row) if rest else 0.0
        own.append(float(hessian_KK[k, k] - made))
    mask = []
    for row in weight_NK.tolist():
        order = sorted(range(K), key=lambda k: (row[k] ** 2 * own[k], k))
        dropped = set(order[: int(sparsity * K + 0.5)])
        mask.append([k not in dropped for k in range(K)])
    return torch.tensor(mask)
