"""Other right answers of 9.2: in the band."""


def rounded(P, B):
    return [float(f"{n * P / B:.1e}") for n in (4, 9, 1)]


def with_scales(P, B):
    return [4 * P / B, 9.1 * P / B, 1.1 * P / B]
