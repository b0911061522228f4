"""Named wrong answers of 11.1."""

import torch


def _answer(w_2, x_T2, step, share, rounds_both=False):
    """share(x): the change of w[1] for each 1 that w[0] lost."""
    rounded_2 = torch.round(w_2 / step) * step
    error = w_2[0] - rounded_2[0]
    second = w_2[1] + error * share(x_T2)
    if rounds_both:
        second = torch.round(second / step) * step
    mended_2 = torch.stack([rounded_2[0], second])
    before = error**2 * (x_T2[:, 0] ** 2).sum()
    after = ((x_T2 @ (w_2 - mended_2)) ** 2).sum()
    return mended_2, float(before), float(after)


def _fit(x_T2):
    return (x_T2[:, 0] @ x_T2[:, 1]) / (x_T2[:, 1] @ x_T2[:, 1])


def rounding_alone(w_2, x_T2, step):
    """rounding w[0] and leaving w[1] as it is"""
    return _answer(w_2, x_T2, step, lambda x: 0.0)


def wrong_direction(w_2, x_T2, step):
    """w[1] moved in the other direction (the error is doubled, not mended)"""
    return _answer(w_2, x_T2, step, lambda x: -_fit(x))


def by_the_first_input(w_2, x_T2, step):
    """dividing by the sum of squares of the FIRST input (gram_22[0, 0])"""
    return _answer(w_2, x_T2, step, lambda x: (x[:, 0] @ x[:, 1]) / (x[:, 0] @ x[:, 0]))


def hessian_for_its_inverse(w_2, x_T2, step):
    """GPTQ's formula with H where its inverse belongs"""
    return _answer(w_2, x_T2, step, lambda x: -(x[:, 0] @ x[:, 1]) / (x[:, 0] @ x[:, 0]))


def whole_error(w_2, x_T2, step):
    """giving w[1] all that w[0] lost, whatever the inputs are"""
    return _answer(w_2, x_T2, step, lambda x: 1.0)


def mean_taken_off(w_2, x_T2, step):
    """taking the mean off the inputs first (covariance instead of x^T x)"""
    return _answer(w_2, x_T2, step, lambda x: _fit(x - x.mean(0)))


def correlation(w_2, x_T2, step):
    """the correlation, without the sizes of the two inputs"""
    size = lambda x: (x[:, 0] @ x[:, 0]).sqrt() * (x[:, 1] @ x[:, 1]).sqrt()
    return _answer(w_2, x_T2, step, lambda x: (x[:, 0] @ x[:, 1]) / size(x))


def rounds_both(w_2, x_T2, step):
    """rounding w[1], too"""
    return _answer(w_2, x_T2, step, _fit, rounds_both=True)


def means_instead_of_sums(w_2, x_T2, step):
    """the mean of the squares over the tokens, not their sum"""
    mended_2, before, after = _answer(w_2, x_T2, step, _fit)
    return mended_2, before / len(x_T2), after / len(x_T2)


def down_instead_of_nearest(w_2, x_T2, step):
    """rounding w[0] down, not to the nearest"""
    rounded = torch.floor(w_2[0] / step) * step
    error = w_2[0] - rounded
    mended_2 = torch.stack([rounded, w_2[1] + error * _fit(x_T2)])
    before = error**2 * (x_T2[:, 0] ** 2).sum()
    return mended_2, float(before), float(((x_T2 @ (w_2 - mended_2)) ** 2).sum())


def mean_of_the_first(w_2, x_T2, step):
    """the sum with the OLD w[1] was divided by the number of tokens (a mean, not a sum)"""
    mended_2, before, after = _answer(w_2, x_T2, step, _fit)
    return mended_2, before / len(x_T2), after


def mean_of_the_second(w_2, x_T2, step):
    """the sum with the NEW w[1] was divided by the number of tokens (a mean, not a sum)"""
    mended_2, before, after = _answer(w_2, x_T2, step, _fit)
    return mended_2, before, after / len(x_T2)
