"""Named wrong answers of 1.2."""


def _cost(flops, moved):
    """As floats: these equal whole numbers and floats."""
    return {"flops": float(flops), "bytes": float(moved), "intensity": flops / moved}


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
    return _cost(flops, moved) | {"intensity": moved / flops}


def sum_of_intensities(matrices, rows, bytes_per_number):
    """the intensities of the matrices added up, not one quotient of the sums"""
    flops = [2 * o * i * rows for o, i in matrices]
    moved = [(o * i + rows * (i + o)) * bytes_per_number for o, i in matrices]
    intensity = sum(f / b for f, b in zip(flops, moved))
    return _cost(sum(flops), sum(moved)) | {"intensity": intensity}


def one_row_of_inputs(matrices, rows, bytes_per_number):
    """inputs and results of one row only, where there are more"""
    moved = sum(o * i + i + o for o, i in matrices) * bytes_per_number
    return _cost(sum(2 * o * i * rows for o, i in matrices), moved)


def rows_on_inputs_only(matrices, rows, bytes_per_number):
    """many inputs, but the result of one row only"""
    moved = sum(o * i + rows * i + o for o, i in matrices) * bytes_per_number
    return _cost(sum(2 * o * i * rows for o, i in matrices), moved)


def no_results(matrices, rows, bytes_per_number):
    """weights and inputs, without the results that are written"""
    moved = sum(o * i + rows * i for o, i in matrices) * bytes_per_number
    return _cost(sum(2 * o * i * rows for o, i in matrices), moved)


def no_inputs(matrices, rows, bytes_per_number):
    """weights and results, without the inputs that are read"""
    moved = sum(o * i + rows * o for o, i in matrices) * bytes_per_number
    return _cost(sum(2 * o * i * rows for o, i in matrices), moved)


def bytes_of_weights_only(matrices, rows, bytes_per_number):
    """bytes for the weights, but plain numbers for inputs and results"""
    moved = sum(o * i * bytes_per_number + rows * (i + o) for o, i in matrices)
    return _cost(sum(2 * o * i * rows for o, i in matrices), moved)


def bytes_of_rows_only(matrices, rows, bytes_per_number):
    """bytes for inputs and results, but plain numbers for the weights"""
    moved = sum(o * i + rows * (i + o) * bytes_per_number for o, i in matrices)
    return _cost(sum(2 * o * i * rows for o, i in matrices), moved)
