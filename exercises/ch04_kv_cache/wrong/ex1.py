"""Named wrong answers of 4.1."""

import torch


def _rows(kv_of, tokens_T, new_token, measure, masks=(True, False)):
    longer_T = torch.cat([tokens_T, torch.tensor([new_token])])
    found = [measure(kv_of(tokens_T, c), kv_of(longer_T, c)) for c in masks]
    return torch.stack(found)


def signed_change(kv_of, tokens_T, new_token):
    """the largest change without an absolute value"""
    measure = lambda a, b: (b[:, :, : a.shape[2]] - a).flatten(1).amax(1)
    return _rows(kv_of, tokens_T, new_token, measure)


def keys_only(kv_of, tokens_T, new_token):
    """the keys alone, without the values"""
    measure = lambda a, b: (b[:, 0, : a.shape[2]] - a[:, 0]).abs().flatten(1).amax(1)
    return _rows(kv_of, tokens_T, new_token, measure)


def mean_change(kv_of, tokens_T, new_token):
    """the mean change instead of the largest"""
    measure = lambda a, b: (b[:, :, : a.shape[2]] - a).abs().flatten(1).mean(1)
    return _rows(kv_of, tokens_T, new_token, measure)


def aligned_at_the_end(kv_of, tokens_T, new_token):
    """comparing with the LAST T tokens of the longer text"""
    measure = lambda a, b: (b[:, :, -a.shape[2] :] - a).abs().flatten(1).amax(1)
    return _rows(kv_of, tokens_T, new_token, measure)


def rows_swapped(kv_of, tokens_T, new_token):
    """the two rows in the other order"""
    measure = lambda a, b: (b[:, :, : a.shape[2]] - a).abs().flatten(1).amax(1)
    return _rows(kv_of, tokens_T, new_token, measure, masks=(False, True))


def always_masked(kv_of, tokens_T, new_token):
    """the causal mask in both rows"""
    measure = lambda a, b: (b[:, :, : a.shape[2]] - a).abs().flatten(1).amax(1)
    return _rows(kv_of, tokens_T, new_token, measure, masks=(True, True))
