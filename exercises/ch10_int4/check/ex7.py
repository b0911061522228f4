"""Check of 10.7: groups that do not divide a step, rows and columns that fill no tile."""

from exercises.grading.judge import normal
from exercises.grading.spec import Exercise

EXERCISE = Exercise(
    id="10.7", title="Packed int4 weights times a vector", kind="kernel", entry="int4_gemv",
    minutes=30, difficulty=5, tolerance="fp32", edits=("out_N",),
    hardware="any Linux machine, or Colab",
    sizes=(
        {"N": 1, "G": 1, "group": 8}, {"N": 3, "G": 2, "group": 8},
        {"N": 16, "G": 3, "group": 24}, {"N": 17, "G": 2, "group": 32},
        {"N": 37, "G": 7, "group": 40}, {"N": 5, "G": 37, "group": 64},
    ),
    hints=(
        "The word is 0x87654321. Code 0 is its last digit, 1, minus 8: -7. By how many bits do you "
        "shift for code 3? With groups of 24, a step takes columns 0 to 63: how many groups is "
        "that?",
        "offs_n [ROWS], offs_k [COLS]. Words at offs_n[:, None] * (K // 8) + (offs_k // 8)[None, "
        ":], [ROWS, COLS]. q = ((word >> (offs_k % 8 * 4)[None, :]) & 15) - 8. Scales at "
        "offs_n[:, None] * (K // group) + (offs_k // group)[None, :], the same shape. A masked "
        "word of 0 is the code -8: it adds nothing if its x or its scale is 0.",
        "offs_n = tl.program_id(0) * ROWS + tl.arange(0, ROWS)\n"
        "total_N = tl.zeros([ROWS], dtype=tl.float32)\n"
        "for start in range(0, K, COLS):\n"
        "    offs_k = start + tl.arange(0, COLS)\n"
        "    mask = (offs_n < N)[:, None] & (offs_k < K)[None, :]\n"
        "    at_word = offs_n[:, None] * (K // 8) + (offs_k // 8)[None, :]\n"
        "    word = tl.load(words_ptr + at_word, mask=mask, other=0)\n"
        "    q = ((word >> ____[None, :]) & 15) - 8\n"
        "    at_scale = offs_n[:, None] * (K // group) + (offs_k // group)[None, :]\n"
        "    scale = tl.load(scale_ptr + at_scale, mask=mask, other=0.0).to(tl.float32)\n"
        "    x = tl.load(x_ptr + offs_k, mask=offs_k < K, other=0.0).to(tl.float32)\n"
        "    total_N += tl.sum(q.to(tl.float32) * scale * x[None, :], axis=1)\n"
        "tl.store(out_ptr + offs_n, total_N, mask=offs_n < N)",
    ),
)  # fmt: skip


def make(rng, N, G, group):
    """Words are any 32 bits: every code comes, and the sign bit is set in half of them."""
    import torch

    group = -(-group // 8) * 8
    generator = torch.Generator().manual_seed(rng.getrandbits(60))
    fields = torch.randint(0, 256, (N, G * group // 2), generator=generator, dtype=torch.uint8)
    return {
        "words_NW": fields.view(torch.int32),
        "scale_NG": (torch.rand(N, G, generator=generator) * 0.2 + 0.02).half(),
        "x_K": normal(rng, G * group, dtype=torch.float16),
        "group": group,
        "out_N": normal(rng, N),
    }


def twin(words_NW, scale_NG, x_K, group, out_N):
    import torch

    fields = words_NW.contiguous().view(torch.uint8)
    codes_NK = torch.stack((fields & 15, fields >> 4), dim=-1).flatten(1).double() - 8
    scale_NK = scale_NG.double().repeat_interleave(group, dim=1)
    out_N.copy_((codes_NK * scale_NK) @ x_K.double())


def least_programs(case):
    return -(-case["out_N"].numel() // 16)
