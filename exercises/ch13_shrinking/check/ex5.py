"""Check of 13.5: the recorded loss of each layer, and bytes before over bytes after.

tests/test_ch13.py compares the record with the model.
"""

import json
from pathlib import Path

from exercises.grading import spec
from exercises.grading.judge import Wrong, number, within
from exercises.grading.spec import Exercise

EXERCISE = Exercise(
    id="13.5", title="Which layer hurts most, and how much faster?", kind="predict",
    entry="answer", minutes=10, difficulty=2, evening=True, band=0.05, torch=False,
    hints=(
        "A layer of a model of width 1024 has 3 matrices of 3072 x 1024 in its MLP. How many "
        "weights are that? And the embedding matrix: does it become smaller?",
        "Weights of a layer = 2 * D * H * K (q, o) + 2 * D * G * K (k, v) + 3 * D * F. Weights = "
        "layers * that + vocabulary * D. speedup = weights before / weights after. For `layer`: "
        "which one works on bare embeddings, so that all others are built upon it?",
        "def weights(layers, heads, kv_heads, channels):\n"
        "    layer = 2 * 1024 * 64 * (heads + kv_heads) + 3 * 1024 * channels\n"
        "    return layers * layer + ____\n"
        '# answer = {"layer": ..., "speedup": weights(before) / weights(after)}',
    ),
)  # fmt: skip
RECORD = json.loads((Path(__file__).parents[1] / "layers.json").read_text("utf-8"))
WIDTH, HEAD_SIZE, VOCABULARY = 1024, 64, 32768
BEFORE = {"h1": 16, "g1": 4, "f1": 3072}
SHRUNK = (  # layers before and after, heads, KV heads, channels after: no slip in the band
    {"n1": 8, "n2": 6, "h2": 12, "g2": 4, "f2": 2048},
    {"n1": 9, "n2": 7, "h2": 8, "g2": 2, "f2": 2304},
    {"n1": 10, "n2": 7, "h2": 8, "g2": 4, "f2": 2048},
    {"n1": 8, "n2": 6, "h2": 12, "g2": 3, "f2": 1536},
)


def make(rng):
    """layer: the same for everybody, there is one model; the sizes depend on who asks."""
    right = {r["layer"]: sum(r["tasks"].values()) / len(r["tasks"]) for r in RECORD["rows"]}
    del right[None]
    return {"right": right, "layers": len(right)} | BEFORE | rng.choice(SHRUNK)


def judge(case, output):
    want = spec.reference("13.5")(**case)
    if not isinstance(output, dict) or set(output) != set(want):
        raise Wrong("keys", f"the answer must be a dict with the keys {list(want)}", got=output)
    got = {key: number(output[key], f"answer[{key!r}]") for key in want}
    if got["layer"] not in case["right"]:
        last = case["layers"] - 1
        raise Wrong("13.5.number", f"layer must be one of 0 to {last}", got=got["layer"])
    far = abs(got["speedup"] - want["speedup"]) > EXERCISE.band * want["speedup"]
    slip = _slip(case, got["speedup"]) if far else None
    other = ""
    if got["layer"] != want["layer"]:
        left = case["right"][got["layer"]]
        other = (f"Without layer {got['layer']:g} the model still answers {left:.0%}: without "
                 "another one it is less")  # fmt: skip
    more = f". And layer: {other}" if other else ""
    if slip:
        raise Wrong("13.5.slip", f"answer['speedup']: {got['speedup']:g} comes from {slip}{more}")
    try:
        within(got["speedup"], want["speedup"], EXERCISE.band, "answer['speedup']")
    except Wrong as wrong:
        wrong.message += more
        raise
    if other:
        raise Wrong("13.5.layer", f"speedup is right. {other}")


def _slip(case, got: float) -> str | None:
    """What the named wrong answer does whose number lies within 1% of this one."""
    far, want = {}, spec.reference("13.5")(**case)["speedup"]
    for answer in spec.variants("13.5", "wrong").values():
        theirs = answer(**case)["speedup"]
        if theirs != want:
            far.setdefault(abs(got - theirs) / theirs, answer.__doc__.strip())
    nearest = min(far)
    return far[nearest] if nearest < 0.01 else None
