"""Check of A1.2: rows that are longer than a block, and rows that do not lie side by side."""

from exercises.grading.judge import normal
from exercises.grading.spec import Exercise

EXERCISE = Exercise(
    id="A1.2", title="The sum of every row", kind="kernel", entry="row_sum",
    minutes=20, difficulty=3, tolerance="fp32", edits=("out_R",),
    hardware="any Linux machine, or Colab",
    sizes=(
        {"R": 1, "C": 3, "gap": 0}, {"R": 3, "C": 5, "gap": 2}, {"R": 7, "C": 1024, "gap": 0},
        {"R": 2, "C": 4700, "gap": 5}, {"R": 33, "C": 131, "gap": 1},
    ),
    hints=(
        "A matrix has rows of 5 numbers, and 7 numbers lie between the beginnings of two rows. "
        "Where is element 3 of row 2? A block has 1,024 lanes and a row 4,700 numbers: how often "
        "do you load?",
        "row = program_id(0). start of the row: x_ptr + row * row_stride. In steps of BLOCK: offs "
        "[BLOCK], mask = offs < num_columns, total_B += load(..., mask, other=0.0), [BLOCK]. At "
        "the end one number: tl.sum(total_B, axis=0).",
        "row = tl.program_id(0)\n"
        "total_B = tl.zeros([BLOCK], dtype=tl.float32)\n"
        "for start in range(0, num_columns, BLOCK):\n"
        "    offs = start + tl.arange(0, BLOCK)\n"
        "    mask = offs < num_columns\n"
        "    total_B += tl.load(x_ptr + ____ + offs, mask=mask, other=0.0)\n"
        "tl.store(out_ptr + row, tl.sum(total_B, axis=0))",
    ),
)  # fmt: skip


def make(rng, R, C, gap):
    """gap: elements between two rows that belong to neither (NaN)."""
    import torch

    wide = torch.full((R, C + gap), torch.nan)
    wide[:, :C] = normal(rng, R, C)
    return {"x_RC": wide[:, :C], "out_R": normal(rng, R)}


def twin(x_RC, out_R):
    out_R.copy_(x_RC.double().sum(dim=1))


def least_programs(case):
    return -(-case["out_R"].numel() // 4)
