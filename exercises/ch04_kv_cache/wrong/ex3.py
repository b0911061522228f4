"""Named wrong answers of 4.3."""

import torch


def mask_topleft(num_queries, num_keys):
    """a mask aligned top-left (the first query sees only the first key)"""
    return torch.ones(num_queries, num_keys, dtype=torch.bool).tril()


def not_itself(num_queries, num_keys):
    """a mask that hides a query's own key"""
    return torch.ones(num_queries, num_keys, dtype=torch.bool).tril(num_keys - num_queries - 1)


def one_of_the_future(num_queries, num_keys):
    """a mask that shows one key too many, that of the next token"""
    return torch.ones(num_queries, num_keys, dtype=torch.bool).tril(num_keys - num_queries + 1)


def sees_all(num_queries, num_keys):
    """no mask at all"""
    return torch.ones(num_queries, num_keys, dtype=torch.bool)


def inverted(num_queries, num_keys):
    """True and False exchanged"""
    return torch.ones(num_queries, num_keys, dtype=torch.bool).triu(num_keys - num_queries + 1)


def keys_first(num_queries, num_keys):
    """a mask of shape [keys, queries]"""
    return torch.ones(num_keys, num_queries, dtype=torch.bool).triu(num_queries - num_keys)
