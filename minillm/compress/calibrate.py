"""What goes into every linear layer, measured block by block on calibration text.

Only one block's inputs are held at a time: [tokens, width] for each text, and for each of its
linear layers the sums below. A block is changed by the caller before the next one is looked at, so
later blocks see what earlier ones really compute.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from minillm import corpus
from minillm.cache.simple import NoCache


@dataclass
class Inputs:
    """Sums over all tokens that entered one linear layer."""

    hessian_KK: Tensor  # sum of x x^T, float64
    abs_K: Tensor  # sum of |x|, float64
    square_K: Tensor  # sum of x^2: the diagonal
    count: int = 0  # tokens

    def divided(self, scale_K: Tensor) -> Inputs:
        """The sums as they would be if every input channel were divided by scale_K."""
        hessian_KK = self.hessian_KK / (scale_K[:, None] * scale_K)
        return Inputs(hessian_KK, self.abs_K / scale_K, hessian_KK.diagonal(), self.count)

    @classmethod
    def empty(cls, columns: int, device=None) -> Inputs:
        """No tokens yet."""
        zeros = lambda *shape: torch.zeros(*shape, dtype=torch.float64, device=device)
        return cls(zeros(columns, columns), zeros(columns), zeros(columns))

    def add(self, x_TK: Tensor) -> None:
        """Count more tokens. Raises ValueError for inf or NaN."""
        if not x_TK.isfinite().all():
            raise ValueError("an activation is inf or NaN: the model cannot be calibrated")
        wide = x_TK.detach().double()
        self.hessian_KK += wide.T @ wide
        self.abs_K += wide.abs().sum(0)
        self.square_K = self.hessian_KK.diagonal()
        self.count += x_TK.shape[0]


def own_texts(tokenizer, count: int = 100, limit: int = 512) -> list[list[int]]:
    """Items of the default model's training text, none of its tests -> token ids, `limit` each."""
    items = itertools.islice(corpus.training_items(7), count)
    return [tokenizer.encode(item.prompt + item.answer)[:limit] for item in items]


def check_texts(model, calibration) -> list[Tensor]:
    """Calibration as a list of int64 [T]; ValueError with advice for what cannot be used."""
    if calibration is None:
        raise ValueError(
            "this method looks at activations: give calibration=[token ids, ...], some texts of "
            "the kind the model will read (a few thousand tokens)"
        )
    if isinstance(calibration, (str, bytes)) or any(isinstance(t, str) for t in calibration):
        raise ValueError("calibration holds token ids: encode the texts first")
    device, limit = model.embedding.weight.device, model.config.max_len
    texts = [torch.as_tensor(t, dtype=torch.int64, device=device).flatten() for t in calibration]
    if not texts or any(t.numel() == 0 for t in texts):
        raise ValueError("calibration must hold at least one text, and no empty one")
    if any(int(t.min()) < 0 or int(t.max()) >= model.config.vocab_size for t in texts):
        raise ValueError(f"calibration has token ids outside 0 .. {model.config.vocab_size - 1}")
    if (longest := max(t.numel() for t in texts)) > limit:
        raise ValueError(f"a calibration text has {longest} tokens, the context {limit}: cut it")
    return texts


@torch.no_grad()
def walk(
    model,
    texts: Sequence[Tensor],
    change: Callable[[int, nn.Module, dict[str, Inputs]], None],
    progress=None,
) -> None:
    """For each block: measure the inputs of its linear layers, let `change` work, go on.

    change(number, block, {name: Inputs}) may replace the block's layers. progress: a wrapper for
    the iterator over blocks, such as tqdm.
    """
    streams = [_embed(model, t) for t in texts]
    ropes = [model._next_tables(0, len(t), x) for t, x in zip(texts, streams)]
    memory = NoCache(model.config)
    blocks = list(enumerate(model.layers))
    for number, block in progress(blocks) if progress else blocks:
        which = model.config.rope_of_layer[number]
        found = _measure(block, [(x, r[which], memory) for x, r in zip(streams, ropes)])
        change(number, block, found)
        streams = [block(x, r[which], memory) for x, r in zip(streams, ropes)]


def _embed(model, tokens_T: Tensor) -> Tensor:
    x_TD = model.embedding(tokens_T)
    scale = model.config.embedding_scale
    return x_TD if scale == 1.0 else x_TD * torch.tensor(scale, dtype=x_TD.dtype)


def _measure(block: nn.Module, calls) -> dict[str, Inputs]:
    layers = {n: m for n, m in block.named_modules() if isinstance(m, nn.Linear)}
    found = {n: Inputs.empty(m.in_features, m.weight.device) for n, m in layers.items()}
    listen = lambda name: lambda module, args: found[name].add(args[0])
    hooks = [m.register_forward_pre_hook(listen(n)) for n, m in layers.items()]
    try:
        for call in calls:
            block(*call)
    finally:
        for hook in hooks:
            hook.remove()
    return found
