"""PyTorch's attention by its module."""

# exercise: 2.3
# ends: forbidden

import torch


def attention(q_TK, k_LK, v_LK):
    width = q_TK.shape[-1]
    module = torch.nn.MultiheadAttention(width, 1, bias=False)
    module.in_proj_weight.data = torch.eye(width).repeat(3, 1)
    module.out_proj.weight.data = torch.eye(width)
    mask_TL = torch.ones(len(q_TK), len(k_LK), dtype=torch.bool).triu(1)
    return module(q_TK, k_LK, v_LK, attn_mask=mask_TL, need_weights=False)[0]
