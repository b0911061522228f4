"""Other right mends of 4.8."""

import torch


def positions_left_to_the_model(model, memory, prompt, answer):
    pieces = [prompt[i : i + 4] for i in range(0, len(prompt), 4)] + [[t] for t in answer]
    rows = [model(torch.tensor(p), None, memory)[-1] for p in pieces]
    return torch.stack(rows[-1 - len(answer) :])


def all_positions_from_one(model, memory, prompt, answer):
    """RoPE sees only differences of positions: a shift of ALL of them changes nothing."""
    rows, text = [], prompt + answer
    for position, token in enumerate(text, start=1):
        rows.append(model(torch.tensor([token]), torch.tensor([position]), memory)[-1])
    return torch.stack(rows[len(prompt) - 1 :])
