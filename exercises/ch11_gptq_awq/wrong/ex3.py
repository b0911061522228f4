"""Named wrong answers of 11.3."""

import torch


def _default():
    return {
        "size": lambda x: x.abs().mean(0),
        "middle": lambda s: (s.max() * s.min()).sqrt(),
        "off": lambda x, w, coded, s: x @ (w - coded / s).T,
        "stored": lambda coded, s: coded,
        "fold": lambda norm, s: norm / s,
        "pick": min,
    }


def _search(weight_NK, x_TK, norm_K, alphas, round_matrix, **other):
    """Our answer with some parts replaced."""
    part, found = _default() | other, []
    size_K, live_K = part["size"](x_TK), x_TK.abs().sum(0) > 0
    for alpha in alphas:
        s_K = torch.where(live_K, size_K**alpha, 1.0)
        s_K = torch.where(live_K, s_K / part["middle"](s_K[live_K]), 1.0)
        coded_NK = round_matrix(weight_NK * s_K)
        error = float((part["off"](x_TK, weight_NK, coded_NK, s_K) ** 2).sum())
        found.append((error, alpha, part["stored"](coded_NK, s_K), part["fold"](norm_K, s_K)))
    return part["pick"](found, key=lambda one: one[0])[1:]


def by_weights(*given):
    """choosing by the error of the weights, not of the outputs"""
    return _search(*given, off=lambda x, w, coded, s: w - coded / s)


def without_squares(*given):
    """the sum of |difference|, not of its square"""
    return _search(*given, off=lambda x, w, coded, s: (x @ (w - coded / s).T).abs().sqrt())


def inputs_apart(*given):
    """the inputs one by one, as if they never moved together (the diagonal of X^T X alone)"""
    size = lambda x: (x**2).sum(0).sqrt()
    return _search(*given, off=lambda x, w, coded, s: (w - coded / s) * size(x))


def largest_input(*given):
    """the largest |x| of an input, not the mean of |x|"""
    return _search(*given, size=lambda x: x.abs().amax(0))


def mean_with_sign(*given):
    """the mean of x, where positive and negative inputs cancel (not the mean of |x|)"""
    return _search(*given, size=lambda x: x.mean(0).abs())


def not_normalised(*given):
    """s as it is, not divided by sqrt(largest * smallest)"""
    return _search(*given, middle=lambda s: 1.0)


def without_the_root(*given):
    """dividing by largest * smallest, without the square root"""
    return _search(*given, middle=lambda s: s.max() * s.min())


def by_the_mean(*given):
    """dividing by the mean of s"""
    return _search(*given, middle=lambda s: s.mean())


def folded_the_other_way(*given):
    """multiplying the norm's weight by s: x grows where W grew, so the output is wrong"""
    return _search(*given, fold=lambda norm, s: norm * s)


def stored_without_s(*given):
    """storing coded / s: then the division by s happens twice, here and in the norm"""
    return _search(*given, stored=lambda coded, s: coded / s)


def keeps_the_worst(*given):
    """keeping the alpha with the LARGEST error"""
    return _search(*given, pick=max)


def the_last_alpha(*given):
    """keeping the last alpha, whatever its error"""
    return _search(*given, pick=lambda found, key: found[-1])


def zero_for_a_dead_input(weight_NK, x_TK, norm_K, alphas, round_matrix):
    """s = 0 for an input that is always 0 (0 / 0 is NaN, and no alpha but 0 can win)"""
    size_K, least, best = x_TK.abs().mean(0), None, None
    for alpha in alphas:
        s_K = size_K**alpha
        s_K = s_K / (s_K.max() * s_K.min()).sqrt()
        coded_NK = round_matrix(weight_NK * s_K)
        error = float(((x_TK @ (weight_NK - coded_NK / s_K).T) ** 2).sum())
        if least is None or error < least:
            least, best = error, (alpha, coded_NK, norm_K / s_K)
    return best


def dead_input_counts(*given):
    """an input that is always 0 counts as the smallest (it takes part in largest * smallest)"""
    dead = bool((given[1].abs().sum(0) == 0).any())
    tiny = lambda s: (s.max() * (s.min().clamp(max=1e-4) if dead else s.min())).sqrt()
    return _search(*given, middle=tiny)


def error_without_s(*given):
    """measuring the error with coded_NK, not with coded_NK / s_K"""
    return _search(*given, off=lambda x, w, coded, s: x @ (w - coded).T)


def one_before_the_division(weight_NK, x_TK, norm_K, alphas, round_matrix):
    """s = 1 for a dead input BEFORE the division: it counts, and is divided with the others"""
    size_K, found = x_TK.abs().mean(0), []
    for alpha in alphas:
        s_K = torch.where(size_K > 0, size_K**alpha, 1.0)
        s_K = s_K / (s_K.max() * s_K.min()).sqrt()
        coded_NK = round_matrix(weight_NK * s_K)
        error = float(((x_TK @ (weight_NK - coded_NK / s_K).T) ** 2).sum())
        found.append((error, alpha, coded_NK, norm_K / s_K))
    return min(found, key=lambda one: one[0])[1:]
