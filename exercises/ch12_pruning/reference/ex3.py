"""Reference of 12.3."""


def answer(N, K, bits):
    dense = N * K * bits
    kept = N * K / 2
    starts = 32 * (N + 1)
    return {
        "csr": (kept * (bits + 32) + starts) / dense,
        "bitmask": (kept * bits + N * K) / dense,
        "2:4": kept * (bits + 2) / dense,
        "time": 1.0,  # a product with 0 is a product
        "even": 1 - (dense - starts) / (N * K * (bits + 32)),
    }
