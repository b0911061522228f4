"""Other right answers of 0.4."""


def by_bits(billions):
    return {
        f: billions * 1e9 * bits / 8 / 1e9 for f, bits in zip(("fp32", "fp16", "int4"), (32, 16, 4))
    }


def rounded(billions):
    return {"fp32": round(billions * 4), "fp16": round(billions * 2, 1), "int4": billions / 2}
