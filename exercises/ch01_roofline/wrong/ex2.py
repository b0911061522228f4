"""Named wrong answers of 1.2."""


def _cost(flops, moved):
    return {"flops": flops, "bytes": moved, "intensity": flops / moved}


def one_flop_a_weight(matrices, rows, bytes_per_number):
    """one operation a weight: a multiplication without the addition"""
    moved = sum(o * i + rows * (i + o) for o, i in matrices) * bytes_per_number
    return _cost(sum(o * i * rows for o, i in matrices), moved)


def weights_for_every_row(matrices, rows, bytes_per_number):
    """reading the weights again for every row: a step reads them once for all"""
    moved = sum(rows * (o * i + i + o) for o, i in matrices) * bytes_per_number
    return _cost(sum(2 * o * i * rows for o, i in matrices), moved)


def weights_only(matrices, rows, bytes_per_number):
    """the bytes of the weights alone: inputs and results are moved too"""
    moved = sum(o * i for o, i in matrices) * bytes_per_number
    return _cost(sum(2 * o * i * rows for o, i in matrices), moved)


def numbers_for_bytes(matrices, rows, bytes_per_number):
    """counting numbers where bytes were asked for"""
    return _cost(
        sum(2 * o * i * rows for o, i in matrices),
        sum(o * i + rows * (i + o) for o, i in matrices),
    )


def upside_down(matrices, rows, bytes_per_number):
    """bytes a FLOP: the intensity upside down"""
    flops = sum(2 * o * i * rows for o, i in matrices)
    moved = sum(o * i + rows * (i + o) for o, i in matrices) * bytes_per_number
    return {"flops": flops, "bytes": moved, "intensity": moved / flops}


def sum_of_intensities(matrices, rows, bytes_per_number):
    """the intensities of the matrices added up, not one quotient of the sums"""
    flops = [2 * o * i * rows for o, i in matrices]
    moved = [(o * i + rows * (i + o)) * bytes_per_number for o, i in matrices]
    intensity = sum(f / b for f, b in zip(flops, moved))
    return {"flops": sum(flops), "bytes": sum(moved), "intensity": intensity}


def one_row_of_inputs(matrices, rows, bytes_per_number):
    """inputs and results of one row only, where there are more"""
    moved = sum(o * i + i + o for o, i in matrices) * bytes_per_number
    return _cost(sum(2 * o * i * rows for o, i in matrices), moved)
