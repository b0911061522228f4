"""Check of 3.5: stop strings with repeats in them, cut at any letter, near misses, and doubles."""

from exercises.grading.spec import Exercise

EXERCISE = Exercise(
    id="3.5", title="A stop string across tokens", kind="code", entry="pass_on",
    minutes=20, difficulty=3, torch=False,
    sizes=(
        {"stop": "ab", "pieces": ["xa", "b"]},
        {"stop": "aab", "pieces": ["xa", "a", "a", "by"]},
        {"stop": "END", "pieces": ["so E", "N", "EN", "DEND", "more"]},
        {"stop": "a.b", "pieces": ["axb a", ".", " a.b"]},  # no pattern, and the space is text
        {"stop": "\n", "pieces": ["one", " two\nthree"]},
        {"whole_stops": 1}, {"whole_stops": 2}, {"whole_stops": 0},
    ),
    hints=(
        'stop is "aab" and the text so far ends in "aa". The next letter is "a" again. '
        "How many of the three may now be shown?",
        "text = held + new. If stop is in it: show text[:place]. Else find the largest "
        "size < len(stop) with text[-size:] == stop[:size], and keep back that many.",
        "text = held + new\n"
        'if stop in text: return text[: text.index(stop)], "", True\n'
        "for size in range(min(len(stop) - 1, len(text)), 0, -1):\n"
        "    if text.endswith(____): return text[:-size], text[-size:], False\n"
        'return text, "", False',
    ),
)  # fmt: skip
STOPS = ("aabaa", "abab", "</b>", "\n\n", "끝끝.", "aaab")


def make(rng, stop="", pieces=(), whole_stops=0):
    if pieces:  # checkable by hand
        return {"stop": stop, "pieces": list(pieces)}
    stop = rng.choice(STOPS)
    # Beginnings of the stop string and other letters: near misses everywhere.
    parts = [stop[: rng.randrange(1, len(stop))] + rng.choice("xyz") for _ in range(9)]
    parts += [stop + rng.choice(("", "x", "x" + stop)) for _ in range(whole_stops)]
    text = "".join(parts) + stop[:-1]
    pieces = []
    while text:
        size = rng.choice((1, 1, 2, 3, 5))
        pieces.append(text[:size])
        text = text[size:]
    return {"stop": stop, "pieces": pieces}


def drive(answer, case):
    """-> the text shown after each piece until the stop, what is kept at the end, and the flag."""
    shown, held, stopped = [], "", False
    for new in case["pieces"]:
        text, held, stopped = answer(held, new, case["stop"])
        shown.append(text)
        if stopped:
            break
    return {"shown": shown, "kept": held, "stopped": stopped}
