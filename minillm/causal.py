"""Attention of many queries on a CPU, some queries at a time. Used through ops.attention."""

from __future__ import annotations

import torch
from torch import Tensor

ROWS = 64  # queries at a time
SOME = range(192, 768)  # queries that PyTorch's own product takes in blocks of 64 ...
WIDE_HEAD = 128  # ... slower than this, where heads are as wide as this (this project's CPU)


def causal_mask(num_queries: int, num_keys: int, window: int | None, device=None) -> Tensor:
    """True where a query may look -> [T, L]. The LAST query sees the last key (bottom right)."""
    query_T1 = torch.arange(num_keys - num_queries, num_keys, device=device)[:, None]
    key_1L = torch.arange(num_keys, device=device)[None, :]
    mask_TL = key_1L <= query_T1
    return mask_TL if window is None else mask_TL & (query_T1 - key_1L < window)


def in_parts(num_queries: int, num_keys: int, head_size: int, window: int | None) -> bool:
    """Whether chunked_attention is the faster: where a window hides keys, and for some sizes."""
    if window is not None and window < num_keys:
        return True
    return num_queries == num_keys and num_queries in SOME and head_size >= WIDE_HEAD


def chunked_attention(q_THK: Tensor, k_LGK: Tensor, v_LGK: Tensor, scale: float, window) -> Tensor:
    """As ops.attention -> [T, H, K]: each part multiplies only the keys that one of it may see.

    A mask over all T x L scores would have every one of them computed, also those far outside of a
    window. The heads of a group are rows of one product, so each key is read once for all of them.
    """
    num_queries, num_heads, size = q_THK.shape
    num_keys, groups = k_LGK.shape[:2]
    q_GTrK = q_THK.view(num_queries, groups, -1, size).permute(1, 0, 2, 3)
    k_GKL, v_GLK = k_LGK.permute(1, 2, 0), v_LGK.transpose(0, 1)
    out_THK, zero = torch.empty_like(q_THK), q_THK.new_zeros(())
    for first in range(0, num_queries, ROWS):
        last = min(num_queries, first + ROWS)
        end = num_keys - num_queries + last  # keys from here on are in the future of all
        start = 0 if window is None else max(0, end - (last - first) - window + 1)
        part_GRK = q_GTrK[:, first:last].reshape(groups, -1, size)
        keys_GKl = k_GKL[:, :, start:end]
        scores = torch.baddbmm(zero, part_GRK, keys_GKl, beta=0, alpha=scale)
        see_tl = causal_mask(last - first, end - start, window, q_THK.device)
        scores_GtrL = scores.view(groups, last - first, -1, end - start)
        scores_GtrL.masked_fill_(~see_tl[:, None], -torch.inf)
        out_GRK = torch.bmm(scores.softmax(-1), v_GLK[:, start:end])
        out_GtrK = out_GRK.view(groups, last - first, -1, size)
        out_THK[first:last] = out_GtrK.transpose(0, 1).reshape(-1, num_heads, size)
    return out_THK
