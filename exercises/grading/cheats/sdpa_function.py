"""PyTorch's attention by its function."""

# exercise: 2.3
# ends: forbidden

import torch.nn.functional as F


def attention(q_TK, k_LK, v_LK):
    q, k, v = (x[None] for x in (q_TK, k_LK, v_LK))
    return F.scaled_dot_product_attention(q, k, v, is_causal=True)[0]
