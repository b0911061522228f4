"""Check of 9.7: rows and columns that fill no tile, gaps between rows, x in 16 and in 32 bit."""

from exercises.grading.judge import normal
from exercises.grading.spec import Exercise

EXERCISE = Exercise(
    id="9.7", title="int8 weights times a vector", kind="kernel", entry="int8_gemv",
    minutes=25, difficulty=4, tolerance="fp32", edits=("out_N",),
    hardware="any Linux machine, or Colab",
    sizes=(
        {"N": 1, "K": 2, "gap": 0, "half": False}, {"N": 3, "K": 5, "gap": 0, "half": True},
        {"N": 16, "K": 65, "gap": 2, "half": False}, {"N": 19, "K": 1101, "gap": 0, "half": True},
        {"N": 5, "K": 4703, "gap": 0, "half": False}, {"N": 37, "K": 301, "gap": 3, "half": True},
    ),
    hints=(
        "A program holds 16 rows, and the matrix has 37. Which rows has program 2, and how many "
        "of them exist? Where does it find the scale of its first row: at scale_ptr + 0, or at "
        "scale_ptr + 32?",
        "offs_n [ROWS], offs_k [COLS]. Codes at codes_ptr + offs_n[:, None] * row_stride + "
        "offs_k[None, :], [ROWS, COLS]. total_N += tl.sum(codes.to(tl.float32) * x[None, :], "
        "axis=1), [ROWS]. After the loop scale [ROWS] at scale_ptr + offs_n, and total_N * scale.",
        "offs_n = tl.program_id(0) * ROWS + tl.arange(0, ROWS)\n"
        "mask_n = offs_n < N\n"
        "total_N = tl.zeros([ROWS], dtype=tl.float32)\n"
        "for start in range(0, K, COLS):\n"
        "    offs_k = start + tl.arange(0, COLS)\n"
        "    mask_k = offs_k < K\n"
        "    places = offs_n[:, None] * row_stride + offs_k[None, :]\n"
        "    mask = mask_n[:, None] & mask_k[None, :]\n"
        "    codes = tl.load(codes_ptr + places, mask=mask, other=0)\n"
        "    x = tl.load(x_ptr + offs_k, mask=mask_k, other=0.0).to(tl.float32)\n"
        "    total_N += tl.sum(codes.to(tl.float32) * x[None, :], axis=1)\n"
        "scale = tl.load(____, mask=mask_n, other=0.0)\n"
        "tl.store(out_ptr + offs_n, total_N * scale, mask=mask_n)",
    ),
)  # fmt: skip


def make(rng, N, K, gap, half):
    """gap: codes between two rows that belong to neither. half: x in 16 bit."""
    import torch

    generator = torch.Generator().manual_seed(rng.getrandbits(60))
    wide = torch.randint(-128, 128, (N, K + gap), generator=generator, dtype=torch.int8)
    return {
        "codes_NK": wide[:, :K],
        "scale_N": torch.rand(N, generator=generator) * 0.04 + 0.01,
        "x_K": normal(rng, K, dtype=torch.float16 if half else torch.float32),
        "out_N": normal(rng, N),
    }


def twin(codes_NK, scale_N, x_K, out_N):
    out_N.copy_(codes_NK.double() @ x_K.double() * scale_N.double())


def least_programs(case):
    return -(-case["out_N"].numel() // 16)
