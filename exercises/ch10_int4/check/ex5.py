"""Check of 10.5: two rooflines; the cost of unpacking depends on who asks."""

from exercises.grading.spec import Exercise

EXERCISE = Exercise(
    id="10.5", title="Where int4 wins no more", kind="predict", entry="answer",
    minutes=15, difficulty=3, band=0.1, torch=False,
    hints=(
        "In the time of one byte the paper GPU computes 60e12 / 300e9 = 200 FLOPs. fp16 moves 2 "
        "bytes a weight. How many FLOPs a weight can int4 spend in the same time?",
        "FLOPs a weight of int4 with S rows = 2 * S + unpack * (S / tile). Bytes a weight: "
        "0.5 + 2 / group. int4 is slower when its FLOPs take longer than the 2 bytes of fp16.",
        "answer = [2 / (0.5 + 2 / group), 2 * 200 / (2 + ____ / tile)]",
    ),
)  # fmt: skip
COSTS = ((20, 16), (24, 16), (32, 16), (48, 16), (64, 16))  # unpack, tile: no slip in the band


def make(rng):
    unpack, tile = rng.choice(COSTS)
    return {"group": 32, "unpack": unpack, "tile": tile}
