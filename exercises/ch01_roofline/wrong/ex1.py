"""Named wrong answers of 1.1."""


def no_scales(rows, columns, bits, group_size=None):
    """the weights alone: the scales are forgotten"""
    return rows * -(-columns * bits // 8)


def one_scale_a_row(rows, columns, bits, group_size=None):
    """one scale a row, whatever the group size"""
    return rows * -(-columns * bits // 8) + (0 if group_size is None else 2 * rows)


def groups_rounded_down(rows, columns, bits, group_size=None):
    """no scale for the last, shorter group of a row"""
    scales = 0 if group_size is None else rows * (columns // group_size) * 2
    return rows * -(-columns * bits // 8) + scales


def a_byte_a_weight(rows, columns, bits, group_size=None):
    """whole bytes for every weight: two 4-bit weights fit into one byte"""
    scales = 0 if group_size is None else rows * -(-columns // group_size) * 2
    return rows * columns * -(-bits // 8) + scales


def rows_share_a_byte(rows, columns, bits, group_size=None):
    """rows packed without a gap, so that one begins inside a byte"""
    scales = 0 if group_size is None else rows * -(-columns // group_size) * 2
    return -(-rows * columns * bits // 8) + scales


def scales_of_32_bits(rows, columns, bits, group_size=None):
    """four bytes for a scale instead of two"""
    scales = 0 if group_size is None else rows * -(-columns // group_size) * 4
    return rows * -(-columns * bits // 8) + scales


def weights_rounded_down(rows, columns, bits, group_size=None):
    """the last, unfinished byte of a row left out: rounded down, not up"""
    scales = 0 if group_size is None else rows * -(-columns // group_size) * 2
    return rows * (columns * bits // 8) + scales


def all_rounded_down(rows, columns, bits, group_size=None):
    """bytes and groups of a row both rounded down: what is begun counts as a whole"""
    scales = 0 if group_size is None else rows * (columns // group_size) * 2
    return rows * (columns * bits // 8) + scales


def groups_over_rows(rows, columns, bits, group_size=None):
    """groups that go on in the next row: every row begins a new one"""
    scales = 0 if group_size is None else -(-rows * columns // group_size) * 2
    return rows * -(-columns * bits // 8) + scales


def nothing_by_rows(rows, columns, bits, group_size=None):
    """bytes and groups counted for the matrix as one long row: every row begins anew"""
    scales = 0 if group_size is None else -(-rows * columns // group_size) * 2
    return -(-rows * columns * bits // 8) + scales


def one_long_row_rounded_down(rows, columns, bits, group_size=None):
    """the matrix as one long row, bytes and groups rounded down: every row begins anew"""
    scales = 0 if group_size is None else rows * columns // group_size * 2
    return rows * columns * bits // 8 + scales


def bytes_as_one_row_rounded_down(rows, columns, bits, group_size=None):
    """weights as one long row, and groups rounded down: what is begun counts as a whole"""
    scales = 0 if group_size is None else rows * (columns // group_size) * 2
    return rows * columns * bits // 8 + scales
