"""Check of 1.5: the floor that stays when the bytes go."""

from exercises.grading.spec import Exercise

EXERCISE = Exercise(
    id="1.5", title="Who took the time?", kind="choose", entry="answer",
    minutes=5, difficulty=2, torch=False,
    choices={
        "memory": "small matrices are read faster, not slower: see the first picture of section 2",
        "attention": "with 32 earlier tokens it reads less than a hundredth of the weights",
        "fixed": "every operation has a fixed cost, and a step starts hundreds of them",
        "head": "the head is under a tenth of the bytes, and one operation of hundreds",
        "arithmetic": "a step needs 2 FLOPs a weight: at the measured peak that is far too little",
        "tokenizer": "a step, as it was timed, has no text in it at all",
    },
    hints=(
        "The model with 1/10 of the bytes: did its step take 1/10 of the time of `tiny`?",
        "time = number of operations * fixed cost + bytes / bandwidth. Take the bytes away: what "
        "is left?",
        'answer = "____", the part that depends on the number of operations, not on their size',
    ),
)  # fmt: skip


def make(rng):
    return {}
