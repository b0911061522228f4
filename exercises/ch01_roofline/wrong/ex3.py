"""Named wrong answers of 1.3."""


def _right(bandwidth, millions):
    return bandwidth * 250 / millions


def a_byte_a_weight(bandwidth, millions):
    """one byte a weight: the 4 bytes of fp32 are forgotten"""
    return bandwidth * 1000 / millions


def two_bytes_a_weight(bandwidth, millions):
    """two bytes a weight, as in fp16: fp32 takes four"""
    return bandwidth * 500 / millions


def milliseconds_a_token(bandwidth, millions):
    """milliseconds a token: the question was tokens a second"""
    return 1000 / _right(bandwidth, millions)


def seconds_a_token(bandwidth, millions):
    """seconds a token: the quotient upside down"""
    return 1 / _right(bandwidth, millions)


def bits_a_second(bandwidth, millions):
    """a factor of 8 too few: 32 bits are 4 bytes, and GB are bytes already"""
    return _right(bandwidth, millions) / 8


def read_and_written(bandwidth, millions):
    """every weight read and written back: weights are only read"""
    return _right(bandwidth, millions) / 2
