"""Check of 3.1: a toy model whose next token depends on every token before it."""

from exercises.grading.judge import normal
from exercises.grading.spec import Exercise

EXERCISE = Exercise(
    id="3.1", title="The greedy loop", kind="code", entry="write_greedy",
    minutes=10, difficulty=1,
    sizes=(
        {"T": 2, "V": 5, "max_tokens": 2, "ends": False},
        {"T": 3, "V": 23, "max_tokens": 9, "ends": False},
        {"T": 7, "V": 41, "max_tokens": 12, "ends": True},
        {"T": 1, "V": 31, "max_tokens": 6, "ends": True},
    ),
    hints=(
        "The prompt has 4 tokens, so the logits have 4 rows. Which row tells what comes after "
        "the 4th token? And how many rows are there at the next step?",
        "next = argmax of logits[T - 1], a whole number below V. Then T grows by 1: the model "
        "reads prompt + written, never only the newest token.",
        "tokens, written = list(prompt), []\n"
        "for _ in range(max_tokens):\n"
        "    best = int(model(tokens)[____].argmax())\n"
        "    if best in end_ids: break\n"
        "    tokens.append(best); written.append(best)\n"
        "return written",
    ),
)  # fmt: skip


def toy_model(embedding_VD, head_DV):
    """A function list[int] -> [T, V]: old tokens fade by a factor of 0.8 a step."""
    import torch

    def model(tokens):
        state_D, rows = torch.zeros(embedding_VD.shape[1]), []
        for token in tokens:
            state_D = 0.8 * state_D + embedding_VD[token]
            rows.append(state_D)
        return torch.stack(rows) @ head_DV

    return model


TRIES = 200


def _greedy(model, tokens, count):
    tokens, start = list(tokens), len(tokens)
    for _ in range(count):
        tokens.append(int(model(tokens)[-1].argmax()))
    return tokens[start:]


def make(rng, T, V, max_tokens, ends):
    if V < 2:
        raise ValueError("with one token there is nothing to choose")
    width = min(V, 16)
    for _ in range(TRIES):  # until the text has no loop in its beginning
        tables = {"embedding_VD": normal(rng, V, width), "head_DV": normal(rng, width, V)}
        prompt = [rng.randrange(V) for _ in range(T)]
        text = _greedy(toy_model(**tables), prompt, max_tokens + 1)
        if len(set(text[:3])) == min(3, V, len(text)):
            break
    else:
        raise ValueError(f"no text without a loop in {TRIES} tries")
    unused = [t for t in range(V) if t not in text]
    end_ids = {*rng.sample(unused, 2)} if len(unused) > 1 else set()
    if ends:
        middle = [t for t in text[2:] if t not in text[:2]] if T > 1 else text[1:]
        end_ids.add(middle[0])
    return {**tables, "prompt": prompt, "max_tokens": max_tokens, "end_ids": sorted(end_ids)}


def drive(answer, case):
    model = toy_model(case["embedding_VD"], case["head_DV"])
    return answer(model, case["prompt"], case["max_tokens"], set(case["end_ids"]))
