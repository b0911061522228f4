"""The whole transformer: one definition, with flags, for every family the engine runs.

Decoder-only, pre-norm, rotary positions, grouped-query attention, gated MLP (Touvron et al. 2023
and its descendants). Tokens arrive packed as one row [T]; which of them may look at which, and
where old keys and values live, is the business of `memory` (minillm/cache/), never of this file.
"""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from minillm import ops
from minillm.config import ModelConfig

ACTIVATIONS = {
    "silu": F.silu,
    "gelu": F.gelu,
    "gelu_tanh": lambda x: F.gelu(x, approximate="tanh"),
}


ROPE_BLOCK = 256  # positions whose RoPE tables are kept between steps of one token


def qkv_rows(config: ModelConfig) -> tuple[int, int, int]:
    """Rows of q, k and v in the joint matrix of an attention layer: H*K, G*K, G*K."""
    kv = config.num_kv_heads * config.head_size
    return config.num_heads * config.head_size, kv, kv


def _call(self, *args, **kwargs):
    """Straight to forward while no hook is set on this module; with hooks as nn.Module does it.

    A step of a small model is mostly the fixed cost of its many calls and small operations.
    """
    before, after = self._forward_pre_hooks, self._forward_hooks
    if before or after or self._backward_hooks or self._backward_pre_hooks:
        return nn.Module.__call__(self, *args, **kwargs)
    return self.forward(*args, **kwargs)


class Linear(nn.Linear):
    """nn.Linear, called directly."""

    __call__ = _call

    def forward(self, x_TI: Tensor) -> Tensor:
        return ops.linear(x_TI, self.weight, self.bias)


class RMSNorm(nn.Module):
    """Scale every vector to length sqrt(size), then by a learned weight (or 1 + weight)."""

    __call__ = _call

    def __init__(self, size: int, eps: float, plus_one: bool):
        super().__init__()
        self.eps, self.plus_one = eps, plus_one
        self.weight = nn.Parameter(torch.zeros(size) if plus_one else torch.ones(size))

    def forward(self, x_TD: Tensor) -> Tensor:
        return ops.rms_norm(x_TD, self.weight, self.eps, self.plus_one)


class Attention(nn.Module):
    """Queries from H heads, keys and values from G heads; the memory does the looking back.

    The three projections are one matrix, [q; k; v]: one multiplication in place of three.
    """

    __call__ = _call

    def __init__(self, config: ModelConfig):
        super().__init__()
        c = config
        self.num_heads, self.num_kv_heads, self.head_size = c.num_heads, c.num_kv_heads, c.head_size
        self.qkv = Linear(c.width, sum(qkv_rows(c)), bias=c.qkv_bias)
        self.o = Linear(c.num_heads * c.head_size, c.width, bias=c.output_bias)
        norm = lambda: RMSNorm(c.head_size, c.norm_eps, c.norm_plus_one)
        self.q_norm = norm() if c.qk_norm else None
        self.k_norm = norm() if c.qk_norm else None

    def forward(self, x_TD: Tensor, layer: int, rope, memory) -> Tensor:
        h, g = self.num_heads, self.num_kv_heads
        qkv = self.qkv(x_TD).view(x_TD.shape[0], h + 2 * g, self.head_size)
        qk, v_TGK = qkv.split_with_sizes((h + g, g), dim=1)
        if self.q_norm is not None:
            qk = ops.norm_heads(qk, self.q_norm, self.k_norm, h)
        q_THK, k_TGK = ops.apply_rope(qk, *rope).split_with_sizes((h, g), dim=1)
        out_THK = memory.attend(layer, q_THK, k_TGK, v_TGK)
        return self.o(out_THK.reshape(x_TD.shape[0], -1))


class MLP(nn.Module):
    """Gated MLP (Shazeer 2020): down(activation(gate(x)) * up(x)); [gate; up] is one matrix."""

    __call__ = _call

    def __init__(self, config: ModelConfig):
        super().__init__()
        c = config
        self.gate_up = Linear(c.width, 2 * c.mlp_width, bias=c.mlp_bias)
        self.down = Linear(c.mlp_width, c.width, bias=c.mlp_bias)
        self.activation = ACTIVATIONS[c.activation]

    def forward(self, x_TD: Tensor) -> Tensor:
        gate_TF, up_TF = self.gate_up(x_TD).chunk(2, dim=-1)
        return self.down(self.activation(gate_TF) * up_TF)


class Block(nn.Module):
    """Two additions to the residual stream: attention, then MLP."""

    __call__ = _call

    def __init__(self, config: ModelConfig, layer: int):
        super().__init__()
        norm = lambda: RMSNorm(config.width, config.norm_eps, config.norm_plus_one)
        self.layer = layer
        self.attention_norm, self.mlp_norm = norm(), norm()
        self.attention, self.mlp = Attention(config), MLP(config)
        self.attention_post_norm = norm() if config.post_norms else None
        self.mlp_post_norm = norm() if config.post_norms else None

    def forward(self, x_TD: Tensor, rope, memory) -> Tensor:
        attended_TD = self.attention(self.attention_norm(x_TD), self.layer, rope, memory)
        if self.attention_post_norm is not None:
            attended_TD = self.attention_post_norm(attended_TD)
        x_TD = x_TD + attended_TD
        added_TD = self.mlp(self.mlp_norm(x_TD))
        if self.mlp_post_norm is not None:
            added_TD = self.mlp_post_norm(added_TD)
        return x_TD + added_TD


class Transformer(nn.Module):
    """Tokens in, logits out. `model.config` is its ModelConfig."""

    def __init__(self, config: ModelConfig):
        super().__init__()
        self.config = config
        self.embedding = nn.Embedding(config.vocab_size, config.width)
        self.layers = nn.ModuleList(Block(config, i) for i in range(config.num_layers))
        self.norm = RMSNorm(config.width, config.norm_eps, config.norm_plus_one)
        self.head = Linear(config.width, config.vocab_size, bias=False)
        if config.tie_embeddings:
            self.head.weight = self.embedding.weight
        self._freq = {}  # (dtype, device) -> RoPE frequencies; derived, so not in the state
        self._kept = {}  # (dtype, device) -> (number of the block, its RoPE tables)

    def forward(self, tokens_T: Tensor, pos_T=None, memory=None, rows=None) -> Tensor:
        """Logits of the next token after each position.

        tokens_T: int64 [T]. pos_T: int64 [T], position of each token in its own sequence; None
        counts on from what the memory holds. memory: a view of one batch (None: no past, one
        sequence). rows: int64 indices into T whose logits are wanted (None: all T).
        Returns [T or len(rows), V] in the dtype of the weights.
        """
        if memory is None:
            from minillm.cache.simple import NoCache

            memory = NoCache(self.config)
        same = pos_T is None or pos_T.shape == tokens_T.shape
        assert tokens_T.dim() == 1 and same, "tokens_T, pos_T: both [T]"
        x_TD = self.embedding(tokens_T)
        if self.config.embedding_scale != 1.0:  # rounded to the weights' dtype, as trained
            x_TD = x_TD * torch.tensor(self.config.embedding_scale, dtype=x_TD.dtype)
        if pos_T is None:
            ropes = self._next_tables(memory.length, tokens_T.shape[0], x_TD)
        else:
            ropes = self.rope_tables(pos_T, x_TD.dtype)
        for layer, rope_index in zip(self.layers, self.config.rope_of_layer):
            x_TD = layer(x_TD, ropes[rope_index], memory)
        if rows is not None:
            x_TD = x_TD[rows]
        return self.head(self.norm(x_TD))

    def _next_tables(self, start: int, count: int, x_TD: Tensor) -> list[tuple[Tensor, Tensor]]:
        """rope_tables of positions start, start + 1 ...; for one token read from a kept block."""
        if count != 1:
            pos_T = torch.arange(start, start + count, device=x_TD.device)
            return self.rope_tables(pos_T, x_TD.dtype)
        key, (block, at) = (x_TD.dtype, x_TD.device), divmod(start, ROPE_BLOCK)
        if self._kept.get(key, (None,))[0] != block:
            first = block * ROPE_BLOCK
            with torch.inference_mode(False):  # kept: they may meet a step with gradients later
                pos_T = torch.arange(first, first + ROPE_BLOCK, device=x_TD.device)
                self._kept[key] = block, self.rope_tables(pos_T, x_TD.dtype)
        return [(cos[at : at + 1], sin[at : at + 1]) for cos, sin in self._kept[key][1]]

    def rope_tables(self, pos_T: Tensor, dtype: torch.dtype) -> list[tuple[Tensor, Tensor]]:
        """(cos, sin) for each RopeConfig of the model, shared by all layers that use it."""
        wide = torch.float64 if dtype == torch.float64 else torch.float32
        key = (wide, pos_T.device)
        if key not in self._freq:
            self._freq[key] = [
                ops.rope_frequencies(r, self.config.head_size, wide).to(pos_T.device)
                for r in self.config.ropes
            ]
        return [
            ops.rope_tables(pos_T, freq, rope.attention_factor, dtype)
            for rope, freq in zip(self.config.ropes, self._freq[key])
        ]

    def num_parameters(self) -> int:
        """Parameters, packed ones too; a tied matrix counted once."""
        packed = sum(getattr(m, "num_packed", 0) for m in self.modules())
        return packed + sum(p.numel() for p in self.parameters())

    def weight_bytes(self) -> dict[str, dict[str, int]]:
        """Bytes really held, as {part: {format: bytes}}; parts embedding, linear, head, other.

        A matrix that two parts share (tied head) is counted once, under embedding. Quantised
        layers name their formats themselves (their scales apart).
        """
        from minillm.weight_bytes import weight_bytes

        return weight_bytes(self)
