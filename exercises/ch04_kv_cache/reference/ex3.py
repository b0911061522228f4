"""Reference of 4.3."""

import torch


def causal_mask(num_queries, num_keys):
    query_T = torch.arange(num_keys - num_queries, num_keys)
    return torch.arange(num_keys) <= query_T[:, None]
