"""Check of 12.3: bytes as ratios, a time that does not change, and where CSR begins to pay."""

import random

from exercises.grading import spec
from exercises.grading.judge import Wrong, within
from exercises.grading.spec import Exercise

EXERCISE = Exercise(
    id="12.3", title="Half of it is zeros", kind="predict", entry="answer",
    minutes=15, difficulty=2, evening=True, torch=False, band=0.05,
    tolerance="bf16",  # of naming a mistake: it may be rounded
    hints=(
        "Take 8 weights of 16 bits: dense, they are 16 bytes. Four of them are not 0. How many "
        "bytes are four values, each with its column of 32 bits? And four values with 8 bits for "
        "the mask?",
        "csr / dense = (1 - zeros) * (bits + 32) / bits; where a row begins is little beside it. "
        "bitmask / dense = (bits / 2 + 1) / bits. A group of 2:4: 2 values and 2 * 2 bits. "
        "even: set the first one to 1. time: does a product with 0 take less time?",
        "answer = {\n"
        '    "csr": 0.5 * (bits + 32) / bits,\n'
        '    "bitmask": (0.5 * bits + 1) / bits,\n'
        '    "2:4": (2 * bits + 4) / (4 * bits),\n'
        '    "time": ____,\n'
        '    "even": 32 / (bits + 32),\n'
        "}",
    ),
)  # fmt: skip
NAMES = ("N", "K", "bits")
QUESTIONS = (  # rows, columns, bits of a value (32: even would be 0.5, and 1 - even as well)
    (3072, 4096, 16),
    (2560, 6912, 8),
    (5120, 1536, 8),
    (2304, 9216, 16),
)


def cases(seed):
    """The tracked file asks the first; a student's id picks one."""
    chosen = random.Random(f"12.3/{seed}").choice(QUESTIONS) if seed else QUESTIONS[0]
    return [dict(zip(NAMES, chosen))]


def judge(case, output):
    """5%: row starts may be left out (0.2% at most), but 0.5 is 11% below 0.5625."""
    want = spec.reference("12.3")(**case)
    if not isinstance(output, dict) or set(output) != set(want):
        raise Wrong("keys", f"the answer must be a dict with the keys {list(want)}", got=output)
    for key, value in want.items():
        within(output[key], value, EXERCISE.band, f"answer[{key!r}]")
