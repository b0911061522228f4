"""Plain PyTorch twins of the kernels, and the one place where an implementation is chosen.

Every function here is the specification: short, readable, right in any float dtype. Sums and
exponentials run in at least float32 (float64 stays float64), as real engines do.
"""

from __future__ import annotations

import math

import torch
import torch.nn.functional as F
from torch import Tensor

from minillm.causal import causal_mask, chunked_attention, in_parts
from minillm.config import RopeConfig
from minillm.few_rows import linear as linear  # parts of this switch, kept apart for its length
from minillm.norms import at_least_fp32 as at_least_fp32
from minillm.norms import is_plain, may_join, plain_norm_heads, plain_rms_norm, rms_norm_row


def kernel(name: str, x: Tensor):
    """The Triton kernel `name` if x lies on a GPU that can run it, else None: plain code runs.

    None too while gradients are recorded: the kernels have no backward pass.
    """
    if not x.is_cuda or torch.is_grad_enabled():
        return None
    from minillm.kernel_choice import find

    return find(name, x)


def rms_norm(x_TD: Tensor, weight_D: Tensor, eps: float, plus_one: bool = False) -> Tensor:
    """x / sqrt(mean(x^2) + eps) * weight over the last dimension (Zhang & Sennrich 2019).

    plus_one multiplies by 1 + weight (Gemma), in wide precision before rounding back.
    """
    if x_TD.shape[0] == 1 and x_TD.dim() == 2 and is_plain(x_TD):
        return rms_norm_row(x_TD, weight_D, eps, plus_one)
    if x_TD.is_cuda and (fast := kernel("rms_norm", x_TD)):
        return fast(x_TD, weight_D, eps, plus_one)
    return plain_rms_norm(x_TD, weight_D, eps, plus_one)


def norm_heads(qk_THK: Tensor, q_norm, k_norm, num_heads: int) -> Tensor:
    """The first num_heads vectors of each token by q_norm, the rest by k_norm -> [T, H + G, K]."""
    if is_plain(qk_THK) and may_join(q_norm, k_norm):
        return plain_norm_heads(qk_THK, q_norm, k_norm, num_heads)
    return torch.cat((q_norm(qk_THK[:, :num_heads]), k_norm(qk_THK[:, num_heads:])), dim=1)


def rope_frequencies(rope: RopeConfig, head_size: int, dtype: torch.dtype) -> Tensor:
    """Angle a step for each of the head_size/2 pairs, after scaling -> [K/2]."""
    exponent = torch.arange(0, head_size, 2, dtype=dtype) / head_size
    freq = 1.0 / (rope.theta**exponent)
    if rope.kind == "default":
        return freq
    if rope.kind == "linear":
        return freq / rope.factor
    if rope.kind == "llama3":  # long waves stretched, short ones kept, a ramp between
        turns = rope.original_len * freq / (2 * math.pi)
        keep = (turns - rope.low_freq_factor) / (rope.high_freq_factor - rope.low_freq_factor)
    elif rope.kind == "yarn":  # the same idea; the ramp is linear in the pair's index (eq. 22-23)

        def pair_with(turns: float) -> float:  # index of the pair that turns that often
            ratio = rope.original_len / (turns * 2 * math.pi)
            return head_size * math.log(ratio) / (2 * math.log(rope.theta))

        low, high = pair_with(rope.beta_fast), pair_with(rope.beta_slow)
        if rope.truncate:
            low, high = math.floor(low), math.ceil(high)
        low, high = max(low, 0), min(high, head_size - 1)
        index = torch.arange(head_size // 2, dtype=dtype)
        keep = 1.0 - (index - low) / ((high - low) or 0.001)
    else:
        raise ValueError(f"unknown RoPE kind {rope.kind!r}")
    keep = keep.clamp(0, 1)
    return freq * keep + freq / rope.factor * (1 - keep)


def rope_tables(pos_T: Tensor, freq: Tensor, attention_factor: float, dtype: torch.dtype):
    """cos and sin for every position -> two [T, 1, K], ready for apply_rope.

    The angles stand twice, once for each half of a head; the first half of sin is negative.
    """
    angle_T1k = (pos_T.to(freq.dtype)[:, None] * freq)[:, None, :]
    cos_T1k, sin_T1k = angle_T1k.cos(), angle_T1k.sin()
    if attention_factor != 1.0:
        cos_T1k, sin_T1k = cos_T1k * attention_factor, sin_T1k * attention_factor
    cos_T1K = torch.cat((cos_T1k, cos_T1k), dim=-1)
    sin_T1K = torch.cat((-sin_T1k, sin_T1k), dim=-1)
    return cos_T1K.to(dtype), sin_T1K.to(dtype)


def apply_rope(x_THK: Tensor, cos_T1K: Tensor, sin_T1K: Tensor) -> Tensor:
    """Rotate each pair (a, b) = (x[i], x[i + K/2]) to (a cos - b sin, b cos + a sin)."""
    if x_THK.is_cuda and (fast := kernel("rope", x_THK)):
        return fast(x_THK, cos_T1K, sin_T1K)
    return plain_rope(x_THK, cos_T1K, sin_T1K)


def plain_rope(x_THK: Tensor, cos_T1K: Tensor, sin_T1K: Tensor) -> Tensor:
    """The twin of kernels/rope.py."""
    other_THK = x_THK.roll(x_THK.shape[-1] // 2, dims=-1)  # the partner of each number
    return torch.addcmul(x_THK * cos_T1K, other_THK, sin_T1K)


def attention(q_THK: Tensor, k_LGK: Tensor, v_LGK: Tensor, scale: float, window=None) -> Tensor:
    """Causal attention of the last T of L positions of ONE sequence -> [T, H, K].

    Grouped queries: query head h reads key/value head h // (H / G).
    """
    num_queries, num_keys = q_THK.shape[0], k_LGK.shape[0]
    if num_queries == 1 and window is not None and window < num_keys:
        k_LGK, v_LGK = k_LGK[-window:], v_LGK[-window:]
    if num_queries == 1:
        rows = lambda x_LGK: x_LGK.transpose(0, 1)[None]
        return attend_one(q_THK, rows(k_LGK), rows(v_LGK), scale)
    if is_plain(q_THK) and in_parts(num_queries, num_keys, q_THK.shape[2], window):
        return chunked_attention(q_THK, k_LGK, v_LGK, scale, window)
    mask, causal = None, True
    if num_queries != num_keys or (window is not None and window < num_keys):
        mask, causal = causal_mask(num_queries, num_keys, window, q_THK.device), False
    out_1HTK = F.scaled_dot_product_attention(
        q_THK.transpose(0, 1)[None],
        k_LGK.transpose(0, 1)[None],
        v_LGK.transpose(0, 1)[None],
        attn_mask=mask,
        is_causal=causal,
        scale=scale,
        enable_gqa=q_THK.shape[1] != k_LGK.shape[1],
    )
    return out_1HTK[0].transpose(0, 1)


def attend_one(q_1HK: Tensor, k_1GLK: Tensor, v_1GLK: Tensor, scale: float) -> Tensor:
    """One query of one sequence that sees all of L keys -> [1, H, K].

    The heads of a group become the rows of one product, so no mask is needed and each K/V head is
    read once for its whole group.
    """
    q_1GrK = q_1HK.reshape(1, k_1GLK.shape[1], -1, q_1HK.shape[2])
    out_1GrK = F.scaled_dot_product_attention(q_1GrK, k_1GLK, v_1GLK, scale=scale)
    return out_1GrK.reshape(q_1HK.shape)
