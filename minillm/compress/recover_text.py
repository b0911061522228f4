"""What recovery trains on: the default model's own text, or texts of the caller's."""

from __future__ import annotations

import hashlib

import torch
from torch import Tensor

from minillm import train as training
from minillm.compress.calibrate import check_texts


class Corpus:
    """The text that the default model was trained on, made as it is needed."""

    def __init__(self, tokenizer, config):
        self.tokenizer, self.config = tokenizer.backend, config

    def mark(self) -> str:
        """Tells this text from others."""
        return hashlib.sha256(self.tokenizer.to_str().encode()).hexdigest()

    def batches(self, start: int):
        plan = training.TrainConfig(
            steps=self.config.steps, tokens_per_step=self.config.tokens_per_step,
            row_length=self.config.row_length, seed=self.config.seed,
        )  # fmt: skip
        return training.batches(self.tokenizer, plan, start)

    def held(self) -> list:
        """Two batches of a seed of their own."""
        plan = training.TrainConfig(seed=self.config.seed, row_length=self.config.row_length)
        name = f"{self.config.seed}/held"
        tokens, weights = training.make_rows(self.tokenizer, plan, self.config.row_length, name)
        rows = max(1, self.config.tokens_per_step // self.config.row_length)
        parts = [slice(i * rows, (i + 1) * rows) for i in range(2)]
        return [(tokens[p, :-1], tokens[p, 1:], weights[p, 1:]) for p in parts]


class Texts:
    """The caller's own texts, one behind the other, in rows that begin anywhere."""

    def __init__(self, model, texts, config):
        joined = torch.cat(check_texts(model, texts))
        kept = max(config.row_length + 1, len(joined) // 10)
        if len(joined) < 2 * kept:
            raise ValueError(
                f"texts hold {len(joined)} tokens: recovery needs at least "
                f"{2 * (config.row_length + 1)} (two rows of row_length={config.row_length})"
            )
        self.config, self.apart, self.train = config, joined[-kept:], joined[:-kept]
        self.rows = max(1, config.tokens_per_step // config.row_length)
        self.joined = joined

    def mark(self) -> str:
        return hashlib.sha256(self.joined.cpu().numpy()).hexdigest()

    def batches(self, start: int):
        for step in range(start, self.config.steps):
            generator = torch.Generator().manual_seed(self.config.seed * 1_000_003 + step)
            last = len(self.train) - self.config.row_length
            yield self._batch(self.train, torch.randint(last, (self.rows,), generator=generator))

    def held(self) -> list:
        last = len(self.apart) - self.config.row_length
        starts = torch.arange(0, last, self.config.row_length)[: 2 * self.rows]
        return [self._batch(self.apart, part) for part in starts.split(self.rows)]

    def _batch(self, tokens_T: Tensor, starts_B: Tensor):
        rows = tokens_T[starts_B[:, None] + torch.arange(self.config.row_length + 1)]
        return rows[:, :-1], rows[:, 1:], torch.ones(rows[:, 1:].shape)
