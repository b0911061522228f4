"""Check of 10.5: two rooflines; the cost of unpacking depends on who asks."""

from exercises.grading import spec
from exercises.grading.judge import Wrong, number, within
from exercises.grading.spec import Exercise

EXERCISE = Exercise(
    id="10.5", title="Where int4 wins no more", kind="predict", entry="answer",
    minutes=15, difficulty=3, band=0.1, torch=False,
    hints=(
        "In the time of one byte the paper GPU computes 60e12 / 300e9 = 200 FLOPs. fp16 moves 2 "
        "bytes a weight. How many FLOPs a weight can int4 spend in the same time?",
        "FLOPs a weight of int4 with S rows = 2 * S + unpack * (S / tile), if you leave out the "
        "steps of whole tiles (less than 10% off). Bytes a weight: 0.5 + 2 / group. int4 is not "
        "faster when its FLOPs take as long as the 2 bytes of fp16.",
        "# the steps of whole tiles are left out\n"
        "answer = [2 / (0.5 + 2 / group), 2 * 200 / (2 + ____ / tile)]",
    ),
)  # fmt: skip
COSTS = ((20, 16), (24, 16), (32, 16), (48, 16), (64, 16))  # unpack, tile: no slip in the band


def make(rng):
    unpack, tile = rng.choice(COSTS)
    return {"group": 32, "unpack": unpack, "tile": tile}


def judge(case, output):
    """Each number for itself, so that a slip is named beside a right number and when rounded."""
    if not isinstance(output, (list, tuple)) or len(output) != 2:
        raise Wrong("length", "the answer must be a list of 2 numbers", got=output)
    band = EXERCISE.band
    for place, want in enumerate(spec.reference("10.5")(**case)):
        got, what = number(output[place], f"answer[{place}]"), f"answer[{place}]"
        slip = None if abs(got - want) <= band * want else _slip(case, place, got)
        if slip:
            raise Wrong("10.5.slip", f"{what}: {got:g} comes from {slip}")
        within(got, want, band, what)


def _slip(case, place: int, got: float) -> str | None:
    """What the named wrong answer does whose number lies within 2% of this one."""
    far = {}
    for answer in spec.variants("10.5", "wrong").values():
        theirs = answer(**case)[place]
        far.setdefault(abs(got - theirs) / theirs, answer.__doc__.strip())
    nearest = min(far)
    return far[nearest] if nearest < 0.02 else None
