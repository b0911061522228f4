"""Check of 11.4: the toy model's surprise depends on all of the context that a token gets."""

from exercises.grading.spec import Exercise

# Sums of at most a hundred numbers in float64 differ by their order by far less than 2e-6.
EXERCISE = Exercise(
    id="11.4", title="Perplexity with a stride", kind="code", entry="strided_perplexity",
    minutes=20, difficulty=3, tolerance="fp32", torch=False,
    sizes=(
        {"length": 6, "window": 4, "stride": 2}, {"length": 2, "window": 8, "stride": 3},
        {"length": 23, "window": 8, "stride": 3}, {"length": 40, "window": 9, "stride": 8},
        {"length": 17, "window": 16, "stride": 1}, {"length": 33, "window": 8, "stride": 4},
        {"length": 30, "window": 10, "stride": 5},
    ),
    hints=(
        "6 tokens, window 4, stride 2. The first window holds tokens 0 to 3 and judges 1, 2, 3. "
        "The second holds tokens 2 to 5. Which of its three surprises count?",
        "done = tokens that need no judging; it begins with 1. A window that starts at `start` "
        "gives found[i] for token start + 1 + i: count from i = done - start - 1 on. Divide by "
        "len(tokens) - 1.",
        "total, done = 0.0, 1\n"
        "for start in range(0, len(tokens), stride):\n"
        "    found = surprises(tokens[start : start + window])\n"
        "    total += sum(found[____ :])\n"
        "    done = start + 1 + len(found)\n"
        "    if done == len(tokens):\n"
        "        break\n"
        "return math.exp(total / (len(tokens) - 1))",
    ),
)  # fmt: skip
HOW = (
    "surprises here: toy numbers instead of a model. They depend on the token, on all tokens "
    "before it in the window, and on how many these are."
)


def make(rng, length, window, stride):
    if length < 2 or not 1 <= stride < window:
        raise ValueError("at least 2 tokens, and windows that overlap")
    tokens = [rng.randrange(50) for _ in range(length)]
    return {"tokens": tokens, "window": window, "stride": stride}


def model(window):
    """A model with room for `window` tokens; with more context it is surprised less."""

    def surprises(tokens):
        if not 1 <= len(tokens) <= window:
            raise ValueError(f"this model reads 1 to {window} tokens at once, it got {len(tokens)}")
        found = []
        for place in range(1, len(tokens)):
            before = tokens[:place]
            mixed = sum((3 + i) * t for i, t in enumerate(reversed(before))) + 7 * tokens[place]
            found.append(0.2 + mixed % 101 / 101 + 2.0 / len(before))
        return found

    return surprises


def drive(answer, case):
    return answer(case["tokens"], case["window"], case["stride"], model(case["window"]))
