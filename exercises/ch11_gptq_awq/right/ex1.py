"""Other right answers of 11.1."""

import torch


def by_least_squares(w_2, x_T2, step):
    mended_2 = w_2.clone()
    mended_2[0] = (w_2[0] / step).round() * step
    off_T = (w_2[0] - mended_2[0]) * x_T2[:, 0]
    mended_2[1] += torch.linalg.lstsq(x_T2[:, 1:], off_T[:, None]).solution[0, 0]
    rest_T = x_T2 @ (w_2 - mended_2)
    return mended_2, float(off_T @ off_T), float(rest_T @ rest_T)


def by_the_inverse(w_2, x_T2, step):
    """As in the papers: the row of the inverse Hessian over its diagonal."""
    inverse_22 = torch.linalg.inv(x_T2.T @ x_T2)
    first = round(float(w_2[0]) / step) * step
    error = float(w_2[0]) - first
    second = float(w_2[1]) - error * float(inverse_22[0, 1] / inverse_22[0, 0])
    before = error**2 * float((x_T2[:, 0] ** 2).sum())
    return (
        torch.tensor([first, second], dtype=torch.float64),
        before,
        error**2 / float(inverse_22[0, 0]),
    )
