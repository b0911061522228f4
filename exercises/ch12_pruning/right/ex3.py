"""Other right answers of 12.3."""


def without_the_row_starts(N, K, bits):
    size = bits / 8
    both = 0.5 + 1 / bits
    return {"csr": 0.5 * (size + 4) / size, "bitmask": both, "2:4": both, "time": 1,
            "even": 4 / (size + 4)}  # fmt: skip


def by_counting_one_row(N, K, bits):
    """Bytes of one row; two figures after the point."""
    dense, kept = K * bits // 8, K // 2
    csr = kept * bits // 8 + 4 * kept + 4
    mask = kept * bits // 8 + K // 8
    groups = K // 4 * (2 * bits + 4) // 8
    even = next(z for z in range(K) if (K - z) * (bits // 8 + 4) + 4 <= dense) / K
    return {"csr": round(csr / dense, 2), "bitmask": mask / dense, "2:4": groups / dense,
            "time": 1.02, "even": round(even, 2)}  # fmt: skip
