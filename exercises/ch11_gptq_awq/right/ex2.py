"""Other right answers of 11.2."""

import torch


def in_place_of_one_matrix(weight_NK, upper_KK, round_column):
    done_NK = weight_NK.clone()
    for k, row_K in enumerate(upper_KK):
        column_N = done_NK[:, k].clone()
        done_NK[:, k] = round_column(column_N, k)
        ratio_K = row_K / row_K[k]
        done_NK[:, k + 1 :] -= torch.outer(column_N - done_NK[:, k], ratio_K[k + 1 :])
    return done_NK


def lazily(weight_NK, upper_KK, round_column):
    """What all earlier columns owe to column k, summed up when it is its turn."""
    errors, columns = [], []
    for k in range(weight_NK.shape[1]):
        column_N = weight_NK[:, k].clone()
        for j, error_N in enumerate(errors):
            column_N -= error_N * upper_KK[j, k]
        columns.append(round_column(column_N, k))
        errors.append((column_N - columns[-1]) / upper_KK[k, k])
    return torch.stack(columns, dim=1)
