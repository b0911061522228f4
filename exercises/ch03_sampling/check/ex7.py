"""Check of 3.7: every place where an end id may stand, and the text ends exactly there."""

from exercises.grading.spec import Exercise

EXERCISE = Exercise(
    id="3.7", title="Which token ends a text?", kind="hunt", entry="write",
    minutes=10, difficulty=2, torch=False,
    sizes=(
        {"place": "config", "shape": "second"},
        {"place": "config", "shape": "zero"},
        {"place": "config", "shape": "number"},
        {"place": "generation", "shape": "first"},
        {"place": "generation", "shape": "last"},
        {"place": "generation", "shape": "number"},
        {"place": "generation", "shape": "zero"},
        {"place": "generation", "shape": "zero in a list"},
        {"place": "tokenizer", "shape": "number"},
        {"place": "tokenizer", "shape": "zero"},
        {"place": "tokenizer", "shape": "second"},
        {"place": "none", "shape": "nothing"},
    ),
    hints=(
        "config.json says [7, 9], generation_config.json says 0, the tokenizer says nothing. "
        "Write the set of all end ids by hand: how many does it hold? Now run the code for it.",
        "end_ids = union of three parts. A number n gives {n}, also when n = 0; a list gives all "
        "its members; None gives {}.",
        "end_ids = set()\n"
        "for ids in (config, generation, tokenizer):\n"
        "    if ids is ____: continue\n"
        "    end_ids.update(ids if isinstance(ids, list) else [ids])",
    ),
)  # fmt: skip
LENGTH = 12


def make(rng, place, shape):
    """The wanted end id stands in one file, others that never come stand beside it."""
    ids = rng.sample(range(1, 1000), 3 * LENGTH)
    end = 0 if shape.startswith("zero") else ids.pop()
    lists = {
        "number": end,
        "zero": end,
        "zero in a list": [ids.pop(), end],
        "first": [end, ids.pop(), ids.pop()],
        "second": [ids.pop(), end, ids.pop()],
        "last": [ids.pop(), ids.pop(), end],
        "nothing": None,
    }
    files = {"config": ids.pop(), "generation": [ids.pop(), ids.pop()], "tokenizer": None}
    if place != "none":
        files[place] = lists[shape]
    script = ids[:LENGTH]
    if place != "none":
        script[rng.randrange(2, LENGTH - 2)] = end
    return {"script": script, "prompt": ids[LENGTH : LENGTH + 2], "max_tokens": LENGTH - 1, **files}


def drive(answer, case):
    """The model writes a fixed script, whatever it is given."""
    case = dict(case)
    script, start = case.pop("script"), len(case["prompt"])
    return answer(lambda tokens: script[len(tokens) - start], **case)
