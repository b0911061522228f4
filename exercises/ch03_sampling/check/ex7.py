"""Check of 3.7: every place where an end id may stand, and the text ends exactly there."""

from exercises.grading.spec import Exercise

LENGTH = 12  # tokens that the model would write

EXERCISE = Exercise(
    id="3.7", title="Which token ends a text?", kind="hunt", entry="write",
    minutes=10, difficulty=2, torch=False,
    sizes=tuple({"length": LENGTH, **size} for size in (
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
    )),
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


def make(rng, place, shape, length):
    """The wanted end id stands in one file, others that never come stand beside it."""
    ids = rng.sample(range(1, 100), 3 * LENGTH)
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
    text = ids[:length]
    if place != "none":
        text[rng.randrange(1, max(2, length - 2))] = end
    case = {"model_would_write": text, "prompt": ids[LENGTH : LENGTH + 2]}
    return {**case, "max_tokens": length - 1, **files}


def drive(answer, case):
    """The model writes a fixed text, whatever it is given."""
    case = dict(case)
    text, start = case.pop("model_would_write"), len(case["prompt"])
    return answer(lambda tokens: text[len(tokens) - start], **case)
