"""Named misconceptions of 10.5."""


def _gain(group):
    return 2 / (0.5 + 2 / group)


def without_scales(group, unpack, tile):
    """the gain without the bytes of the scales: 16 bits over 4"""
    return [4, 400 / (2 + unpack / tile)]


def unpacking_is_free(group, unpack, tile):
    """unpacking that costs nothing: 200 rows are where fp16 itself turns from bytes to FLOPs"""
    return [_gain(group), 200]


def unpacked_once(group, unpack, tile):
    """unpacking once for all rows, not once more for every tile of them"""
    return [_gain(group), 200 - unpack / 2]


def unpacked_for_every_row(group, unpack, tile):
    """unpacking again for every single row"""
    return [_gain(group), 400 / (2 + unpack)]


def where_int4_starts_to_compute(group, unpack, tile):
    """the rows from which int4 waits for arithmetic: it is still faster than fp16 there"""
    return [_gain(group), 200 * (0.5 + 2 / group) / (2 + unpack / tile)]


def bytes_decide_for_ever(group, unpack, tile):
    """the gain in bytes times the 200 rows, as if int4 could compute that much faster"""
    return [_gain(group), 200 * _gain(group)]


def one_flop(group, unpack, tile):
    """one FLOP for each weight and row (a multiplication AND an addition are two)"""
    return [_gain(group), 400 / (1 + unpack / tile)]


def against_fp32(group, unpack, tile):
    """the gain over float32, which has 4 bytes a weight"""
    return [2 * _gain(group), 400 / (2 + unpack / tile)]


def against_int8(group, unpack, tile):
    """the gain over int8, which has 1 byte a weight"""
    return [_gain(group) / 2, 400 / (2 + unpack / tile)]


def slower_at_once(group, unpack, tile):
    """int4 as slower from the first row on, because it has more to compute"""
    return [2 / (2 + unpack), 1]
