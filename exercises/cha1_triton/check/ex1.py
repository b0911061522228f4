"""Check of A1.1: sizes below, at and just above a block; the neighbours of all tensors are NaN."""

from exercises.grading.judge import normal
from exercises.grading.spec import Exercise

EXERCISE = Exercise(
    id="A1.1", title="Add, with a mask", kind="kernel", entry="add",
    minutes=15, difficulty=2, tolerance="exact", edits=("out_N",),
    hardware="any Linux machine, or Colab",
    sizes=({"N": 3}, {"N": 1024}, {"N": 1025}, {"N": 9000}, {"N": 517}),
    hints=(
        "There are 1,025 elements and each program takes 256. How many programs do you need? How "
        "many lanes of the last one have nothing to do?",
        "offs = program_id * BLOCK + arange(0, BLOCK), shape [BLOCK]. mask = offs < n, bool "
        "[BLOCK]. grid = (number of programs,), n / BLOCK rounded up: triton.cdiv(n, BLOCK).",
        "# in the kernel\n"
        "offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)\n"
        "mask = ____\n"
        "x = tl.load(x_ptr + offs, mask=mask)\n"
        "y = tl.load(y_ptr + offs, mask=mask)\n"
        "tl.store(out_ptr + offs, x + y, mask=mask)\n"
        "# in add\n"
        "n = x_N.numel()\n"
        "add_kernel[(triton.cdiv(n, 256),)](x_N, y_N, out_N, n, BLOCK=256)",
    ),
)  # fmt: skip


def make(rng, N):
    return {"x_N": normal(rng, N), "y_N": normal(rng, N), "out_N": normal(rng, N)}


def twin(x_N, y_N, out_N):
    out_N.copy_(x_N + y_N)


def least_programs(case):
    """As many as blocks of 1,024, up to 4: a few programs may also come again and again."""
    return min(4, -(-case["x_N"].numel() // 1024))
