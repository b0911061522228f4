"""finetune(model, ...): a short training run that brings back what pruning took.

Two losses, mixed: the next token of the text, and distillation (Hinton et al. 2015): at every
place the distribution that the unpruned model writes, which says more than the one right token.
"""

from __future__ import annotations

import math
import os
import time
from dataclasses import dataclass, replace
from pathlib import Path

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from tqdm import tqdm

from minillm import checkpoint
from minillm import train as training
from minillm.cache.simple import PackedRows
from minillm.compress.quant import check_dense
from minillm.compress.recover_text import Corpus, Texts


@dataclass(frozen=True)
class RecoverConfig:
    """How long and how hard; every number that decides the result."""

    steps: int = 1000
    tokens_per_step: int = 4096
    row_length: int = 256  # tokens
    matrix_lr: float = 0.01  # Muon, for matrices; half of what the default model began with
    other_lr: float = 1e-3  # AdamW, for the embedding and the norms
    distill: float = 0.7  # share of the distillation loss, where there is a teacher
    temperature: float = 1.0  # of both distributions
    weight_decay: float = 0.0  # pulls towards 0 what pruning has just judged worth keeping
    warmup: int = 20  # steps
    check_every: int = 50  # steps between two looks at text that is not trained on
    patience: int | None = None  # looks without a better loss before it stops; None: never early
    seed: int = 1


def finetune(
    model, tokenizer=None, texts=None, teacher=None, config: RecoverConfig | None = None,
    keep_zeros: bool = True, folder=None, progress=tqdm, **options,
):  # fmt: skip
    """A trained copy of `model`; `model` and `teacher` stay as they are.

    Text: the default model's own training text (give its `tokenizer`), or `texts`, a list of token
    ids; a tenth of it is kept apart to watch the loss. teacher: the unpruned model; without it the
    plain loss is all. keep_zeros: weights that are exactly 0 stay so, and a pattern such as 2:4
    survives. folder: state is saved there and a second call goes on from it. options: fields of
    RecoverConfig, e.g. steps=200. progress: tqdm or alike.
    The weights returned are those of the best look at the text kept apart, in the dtype of `model`;
    16-bit weights are trained in fp32, where a small step is not lost.
    Raises ValueError for a quantised model, for texts that are too short, for a loss that is NaN
    from the start, and for a folder that is damaged or belongs to other weights or settings.
    """
    config = replace(config or RecoverConfig(), **options)
    _check(model, teacher, config, tokenizer, texts)
    source = Corpus(tokenizer, config) if texts is None else Texts(model, texts, config)
    student = _trainable(model)
    masks = {n: p != 0 for n, p in student.named_parameters() if p.dim() == 2 and keep_zeros}
    masks = {n: mask for n, mask in masks.items() if not mask.all()}
    settings = None
    if folder:
        marks = checkpoint.mark_of(model), checkpoint.mark_of(teacher), source.mark()
        settings = _Settings(config, str(model.config), keep_zeros, *marks)
    run = _Run(student, teacher, masks, config, Path(folder) if folder else None, settings)
    run.go(source, progress)
    dtype = model.embedding.weight.dtype
    return _frozen({name: t.to(dtype) for name, t in run.best.items()}, model.config)


class _Run:
    """One training run and all that a checkpoint holds of it."""

    def __init__(self, student, teacher, masks, config, folder, settings):
        self.student, self.teacher, self.masks = student, teacher, masks
        self.config, self.folder, self.settings = config, folder, settings
        self.optimizers = training.make_optimizers(student, config)
        self.best, self.best_loss, self.since = _copy(student), float("inf"), 0
        self.start, self.seconds = 0, 0.0
        if folder:
            self.load()

    def go(self, source, progress) -> None:
        """Train until the steps are done, or the loss no longer falls."""
        bar = progress(initial=self.start, total=self.config.steps, unit="step", desc="recovery")
        clock, held = time.perf_counter(), source.held()
        if self.start == 0:
            self.look(held)  # so that training can only make it better
            if not math.isfinite(self.best_loss):
                raise ValueError(
                    "the loss is inf or NaN before the first step: look at the weights"
                )
        for step, batch in enumerate(source.batches(self.start), self.start):
            self.step(step, batch)
            bar.update(1)
            if (step + 1) % self.config.check_every == 0 or step + 1 == self.config.steps:
                self.look(held)
                bar.set_postfix(loss=f"{self.best_loss:.4f}")
                self.save(step + 1, self.seconds + time.perf_counter() - clock)
                if self.config.patience is not None and self.since >= self.config.patience:
                    break
        bar.close()

    def step(self, step: int, batch) -> None:
        peaks = (self.config.matrix_lr, self.config.other_lr)
        for optimizer, peak in zip(self.optimizers, peaks):
            optimizer.param_groups[0]["lr"] = peak * rate(step, self.config)
        with torch.enable_grad():
            loss = loss_of(self.student, self.teacher, batch, self.config)
            self.student.zero_grad(set_to_none=True)
            loss.backward()
        parameters = dict(self.student.named_parameters())
        for name, mask in self.masks.items():
            parameters[name].grad *= mask  # momentum must not gather behind a mask
        nn.utils.clip_grad_norm_(self.student.parameters(), 1.0)
        for optimizer in self.optimizers:
            optimizer.step()
        with torch.no_grad():
            for name, mask in self.masks.items():
                parameters[name].masked_fill_(~mask, 0.0)  # not *=: that can leave -0.0

    @torch.no_grad()
    def look(self, held) -> None:
        """Loss on text that is not trained on; the best weights so far are kept."""
        losses = [float(loss_of(self.student, self.teacher, b, self.config)) for b in held]
        loss = sum(losses) / len(losses)
        if loss < self.best_loss:
            self.best, self.best_loss, self.since = _copy(self.student), loss, 0
        else:
            self.since += 1

    def save(self, step: int, seconds: float) -> None:
        if not self.folder:
            return
        extra = {"best": self.best, "best_loss": self.best_loss, "since": self.since}
        checkpoint.save_checkpoint(
            self.folder, self.student, self.optimizers, self.settings, step, seconds,
            self.best_loss, extra,
        )  # fmt: skip

    def load(self) -> None:
        try:
            self.folder.mkdir(parents=True, exist_ok=True)  # now, not after minutes of training
            if not os.access(self.folder, os.W_OK):
                raise PermissionError("no permission")
            found = checkpoint.load_checkpoint(
                self.folder, self.student, self.optimizers, self.settings
            )
            self.start, self.seconds, extra = found
            if self.start:
                self.go_on(extra)
        except OSError as error:
            reason = error.strerror or error
            raise ValueError(f"folder={str(self.folder)!r} cannot be used: {reason}") from None
        except checkpoint.CheckpointError as error:
            raise ValueError(f"{error}: remove it, or name another folder") from None

    def go_on(self, extra) -> None:
        """The best look so far, if it is one of this model's."""
        try:
            best, best_loss, since = (extra[key] for key in ("best", "best_loss", "since"))
            sizes = {name: tensor.shape for name, tensor in best.items()}
            if sizes != {name: p.shape for name, p in self.student.named_parameters()}:
                raise ValueError("other parameters")
            self.best, self.best_loss, self.since = best, float(best_loss), int(since)
        except (LookupError, TypeError, ValueError, AttributeError) as error:
            raise checkpoint.damaged(self.folder / "checkpoint.pt", error) from None


@dataclass(frozen=True)
class _Settings:
    """What a folder's state belongs to."""

    recover: RecoverConfig
    shape: str
    keep_zeros: bool
    model: str  # marks of the weights: other zeros in the same shape are another run
    teacher: str
    texts: str


def rate(step: int, config: RecoverConfig) -> float:
    """Share of the full learning rate: a short warm-up, then a straight line to 0."""
    return min((step + 1) / config.warmup, (config.steps - step) / config.steps)


def loss_of(student, teacher, batch, config: RecoverConfig) -> Tensor:
    """(1 - distill) * next-token loss + distill * T^2 * KL(teacher, student), nats a token.

    Means over the tokens that count, by their weights. T^2 keeps the size of the gradient when T
    softens both distributions.
    """
    tokens_BL, targets_BL, weights_BL = (t.to(student.embedding.weight.device) for t in batch)
    wanted = weights_BL.flatten().nonzero().flatten()
    weights = weights_BL.flatten()[wanted] / weights_BL.sum()
    logits = _logits(student, tokens_BL, wanted)
    targets = targets_BL.flatten()[wanted]
    plain = (F.cross_entropy(logits, targets, reduction="none") * weights).sum()
    if teacher is None:
        return plain
    with torch.no_grad():
        wanted_log = (_logits(teacher, tokens_BL, wanted) / config.temperature).log_softmax(-1)
    own_log = (logits / config.temperature).log_softmax(-1)
    kl = (wanted_log.exp() * (wanted_log - own_log)).sum(-1) * config.temperature**2
    return (1 - config.distill) * plain + config.distill * (kl * weights).sum()


def _logits(model, tokens_BL: Tensor, wanted: Tensor) -> Tensor:
    memory = PackedRows(model.config, tokens_BL.shape[0])
    positions = memory.positions(tokens_BL.numel()).to(tokens_BL.device)
    return model(tokens_BL.flatten(), positions, memory, rows=wanted).float()


def _check(model, teacher, config: RecoverConfig, tokenizer, texts) -> None:
    check_dense(model)
    if (tokenizer is None) == (texts is None):
        raise ValueError("say what to train on: tokenizer=... (the default model's text) or texts=")
    if teacher is not None and teacher.config.vocab_size != model.config.vocab_size:
        raise ValueError("model and teacher need the same vocabulary")
    for name in ("steps", "tokens_per_step", "row_length", "check_every", "warmup"):
        if type(getattr(config, name)) is not int or getattr(config, name) < 1:
            raise ValueError(f"{name} must be a whole number from 1, got {getattr(config, name)!r}")
    if not 0 <= config.distill <= 1 or not config.temperature > 0:
        raise ValueError("distill must be from 0 to 1, and temperature above 0")
    limit = min([model.config.max_len, *(w for w in model.config.windows if w)])
    if config.row_length > limit:
        raise ValueError(f"row_length must be at most {limit} (context or window of the model)")


def _trainable(model) -> nn.Module:
    """A copy in fp32 (or more), stored row by row as the optimisers want it."""
    from minillm.model import Transformer
    from minillm.weights import empty_model

    with torch.inference_mode(False):
        new = empty_model(model.config)
        wide = torch.promote_types(model.embedding.weight.dtype, torch.float32)
        own = dict(dtype=wide, copy=True, memory_format=torch.contiguous_format)
        state = {n: p.detach().to(**own).requires_grad_() for n, p in model.named_parameters()}
        assert isinstance(new, Transformer)
        new.load_state_dict(state, strict=False, assign=True)
        if model.config.tie_embeddings:
            new.head.weight = new.embedding.weight
        return new.requires_grad_(True).train()


def _copy(model: nn.Module) -> dict[str, Tensor]:
    return {n: p.detach().clone() for n, p in model.named_parameters()}


def _frozen(tensors: dict[str, Tensor], config):
    from minillm.weights import empty_model, fill

    return fill(empty_model(config), tensors)
