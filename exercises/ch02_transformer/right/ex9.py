"""Answers of 2.9 inside the band."""


def two_digits(layer):
    size = (2 * layer) ** 0.5
    return {"fp32": float(f"{size * 3e-8:.1e}"), "fp16": float(f"{size * 2.4e-4:.1e}")}


def a_little_high(layer):
    return {"fp32": 1.2 * (2 * layer) ** 0.5 / 2**25, "fp16": 1.2 * (2 * layer) ** 0.5 / 2**12}
