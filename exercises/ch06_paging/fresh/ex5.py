"""Exercise 6.5: attention through a block table.

Several requests write one token each, so each brings one query (S requests). Their keys and values
lie in a pool of N blocks with P tokens each, all requests mixed. Request s has len_S[s] tokens. Row
s of block_table_SM names its blocks in the order of its tokens. The row is padded: only the first
ceil(len / P) entries count, the others are any block.

Gather the keys and values of a request, then attend: softmax(q . k * scale) times v. Query head h
reads KV head h // (H // G). Slots that hold no token of the request may hold anything, NaN too.

Write the attention yourself. For one request, L is its length. Names for `trace`:

    k_LGK, v_LGK     its keys and values, in order
    scores_HL        q . k * scale
    probs_HL         what softmax makes of them
"""

import torch
from torch import Tensor


def paged_attention(q_SHK, k_pool_NPGK, v_pool_NPGK, block_table_SM, len_S, scale) -> Tensor:
    """block_table_SM, len_S: int64; the others float. Returns float [S, H, K]."""
    raise NotImplementedError("Exercise 6.5: gather the blocks of each request, then attend")
