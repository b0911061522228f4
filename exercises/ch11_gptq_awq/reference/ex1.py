"""Reference of 11.1."""

import torch


def mend(w_2, x_T2, step):
    gram_22 = x_T2.T @ x_T2
    rounded = torch.round(w_2[0] / step) * step
    error = w_2[0] - rounded
    mended_2 = torch.stack([rounded, w_2[1] + error * gram_22[0, 1] / gram_22[1, 1]])
    before = error**2 * gram_22[0, 0]
    after = error**2 * (gram_22[0, 0] - gram_22[0, 1] ** 2 / gram_22[1, 1])
    return mended_2, float(before), float(after)
