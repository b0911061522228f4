"""Check of 14.3: the paper GPU's clock decides; which situations are asked depends on who asks.

tests/test_ch14.py goes through many students: the winner is always ahead of the next by a fifth.
"""

from exercises.ch14_choice import situations
from exercises.grading.judge import Wrong
from exercises.grading.spec import Exercise

EXERCISE = Exercise(
    id="14.3", title="Five situations", kind="choose", entry="answer",
    minutes=25, difficulty=3, torch=False,
    hints=(
        "For each situation: how many bytes of weights does one step read, how many of K and V, "
        "and how much arithmetic is there? Which of the three takes the most time? Which letter "
        "makes THAT smaller?",
        "weights: 4.0 GB (W: 2.3). K and V: requests * tokens * 147 KB (K: half). Arithmetic: new "
        "tokens * 8 GFLOP / 60 TFLOP/s, that is 0.13 ms a token; bytes: 3.3 ms a GB. A step takes "
        "the larger of the two.",
        "for letter in \"WKSPC\":  # before and after, in words of the figure that is asked for\n"
        "    milliseconds = max(3.3 * (weights_gb + kv_gb), 0.13 * ____)",
    ),
)  # fmt: skip
LETTERS = (*situations.CHANGES, situations.NONE)


def make(rng):
    """A document, something with much K and V, and three of the others, in any order."""
    room = rng.choice(("long", "fit"))
    others = [kind for kind in situations.KINDS if kind not in ("document", room)]
    kinds = ["document", room, *rng.sample(others, 3)]
    rng.shuffle(kinds)
    asked = [situations.situation(rng, kind) for kind in kinds]
    lines = [f"{number}. {one['text']}" for number, one in enumerate(asked, 1)]
    return {"asked": asked, "list": "\n".join(lines)}


def judge(case, output):
    letters = list(output) if isinstance(output, (str, list, tuple)) else []
    if isinstance(output, str):
        letters = [one for one in output if one not in " ,;"]  # "K, P" says what is meant
    letters = [one.upper() if isinstance(one, str) else one for one in letters]
    if len(letters) != len(case["asked"]) or any(one not in LETTERS for one in letters):
        text = f"the answer must be {len(case['asked'])} of the letters {', '.join(LETTERS)}"
        raise Wrong("14.3.letters", f'{text}, such as "WWWWW"', got=output)
    wrong = [
        f"- situation {number}: {_why(asked, letter)}"
        for number, (letter, asked) in enumerate(zip(letters, case["asked"]), 1)
        if letter != situations.winner(asked)
    ]
    if wrong:
        raise Wrong("14.3.other", "by the paper GPU's clock:\n" + "\n".join(wrong))


def _why(asked: dict, letter: str) -> str:
    found = situations.gains(asked)
    if letter == situations.NONE:
        return "one of the five makes its figure better by more than 5%"
    gain = found[letter]
    if gain < 1 / situations.LEAST:
        return f"{letter} makes its figure worse, {1 / gain:.1f} times"
    if gain < situations.LEAST:
        return f"{letter} changes its figure by less than 5%. What takes the time (or room) here?"
    return f"{letter} makes its figure {gain:.1f} times better, another change does more"
