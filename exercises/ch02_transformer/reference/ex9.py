"""Reference of 2.9."""


def answer(layer):
    return {
        name: (2 * layer) ** 0.5 * 2.0**-bits / 2 for name, bits in (("fp32", 24), ("fp16", 11))
    }
