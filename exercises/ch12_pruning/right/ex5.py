"""Other right answers of 12.5."""

import torch


def row_by_row(work_NK, upper_KK, k, drop_N):
    rows, ratio_K = [], upper_KK[k] / upper_KK[k, k]
    for w_K, drops in zip(work_NK, drop_N.tolist()):
        new_K = w_K - w_K[k] * ratio_K if drops else w_K.clone()
        new_K[:k] = w_K[:k]
        if drops:
            new_K[k] = 0.0
        rows.append(new_K)
    return torch.stack(rows), work_NK[:, k].square() / upper_KK[k, k].square()


def from_the_hessian(work_NK, upper_KK, k, drop_N):
    """Least squares on the columns after k; the cost is what then stays."""
    inverse_KK = upper_KK.T @ upper_KK
    hessian_KK = torch.linalg.inv(inverse_KK)[k:, k:]
    new_NK, w_N = work_NK.clone(), work_NK[:, k]
    rest = hessian_KK[1:, 1:]
    share_J = torch.linalg.solve(rest, hessian_KK[1:, 0]) if len(rest) else hessian_KK[1:, 0]
    new_NK[:, k] = w_N * ~drop_N
    new_NK[:, k + 1 :] += (w_N * drop_N)[:, None] * share_J
    return new_NK, w_N**2 * (hessian_KK[0, 0] - hessian_KK[0, 1:] @ share_J)
