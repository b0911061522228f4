"""Named misconceptions of 12.3."""


def _answer(bits, **other):
    return {
        "csr": 0.5 * (bits + 32) / bits, "bitmask": 0.5 + 1 / bits, "2:4": 0.5 + 1 / bits,
        "time": 1.0, "even": 32 / (bits + 32),
    } | other  # fmt: skip


def zeros_are_free(N, K, bits):
    """zeros that are free: half the bytes in each form, and half the time"""
    return {"csr": 0.5, "bitmask": 0.5, "2:4": 0.5, "time": 0.5, "even": 0.0}


def no_places(N, K, bits):
    """values alone, without what says where they stand"""
    return {"csr": 0.5, "bitmask": 0.5, "2:4": 0.5, "time": 1.0, "even": 0.0}


def half_the_time(N, K, bits):
    """half the time for half the values: the usual program multiplies the zeros too"""
    return _answer(bits, time=0.5)


def mask_of_bytes(N, K, bits):
    """a mask with 1 byte a weight, as torch.bool has it, where 1 bit is enough"""
    return _answer(bits, bitmask=0.5 + 8 / bits)


def two_numbers_a_value(N, K, bits):
    """64 bits beside each value: row and column, or one number of int64"""
    return _answer(bits, csr=0.5 * (bits + 64) / bits, even=64 / (bits + 64))


def columns_of_the_zeros_too(N, K, bits):
    """a column number for every weight, the zeros too"""
    return _answer(bits, csr=0.5 + 32 / bits)


def places_of_all_four(N, K, bits):
    """2 bits for each of the four, where only the two that are kept need them"""
    return _answer(bits, **{"2:4": 0.5 + 2 / bits})


def places_in_bytes(N, K, bits):
    """a byte for each kept value's place, where 2 bits are enough"""
    return _answer(bits, **{"2:4": 0.5 * (bits + 8) / bits})


def share_that_stays(N, K, bits):
    """even: the share that stays, not the share of zeros"""
    return _answer(bits, even=bits / (bits + 32))


def faster_than_half(N, K, bits):
    """time as the bytes of a bitmask: the dense form reads all bytes and multiplies all values"""
    return _answer(bits, time=0.5 + 1 / bits)
