"""Named wrong answers of 0.4."""


def bits_for_bytes(billions):
    """gigabits: the division by 8 is missing"""
    return {"fp32": billions * 32, "fp16": billions * 16, "int4": billions * 4}


def a_byte_a_weight(billions):
    """one whole byte for every 4-bit weight: two of them fit into a byte"""
    return {"fp32": billions * 4, "fp16": billions * 2, "int4": billions}


def gib(billions):
    """GiB (2^30 bytes) in place of GB (10^9 bytes)"""
    return {k: v * billions * 1e9 / 2**30 for k, v in {"fp32": 4, "fp16": 2, "int4": 0.5}.items()}


def one_format_too_small(billions):
    """16 bits for fp32 and 8 for fp16: half of what they take"""
    return {"fp32": billions * 2, "fp16": billions, "int4": billions / 4}


def exactly_seven(billions):
    """exactly 7 billion weights, as the name says, where the question gives another number"""
    return {"fp32": 28.0, "fp16": 14.0, "int4": 3.5}
