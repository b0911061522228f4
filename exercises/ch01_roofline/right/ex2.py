"""Other right answers of 1.2."""


def with_a_loop(matrices, rows, bytes_per_number):
    flops = moved = 0
    for out, inside in matrices:
        flops += 2 * out * inside * rows
        moved += bytes_per_number * (out * inside)
        moved += bytes_per_number * rows * inside + bytes_per_number * rows * out
    return {"bytes": moved, "flops": flops, "intensity": flops / moved}


def with_floats(matrices, rows, bytes_per_number):
    weights = float(sum(o * i for o, i in matrices))
    moved = bytes_per_number * (weights + rows * float(sum(o + i for o, i in matrices)))
    return {"flops": 2.0 * rows * weights, "bytes": moved, "intensity": 2 * rows * weights / moved}
