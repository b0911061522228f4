"""Check of A1.3: rows and columns that fill no tile; sums long enough to need 32 bits."""

from exercises.grading.judge import normal
from exercises.grading.spec import Exercise

EXERCISE = Exercise(
    id="A1.3", title="16-bit weights times a vector", kind="kernel", entry="gemv",
    minutes=25, difficulty=4, tolerance="fp32", edits=("out_O",),
    hardware="any Linux machine, or Colab",
    sizes=(
        {"O": 1, "I": 2, "gap": 0}, {"O": 3, "I": 5, "gap": 0}, {"O": 17, "I": 64, "gap": 0},
        {"O": 16, "I": 1100, "gap": 0}, {"O": 2, "I": 4700, "gap": 0},
        {"O": 37, "I": 300, "gap": 3},
    ),
    hints=(
        "In float16, 2048 + 1 is 2048. A row has 1,100 products: when do the last ones stop "
        "counting? And a tile of 16 rows x 64 columns over 37 rows x 300 columns: which lanes of "
        "the last tile have nothing to do?",
        "offs_o [ROWS], offs_i [COLS]. w_ptr + offs_o[:, None] * row_stride + offs_i[None, :], "
        "[ROWS, COLS], mask (offs_o < num_rows)[:, None] & (offs_i < num_columns)[None, :]. w and "
        "x .to(tl.float32) before the product. total_O += tl.sum(w * x[None, :], axis=1), [ROWS].",
        "offs_o = tl.program_id(0) * ROWS + tl.arange(0, ROWS)\n"
        "mask_o = offs_o < num_rows\n"
        "total_O = tl.zeros([ROWS], dtype=tl.float32)\n"
        "for start in range(0, num_columns, COLS):\n"
        "    offs_i = start + tl.arange(0, COLS)\n"
        "    mask_i = offs_i < num_columns\n"
        "    mask = ____ & mask_i[None, :]\n"
        "    places = offs_o[:, None] * row_stride + offs_i[None, :]\n"
        "    w = tl.load(w_ptr + places, mask=mask, other=0.0).to(tl.float32)\n"
        "    x = tl.load(x_ptr + offs_i, mask=mask_i, other=0.0).to(tl.float32)\n"
        "    total_O += tl.sum(w * x[None, :], axis=1)\n"
        "tl.store(out_ptr + offs_o, total_O, mask=mask_o)",
    ),
)  # fmt: skip


def make(rng, O, I, gap):
    """gap: elements between two rows that belong to neither (NaN)."""
    import torch

    half = dict(dtype=torch.float16)
    wide = torch.full((O, I + gap), torch.nan, **half)
    wide[:, :I] = normal(rng, O, I, **half)
    return {"w_OI": wide[:, :I], "x_I": normal(rng, I, **half),
            "out_O": normal(rng, O)}  # fmt: skip


def twin(w_OI, x_I, out_O):
    out_O.copy_(w_OI.double() @ x_I.double())


def least_programs(case):
    return -(-case["out_O"].numel() // 16)
