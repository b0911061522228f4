"""Reference of 4.3."""

import torch


def causal_mask(num_queries, num_keys):
    query_T1 = torch.arange(num_keys - num_queries, num_keys)[:, None]
    key_1L = torch.arange(num_keys)[None, :]
    return key_1L <= query_T1
