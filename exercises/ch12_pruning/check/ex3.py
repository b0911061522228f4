"""Check of 12.3: bytes as ratios, a time that does not change, and where CSR begins to pay."""

import random

from exercises.grading import spec
from exercises.grading.judge import Wrong, number, within
from exercises.grading.spec import Exercise

EXERCISE = Exercise(
    id="12.3", title="Half of it is zeros", kind="predict", entry="answer",
    minutes=15, difficulty=2, evening=True, torch=False, band=0.05,
    tolerance="bf16",  # of naming a mistake: it may be rounded
    hints=(
        "Take 8 weights of 16 bits: dense, they are 16 bytes. Four of them are not 0. How many "
        "bytes are four values, each with its column of 32 bits? And four values with 8 bits for "
        "the mask? A dense product has 8 multiplications. How many of them does it leave out?",
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
SLIPS = {  # numbers that tell their reason, whatever else is wrong beside them
    "csr": (
        (0.5, "values alone: where does each of them stand?"),
        (1.0, "columns that take as many bits as a value: they take 32"),
    ),
    "bitmask": ((0.5, "values alone: which weights are they?"),),
    "2:4": ((0.5, "values alone: at which places of the four do they stand?"),),
    "time": (
        (0.5, "half of the arithmetic: but the dense program does not look whether a weight is 0"),
    ),
    "even": (
        (0.0, "values alone: then csr would never be larger than dense"),
        (0.5, "half of the values as half of the bytes: a value brings its column with it"),
    ),
}


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
        got = number(output[key], f"answer[{key!r}]")
        slip = next((why for at, why in SLIPS.get(key, ()) if abs(got - at) < 0.01), None)
        if slip and abs(got - value) > EXERCISE.band * value:
            raise Wrong(f"12.3.{key}", f"answer[{key!r}]: {got:g} comes from {slip}")
        within(got, value, EXERCISE.band, f"answer[{key!r}]")
