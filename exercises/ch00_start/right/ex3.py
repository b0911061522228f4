"""Other right answers of 0.3."""

import torch


def with_chunks(x, num_heads):
    return torch.stack(x.chunk(num_heads, dim=1))


def with_unflatten(x, num_heads):
    return x.unflatten(1, (num_heads, -1)).permute(1, 0, 2).contiguous()
