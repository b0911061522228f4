"""Other right answers of 4.5: in the band."""


def rounded(users, models, load):
    return [float(f"{x / users:.1e}") for x in _tokens(models)]


def a_fifth_too_high(users, models, load):
    return [1.2 * x / users for x in _tokens(models)]


def _tokens(models):
    return [p / (2 * n * kv * size) for p, n, _, _, kv, size in models]
