"""Named misconceptions of 9.2."""


def _times(P, B, *bytes_a_weight):
    return [n * P / B for n in bytes_a_weight]


def fake_is_int8(P, B):
    """fake quantisation as fast as int8 (its numbers are float32 in memory)"""
    return _times(P, B, 1, 9, 1)


def all_the_same(P, B):
    """the time of int8 for all three"""
    return _times(P, B, 1, 1, 1)


def never_written(P, B):
    """dequantising without the float32 matrix: its write and its read are left out"""
    return _times(P, B, 4, 1, 1)


def written_not_read(P, B):
    """dequantising with the float32 matrix written, or read, but not both"""
    return _times(P, B, 4, 5, 1)


def half(P, B):
    """half of the bytes for int8, as if before had been 16 bits"""
    return _times(P, B, 4, 10, 2)


def seconds(P, B):
    """seconds instead of milliseconds"""
    return [x / 1000 for x in _times(P, B, 4, 9, 1)]
