"""The simplest memories: none at all, one strip for one request, and packed rows for training."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor

from minillm import ops
from minillm.config import ModelConfig


class NoCache:
    """Keeps nothing: every call must bring the whole sequence again."""

    length = 0  # tokens held

    def __init__(self, config: ModelConfig):
        self.config = config

    def attend(self, layer: int, q_THK: Tensor, k_TGK: Tensor, v_TGK: Tensor) -> Tensor:
        c = self.config
        return ops.attention(q_THK, k_TGK, v_TGK, c.attention_scale, c.windows[layer])


class StripCache:
    """One contiguous strip of K and V a layer, reserved up front for one request.

    kv: [layers, 2, max_len, G, K]. Written through the layers of a step; `length` moves once, when
    the last layer has attended, so an interrupted step leaves the cache as it was.
    """

    def __init__(self, config: ModelConfig, max_len: int, dtype=torch.float32, device="cpu"):
        shape = (config.num_layers, 2, max_len, config.num_kv_heads, config.head_size)
        self.config, self.max_len, self.length = config, max_len, 0
        self.kv = torch.empty(shape, dtype=dtype, device=device)
        # Views: K and V of each layer, one by one (with gradients on, unbind's are read-only).
        self.strips = [(self.kv[i, 0], self.kv[i, 1]) for i in range(config.num_layers)]
        self.heads = [[x.transpose(0, 1)[None] for x in pair] for pair in self.strips]  # [1,G,L,K]

    @classmethod
    def for_model(cls, model, max_len: int) -> StripCache:
        """A cache in the dtype and on the device of the model's weights."""
        weight = model.embedding.weight
        return cls(model.config, max_len, weight.dtype, weight.device)

    def attend(self, layer: int, q_THK: Tensor, k_TGK: Tensor, v_TGK: Tensor) -> Tensor:
        start, end = self.length, self.length + k_TGK.shape[0]
        if end > self.max_len:
            raise ValueError(
                f"the cache holds {self.max_len} tokens, this step needs {end}: make a StripCache "
                f"with a larger max_len, or send a shorter prompt"
            )
        c, (k_strip, v_strip) = self.config, self.strips[layer]
        k_strip.narrow(0, start, end - start).copy_(k_TGK)
        v_strip.narrow(0, start, end - start).copy_(v_TGK)
        if layer == c.num_layers - 1:
            self.length = end
        window = c.windows[layer]
        if end - start == 1:  # the step that is run most: no mask, and views made beforehand
            first = 0 if window is None else max(0, end - window)
            k_1GLK, v_1GLK = (x.narrow(2, first, end - first) for x in self.heads[layer])
            return ops.attend_one(q_THK, k_1GLK, v_1GLK, c.attention_scale)
        return ops.attention(q_THK, k_strip[:end], v_strip[:end], c.attention_scale, window)


class PackedRows:
    """Training: B rows of equal length, packed one after another into T = B * length tokens."""

    length = 0

    def __init__(self, config: ModelConfig, num_rows: int):
        self.config, self.num_rows = config, num_rows
        self.mask_LL = None

    def positions(self, num_tokens: int) -> Tensor:
        """0, 1, 2 ... again for every row -> [T]."""
        return torch.arange(num_tokens // self.num_rows).repeat(self.num_rows)

    def attend(self, layer: int, q_THK: Tensor, k_TGK: Tensor, v_TGK: Tensor) -> Tensor:
        assert q_THK.shape[0] // self.num_rows <= (self.config.windows[layer] or q_THK.shape[0])
        rows = lambda x: x.view(self.num_rows, -1, *x.shape[1:]).transpose(1, 2)
        q_BHLK, k_BGLK, v_BGLK = rows(q_THK), rows(k_TGK), rows(v_TGK)
        if q_BHLK.shape[2] <= 512:
            out_BHLK = self._attend_short(q_BHLK, k_BGLK, v_BGLK)
        else:
            scale, gqa = self.config.attention_scale, self.config.queries_per_kv > 1
            out_BHLK = F.scaled_dot_product_attention(
                q_BHLK, k_BGLK, v_BGLK, is_causal=True, scale=scale, enable_gqa=gqa
            )
        return out_BHLK.transpose(1, 2).reshape(q_THK.shape)

    def _attend_short(self, q_BHLK: Tensor, k_BGLK: Tensor, v_BGLK: Tensor) -> Tensor:
        """Scores written out: on a CPU the backward pass of SDPA is slower (bf16)."""
        batch, heads, length, size = q_BHLK.shape
        groups = k_BGLK.shape[1]
        if self.mask_LL is None or self.mask_LL.shape[0] != length:
            self.mask_LL = q_BHLK.new_full((length, length), -torch.inf).triu(1)
        q_BGQK = (q_BHLK * self.config.attention_scale).reshape(batch, groups, -1, size)
        scores = (q_BGQK @ k_BGLK.transpose(-1, -2)).view(batch, groups, -1, length, length)
        probs = (scores + self.mask_LL).softmax(-1).view(batch, groups, -1, length)
        return (probs @ v_BGLK).view(batch, heads, length, size)
