"""PyTorch's attention by flex_attention."""

# exercise: 2.3
# ends: forbidden

from torch.nn.attention.flex_attention import flex_attention


def attention(q_TK, k_LK, v_LK):
    causal = lambda score, b, h, q, k: score.where(q >= k, -float("inf"))
    return flex_attention(q_TK[None, None], k_LK[None, None], v_LK[None, None], causal)[0, 0]
