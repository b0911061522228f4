"""The K/V pool in blocks, and the view of one batch through which the model attends.

The pool knows tensors and slots, never which request owns what (that is blocks.py). A slot is one
token's place: block id * block_size + offset. Unused slots may hold anything, NaN included: no
result depends on them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor

from minillm import ops
from minillm.config import ModelConfig

INT8_MAX = 127
FEW_NUMBERS = 1 << 16  # of K and V up to which one operation beats two on all cores (this CPU)


@dataclass(frozen=True)
class Batch:
    """The memory side of one step, as tensors. S requests, T new tokens, packed request by request.

    Requests with one new token come first (`num_single` of them): they attend together.
    """

    slots_T: Tensor  # int64, where each new token's K and V go
    block_table_SM: Tensor  # int64, padded with any valid block
    len_S: Tensor  # int64, tokens of each request after this step
    counts: tuple[int, ...]  # new tokens of each request
    num_single: int


class PagedCache:
    """K and V of all requests: kv is [layers, 2, N * P, G, K], N blocks of P tokens.

    kv_dtype: a floating dtype, or "int8": one byte a number and one scale for each token and head
    (stored once, never quantised again), K and V read back in `dtype`.
    """

    def __init__(self, config: ModelConfig, num_blocks: int, block_size: int, dtype=torch.float32,
                 kv_dtype=None, device="cpu"):  # fmt: skip
        self.config, self.num_blocks, self.block_size = config, num_blocks, block_size
        self.dtype = dtype
        shape = (config.num_layers, 2, num_blocks * block_size, config.num_kv_heads)
        self.int8 = kv_dtype == "int8"
        stored = torch.int8 if self.int8 else (kv_dtype or dtype)
        self.kv = torch.zeros(*shape, config.head_size, dtype=stored, device=device)
        scale_dtype = ops.at_least_fp32(torch.empty(0, dtype=dtype)).dtype
        self.scale = torch.ones(*shape, dtype=scale_dtype, device=device) if self.int8 else None

    @property
    def nbytes(self) -> int:
        """Bytes really held, scales included."""
        return self.kv.nbytes + (self.scale.nbytes if self.int8 else 0)

    def copy_blocks(self, copies: Sequence[tuple[int, int]]) -> None:
        """Copy whole blocks, all layers: what copy on write asks for."""
        if not copies:
            return
        pairs = torch.tensor(copies, device=self.kv.device)
        offsets = torch.arange(self.block_size, device=self.kv.device)
        old, new = ((pairs[:, i : i + 1] * self.block_size + offsets).flatten() for i in (0, 1))
        for tensor in (self.kv, self.scale) if self.int8 else (self.kv,):
            tensor[:, :, new] = tensor[:, :, old]

    def write(self, layer: int, slots_T: Tensor, k_TGK: Tensor, v_TGK: Tensor) -> None:
        """Store the new tokens' K and V."""
        store = ops.kernel("kv_store", k_TGK) or _store
        store(k_TGK, v_TGK, slots_T, *self.layer(layer))

    def layer(self, layer: int) -> tuple[Tensor, ...]:
        """K and V of one layer, [N * P, G, K] each; of int8 also their scales, [N * P, G]."""
        kv = self.kv[layer]
        return (kv[0], kv[1], *self.scale[layer]) if self.int8 else (kv[0], kv[1])

    def read(self, layer: int, slots: Tensor) -> tuple[Tensor, Tensor]:
        """K and V of slots of any shape -> two [*slots.shape, G, K]."""
        both = self._gather(self.kv[layer], slots.flatten())
        if self.int8:
            scales = self._gather(self.scale[layer], slots.flatten())
            both = [x.to(s.dtype) * s[..., None] for x, s in zip(both, scales)]
        k, v = (x.to(self.dtype).view(*slots.shape, *x.shape[1:]) for x in both)
        return k, v

    @staticmethod
    def _gather(pool_2N: Tensor, slots_L: Tensor) -> Sequence[Tensor]:
        """The same rows of K and of V. Together is one operation, but on one core of a CPU."""
        row = pool_2N[0, 0].numel()
        if pool_2N.is_cpu and slots_L.numel() * row <= FEW_NUMBERS:
            return pool_2N.index_select(1, slots_L).unbind()
        return [half.index_select(0, slots_L) for half in pool_2N]

    def at(self, batch: Batch) -> PagedView:
        """The memory of one step."""
        return PagedView(self, batch)


def kv_store(k_TGK, v_TGK, slots_T, k_NGK, v_NGK, k_scale_NG=None, v_scale_NG=None) -> None:
    """The twin of kernels/kv_store.py: a slot of -1 is padding, nothing is written for it."""
    kept = slots_T >= 0
    _store(k_TGK[kept], v_TGK[kept], slots_T[kept], k_NGK, v_NGK, k_scale_NG, v_scale_NG)


def _store(k_TGK, v_TGK, slots_T, k_NGK, v_NGK, k_scale_NG=None, v_scale_NG=None) -> None:
    """Write into the slots of one layer, all of them real."""
    for x_TGK, pool, scales in ((k_TGK, k_NGK, k_scale_NG), (v_TGK, v_NGK, v_scale_NG)):
        if scales is not None:
            x_TGK, scale_TG = quantize_tokens(x_TGK)
            scales.index_copy_(0, slots_T, scale_TG.to(scales.dtype))
        pool.index_copy_(0, slots_T, x_TGK.to(pool.dtype))


def quantize_tokens(x_TGK: Tensor) -> tuple[Tensor, Tensor]:
    """Symmetric int8 with one scale for each token and head -> (int8 [T, G, K], scale [T, G])."""
    wide = ops.at_least_fp32(x_TGK)
    scale_TG = wide.abs().amax(-1) / INT8_MAX
    safe = torch.where(scale_TG == 0, torch.ones_like(scale_TG), scale_TG)
    return (wide / safe[..., None]).round().clamp(-INT8_MAX, INT8_MAX).to(torch.int8), safe


class PagedView:
    """`memory` of one step of the model: writes the new tokens, attends through the block table."""

    length = 0  # positions are given explicitly in a batch

    def __init__(self, cache: PagedCache, batch: Batch):
        self.cache, self.batch = cache, batch
        self.singles = None  # made with the first q: its device and format choose

    def attend(self, layer: int, q_THK: Tensor, k_TGK: Tensor, v_TGK: Tensor) -> Tensor:
        cache, batch = self.cache, self.batch
        cache.write(layer, batch.slots_T, k_TGK, v_TGK)
        parts, start = [], batch.num_single
        if start:
            if self.singles is None:
                self.singles = _singles(cache, batch, q_THK)
            parts.append(self.singles.attend(layer, q_THK[:start]))
        c = cache.config
        for request in range(batch.num_single, len(batch.counts)):
            end = start + batch.counts[request]
            k_LGK, v_LGK = cache.read(layer, self._slots(request))
            q_tHK = q_THK[start:end]
            parts.append(ops.attention(q_tHK, k_LGK, v_LGK, c.attention_scale, c.windows[layer]))
            start = end
        return parts[0] if len(parts) == 1 else torch.cat(parts)

    def _slots(self, request: int) -> Tensor:
        """Slots of all tokens of one request, in order -> [L]."""
        length = int(self.batch.len_S[request])
        return slots_of(self.batch.block_table_SM[request], length, self.cache.block_size)


def _singles(cache: PagedCache, batch: Batch, q_THK: Tensor):
    """The kernel where it runs on q, else all requests gathered together."""
    fast = ops.kernel("paged_attention", q_THK)
    return _KernelSingles(cache, batch, fast) if fast else _Singles(cache, batch)


class _KernelSingles:
    """All requests with one new token, by the Triton kernel: it follows the block tables itself.

    Nothing here depends on a length, so a captured CUDA graph may hold it.
    """

    def __init__(self, cache: PagedCache, batch: Batch, paged_attention):
        self.cache, self.paged_attention, count = cache, paged_attention, batch.num_single
        self.block_table_SM, self.len_S = batch.block_table_SM[:count], batch.len_S[:count]

    def attend(self, layer: int, q_SHK: Tensor) -> Tensor:
        c = self.cache.config
        k_NGK, v_NGK, *scales = self.cache.layer(layer)
        return self.paged_attention(
            q_SHK, k_NGK, v_NGK, self.block_table_SM, self.len_S, self.cache.block_size,
            c.attention_scale, c.windows[layer], *scales,
        )  # fmt: skip


class _Singles:
    """All requests with one new token: gathered to [S, L, G, K], the slot lists made once a step.

    Places past a request's end read its first slot instead, a real token: masked scores of -inf
    give them weight 0, and 0 times a real number is 0 where 0 times NaN would not be.
    """

    def __init__(self, cache: PagedCache, batch: Batch):
        self.cache, count = cache, batch.num_single
        len_S = batch.len_S[:count]
        length, size = int(len_S.max()), cache.block_size
        place_L = torch.arange(length, device=len_S.device)
        block_SL = batch.block_table_SM[:count, : -(-length // size)].repeat_interleave(size, 1)
        slots_SL = block_SL[:, :length] * size + place_L % size
        valid_SL = place_L < len_S[:, None]
        self.slots_SL = torch.where(valid_SL, slots_SL, slots_SL[:, :1])
        self.masks = {
            window: self._mask(valid_SL, place_L, len_S, window)
            for window in set(cache.config.windows)
        }

    def _mask(self, valid_SL, place_L, len_S, window) -> Tensor:
        """What is added to the scores: 0 or -inf -> [S, 1, 1, L]."""
        if window is not None:
            valid_SL = valid_SL & (place_L >= len_S[:, None] - window)
        mask = torch.zeros(valid_SL.shape, dtype=self.cache.dtype, device=valid_SL.device)
        return mask.masked_fill(~valid_SL, -torch.inf)[:, None, None]

    def attend(self, layer: int, q_SHK: Tensor) -> Tensor:
        c = self.cache.config
        k_SLGK, v_SLGK = self.cache.read(layer, self.slots_SL)
        q_SGrK = q_SHK.view(-1, c.num_kv_heads, c.queries_per_kv, c.head_size)
        out = F.scaled_dot_product_attention(
            q_SGrK, k_SLGK.transpose(1, 2), v_SLGK.transpose(1, 2),
            attn_mask=self.masks[c.windows[layer]], scale=c.attention_scale,
        )  # fmt: skip
        return out.reshape(q_SHK.shape)


def slots_of(table_M: Tensor, length: int, block_size: int) -> Tensor:
    """Slots of the first `length` tokens of a block table -> [L]."""
    place_L = torch.arange(length, device=table_M.device)
    return table_M[place_L // block_size] * block_size + place_L % block_size


def paged_attention(q_SHK, k_NGK, v_NGK, block_table_SM, len_S, block_size, scale, window=None,
                    k_scale_NG=None, v_scale_NG=None) -> Tensor:  # fmt: skip
    """The twin of kernels/paged_attention.py: each request's one query over its own tokens."""
    out_SHK = torch.zeros_like(q_SHK)
    for request, length in enumerate(len_S.tolist()):
        slots_L = slots_of(block_table_SM[request], length, block_size)
        k_LGK, v_LGK = k_NGK[slots_L], v_NGK[slots_L]
        if k_scale_NG is not None:
            k_LGK = k_LGK.to(k_scale_NG.dtype) * k_scale_NG[slots_L][..., None]
            v_LGK = v_LGK.to(v_scale_NG.dtype) * v_scale_NG[slots_L][..., None]
        if length:
            q_1HK, kind = q_SHK[request : request + 1], q_SHK.dtype
            out_SHK[request] = ops.attention(q_1HK, k_LGK.to(kind), v_LGK.to(kind), scale, window)[
                0
            ]
    return out_SHK
