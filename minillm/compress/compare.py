"""How far a compressed model is from the one it was made of, beyond one perplexity."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from minillm import corpus
from minillm.cache.simple import NoCache
from minillm.compress.evaluate import _is_right

PLACES = 64  # compared at once: 1,024 of a vocabulary of 262,144 in double take 2 GB a copy


@dataclass(frozen=True)
class Distance:
    """Means over the tokens of some texts; all 0 (top1: 1) for equal models."""

    kl: float  # nats a token, from the first model to the second
    top1: float  # share of places where both would write the same token
    logit_error: float  # |difference| / |first|, both logits less their mean at each place
    tokens: int


@torch.inference_mode()
def distance(model, other, texts: Sequence[Sequence[int]]) -> Distance:
    """Compare next-token distributions at every place of every text (token ids).

    Raises ValueError without tokens.
    """
    kl = same = off = size = 0.0
    count = 0
    for tokens in texts:
        tokens_T = torch.as_tensor(tokens, device=model.embedding.weight.device)
        whole = [m(tokens_T, memory=NoCache(m.config)) for m in (model, other)]
        for a_TV, b_TV in zip(*(logits.split(PLACES) for logits in whole)):
            a_TV, b_TV = _centred(a_TV), _centred(b_TV)
            a_log, b_log = a_TV.log_softmax(-1), b_TV.log_softmax(-1)
            kl += float((a_log.exp() * (a_log - b_log)).sum())
            same += float((a_TV.argmax(-1) == b_TV.argmax(-1)).sum())
            off += float((a_TV - b_TV).square().sum())
            size += float(a_TV.square().sum())
        count += len(tokens_T)
    if not count:
        raise ValueError("distance needs at least one token")
    return Distance(kl / count, same / count, (off / size) ** 0.5 if size else 0.0, count)


def _centred(logits_TV: Tensor) -> Tensor:
    """Logits less their mean (a constant added to all changes nothing), in double precision."""
    logits_TV = logits_TV.double()
    return logits_TV - logits_TV.mean(-1, keepdim=True)


@dataclass(frozen=True)
class Flips:
    """Answers to one task before and after. Equal accuracy can hide many changed answers."""

    before: float  # share right of the first model
    after: float
    flipped: float  # share right in exactly one of the two


@torch.inference_mode()
def flips(model, other, tokenizer, count: int = 200, seed: int = 0, progress=None):
    """{task: Flips} on `count` unseen items of every task of the default model."""
    found = {}
    for task in progress(corpus.TASKS) if progress else corpus.TASKS:
        items = corpus.test_items(task, count, seed)
        right = [[_is_right(m, tokenizer, item) for item in items] for m in (model, other)]
        changed = sum(a != b for a, b in zip(*right))
        found[task] = Flips(sum(right[0]) / count, sum(right[1]) / count, changed / count)
    return found


def bits_per_weight(model) -> float:
    """Bits that a weight of the linear layers takes, scales and zero points included."""
    weights = sum(
        getattr(m, "num_packed", 0) or (m.weight.numel() if hasattr(m, "weight") else 0)
        for m in model.layers.modules()
        if hasattr(m, "in_features")
    )
    return 8 * sum(model.weight_bytes()["linear"].values()) / weights
