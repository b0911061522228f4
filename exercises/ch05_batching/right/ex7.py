"""Other right mends of 5.7."""

import torch


def columns_everywhere(model, prompts, new_B, pad):
    """RoPE sees only differences of positions: a shift of ALL tokens of a row changes nothing."""
    longest, B = max(map(len, prompts)), len(prompts)
    rows = [[pad] * (longest - len(p)) + p for p in prompts]
    seen_BC = torch.tensor([[c >= longest - len(p) for c in range(longest)] for p in prompts])
    first = model(torch.tensor(rows), torch.arange(longest).repeat(B, 1), seen_BC)
    seen_BL = torch.nn.functional.pad(seen_BC, (0, 1), value=True)
    second = model(new_B.view(-1, 1), torch.full((B, 1), longest), seen_BL)
    return torch.stack([first[:, -1], second[:, -1]])


def negative_for_the_padding(model, prompts, new_B, pad):
    longest = max(map(len, prompts))
    tokens, pos, seen = [], [], []
    for p in prompts:
        empty = longest - len(p)
        tokens.append([pad] * empty + p)
        pos.append(list(range(-empty, len(p))))
        seen.append([False] * empty + [True] * len(p))
    pos_BC, seen_BC = torch.tensor(pos), torch.tensor(seen)
    first = model(torch.tensor(tokens), pos_BC.clamp(min=0), seen_BC)[:, -1]
    seen_BL = torch.cat([seen_BC, seen_BC[:, -1:]], dim=1)
    second = model(new_B.unsqueeze(1), pos_BC[:, -1:] + 1, seen_BL)[:, -1]
    return torch.stack([first, second])
