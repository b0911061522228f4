"""Exercise 13.2: take query heads and KV heads out of attention.

H query heads share G KV heads. Query head h uses KV head h // (H / G), so the first H / G query
heads are one group, and so on. Head number i is the rows i*K to (i+1)*K - 1 of its matrix, where K
is head_size; o reads the output of query head h in its COLUMNS h*K to (h+1)*K - 1.

`heads` query heads and `kv_heads` KV heads shall remain. Every KV head that stays must keep equally
many query heads, or head h // (H / G) is no longer the right one. importance_H has one number for
each query head.

1. Numbers that cannot be kept: raise ValueError. (Too few, too many, or not equally many.)
2. A KV head's importance is the sum over all its query heads. Keep the best `kv_heads`.
3. In every group that stays, keep the best query heads.

All in their old order; on a tie the lower number stays. Return the smaller q, k, v and o.

Names for `trace`: groups (the numbers of the KV heads that stay), kept (the numbers of the query
heads that stay).
"""

import torch
from torch import Tensor


def drop_heads(
    q_QD: Tensor,
    k_UD: Tensor,
    v_UD: Tensor,
    o_DQ: Tensor,
    importance_H: list[float],
    head_size: int,
    heads: int,
    kv_heads: int,
) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """q_QD: [H * K, D]. k_UD, v_UD: [G * K, D]. o_DQ: [D, H * K]."""
    raise NotImplementedError("Exercise 13.2: first the KV heads, then query heads of each")
