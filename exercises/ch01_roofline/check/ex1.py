"""Check of 1.1: rows that end inside a byte, groups that do not divide the row, no scales."""

from exercises.grading.spec import Exercise

EXERCISE = Exercise(
    id="1.1", title="Bytes of a matrix, with its scales", kind="code", entry="matrix_bytes",
    minutes=10, difficulty=2, torch=False,
    hints=(
        "One row has 5 weights of 4 bits, in groups of 2. How many bytes hold the weights, and "
        "how many groups are there?",
        "packed = rows * ceil(columns * bits / 8). scales = rows * ceil(columns / group_size) * 2 "
        "bytes. ceil(a / b) in whole numbers is -(-a // b).",
        "packed = rows * -(-columns * bits // 8)\n"
        "scales = 0 if group_size is None else rows * ____ * 2\nreturn packed + scales",
    ),
)  # fmt: skip

SIZES = [(1, 5, 4, 2), (3, 8, 4, 8), (2, 7, 3, None), (4, 6, 16, None)]


def cases(seed):
    import random

    rng = random.Random(f"1.1/{seed}")
    found = [dict(zip(("rows", "columns", "bits", "group_size"), size)) for size in SIZES]
    for bits in (2, 3, 4, 5, 8):
        columns = 2 * rng.randrange(60, 500) + 1
        group = rng.choice([16, 32, 64, 128])
        group += columns % group == 0
        rows = rng.randrange(2, 300)
        found.append({"rows": rows, "columns": columns, "bits": bits, "group_size": group})
    return found
