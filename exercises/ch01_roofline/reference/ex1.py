"""Reference of 1.1."""


def matrix_bytes(rows, columns, bits, group_size=None):
    packed = rows * -(-columns * bits // 8)
    scales = 0 if group_size is None else rows * -(-columns // group_size) * 2
    return packed + scales
