"""PyTorch's attention inside compiled TorchScript."""

# exercise: 2.3
# ends: forbidden

import torch


def attention(q_TK, k_LK, v_LK):
    graph = torch.jit.trace(
        lambda q, k, v: torch.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True),
        (q_TK[None, None], k_LK[None, None], v_LK[None, None]),
    )
    return graph(q_TK[None, None], k_LK[None, None], v_LK[None, None])[0, 0]
