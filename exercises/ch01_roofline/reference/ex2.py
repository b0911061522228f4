"""Reference of 1.2."""


def step_cost(matrices, rows, bytes_per_number):
    flops = sum(2 * o * i * rows for o, i in matrices)
    moved = sum(o * i + rows * (i + o) for o, i in matrices) * bytes_per_number
    return {"flops": flops, "bytes": moved, "intensity": flops / moved}
