"""Reference of 4.1."""

import torch


def largest_change(kv_of, tokens_T, new_token):
    longer_T = torch.cat([tokens_T, torch.tensor([new_token])])
    rows = []
    for causal in (True, False):
        kv_before, kv_after = kv_of(tokens_T, causal), kv_of(longer_T, causal)
        earlier = kv_after[:, :, : len(tokens_T)]
        rows.append((earlier - kv_before).abs().flatten(1).amax(1))
    return torch.stack(rows)
