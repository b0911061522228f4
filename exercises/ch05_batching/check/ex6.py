"""Check of 5.6: all greedy, none, and mixed rows; near ties, forbidden tokens, NaN-prone zeros."""

import math

import torch

from exercises.grading.judge import Wrong, normal
from exercises.grading.spec import Exercise

EXERCISE = Exercise(
    id="5.6", title="Greedy beside a neighbour that samples", kind="hunt", entry="next_tokens",
    minutes=15, difficulty=3,
    sizes=(
        {"V": 3, "temperatures": (0.0, 1.0)}, {"V": 5, "temperatures": (0.0, 0.0)},
        {"V": 9, "temperatures": (0.7, 1.3, 1.0)},
        {"V": 17, "temperatures": (1.0, 0.0, 0.6, 0.0, 0.0, 1.4, 0.0)},
        {"V": 40, "temperatures": (0.0, 0.9) * 8},
        {"V": 6, "temperatures": (0.0,)}, {"V": 8, "temperatures": (1.2,)},
    ),
    hints=(
        "Logits [2, 3, 1] and temperature 0: what is 2 / 0, and what does softmax make of "
        "[inf, inf, inf]? Print the probabilities of the greedy row, once alone and once beside a "
        "row of temperature 1.",
        "Decide for each ROW: token_S = where(temperature_S == 0, argmax of its logits, its draw). "
        "Greedy rows never use a probability; give them any temperature that is not 0.",
        "greedy_S = temperature_S == 0\n"
        "safe_S = torch.where(greedy_S, 1.0, temperature_S)\n"
        "...  # draw with safe_S\n"
        "return torch.where(____, logits_SV.argmax(-1), drawn_S)",
    ),
)  # fmt: skip


def make(rng, V, temperatures):
    """Rows with near ties (a draw often differs from the best), some tokens forbidden."""
    S = len(temperatures)
    logits_SV = normal(rng, S, V, dtype=torch.float64) * 0.7 + 0.3
    for s in range(S):
        best = int(logits_SV[s].argmax())
        others = [v for v in range(V) if v != best]
        rng.shuffle(others)
        logits_SV[s, others[0]] = logits_SV[s, best] - 0.05
        for v in others[1 : 1 + V // 4]:
            logits_SV[s, v] = -torch.inf
        if best == 0:  # token 0 is what a row of NaN gives: never the right one
            logits_SV[s] = logits_SV[s].flip(0)
    uniform = [rng.uniform(0.02, 0.98) for _ in range(S)]
    greedy = [s for s in range(S) if temperatures[s] == 0]
    for s, gap in zip(greedy, (0.0, 1e-3, 1e-7) * S):  # a tiny temperature still draws among these
        best = int(logits_SV[s].argmax())
        rival = rng.choice([v for v in range(1, V) if v != best])
        logits_SV[s, rival] = logits_SV[s, best] - gap
        uniform[s] = rng.uniform(0.9, 0.98)
    tensor = lambda values: torch.tensor(values, dtype=torch.float64)
    return {
        "logits_SV": logits_SV, "temperature_S": tensor(temperatures), "uniform_S": tensor(uniform),
    }  # fmt: skip


def judge(case, output):
    """Row by row in plain Python: nothing here knows of a batch."""
    rows, temperatures = case["logits_SV"].tolist(), case["temperature_S"].tolist()
    if not isinstance(output, torch.Tensor) or tuple(output.shape) != (len(rows),):
        raise Wrong("shape", f"return one token for each of the {len(rows)} rows", got=output)
    if output.dtype != torch.int64:
        raise Wrong("dtype", "tokens are int64", got=str(output.dtype))
    for s, (row, temperature, uniform) in enumerate(
        zip(rows, temperatures, case["uniform_S"].tolist())
    ):
        want = row.index(max(row)) if temperature == 0 else _draw(row, temperature, uniform)
        if int(output[s]) != want:
            others = temperatures[:s] + temperatures[s + 1 :]
            text = f"row {s} has temperature {temperature}, its neighbours have {others}"
            raise Wrong("5.6.token", f"{text}: another token", (s,), want, int(output[s]))


def _draw(row, temperature, uniform):
    top = max(row)
    weights = [math.exp((x - top) / temperature) for x in row]
    sum_so_far, total = 0.0, sum(weights)
    for token, weight in enumerate(weights):
        sum_so_far += weight / total
        if sum_so_far > uniform:
            return token
    return len(row) - 1
