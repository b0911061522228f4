"""Named wrong answers of 1.6."""


def the_same(bandwidth, peak):
    """the same time: the weights are read 512 times in one case, once in the other"""
    return 1.0


def bound_by_bytes(bandwidth, peak):
    """512 times: reading is not bound by bytes, its arithmetic takes longer"""
    return 512.0


def upside_down(bandwidth, peak):
    """reading over writing: the quotient upside down"""
    return bandwidth / peak / 1000


def one_flop_a_weight(bandwidth, peak):
    """one FLOP a weight: a multiplication and an addition are two"""
    return 2 * peak * 1000 / bandwidth


def a_byte_a_weight(bandwidth, peak):
    """one byte a weight: fp16 takes two"""
    return peak * 1000 / bandwidth / 2


def bound_by_arithmetic(bandwidth, peak):
    """2 to 1: no formula gives it; writing is bound by bytes, reading by arithmetic"""
    return 2.0
