"""Reference of 0.4."""


def answer(billions):
    return {"fp32": billions * 4, "fp16": billions * 2, "int4": billions * 0.5}
