"""Train the default model: `python -m minillm.train`. Short on purpose: read it top to bottom.

Resumes by itself after a kill: the state on disk is the last checkpoint, and the data of a step
depends only on the seed and the step's number.
"""

from __future__ import annotations

import copy
import itertools
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor
from tqdm import tqdm
from typer import Option

from minillm import corpus
from minillm.bpe import train_tokenizer
from minillm.cache.simple import PackedRows
from minillm.checkpoint import CheckpointError, load_checkpoint, save_checkpoint
from minillm.config import ModelConfig, RopeConfig
from minillm.model import Transformer

TINY = ModelConfig(
    family="llama", vocab_size=1024, width=256, mlp_width=512, num_layers=6, num_heads=8,
    num_kv_heads=2, head_size=32, max_len=1024, ropes=(RopeConfig(theta=10_000.0),),
    tie_embeddings=True, bos_token_id=0, eos_token_ids=(0,),
)  # fmt: skip
SHARD_ROWS = 256  # rows made at a time; a few seconds of work


@dataclass(frozen=True)
class TrainConfig:
    """How the default model is trained; every number that decides the result."""

    steps: int = 6400
    tokens_per_step: int = 4096
    row_length: int = 256  # tokens; whole documents, packed
    long_row_length: int = 1024  # every `long_every`-th step sees the full context
    long_every: int = 10
    matrix_lr: float = 0.02  # Muon (Jordan et al. 2024), for matrices
    other_lr: float = 3e-3  # AdamW, for the embedding and the norms
    weight_decay: float = 0.01
    warmup: int = 100  # steps
    decay_share: float = 0.9  # the learning rate falls to 0 over the last part
    tale_weight: float = 0.5  # loss weight of a tale's token beside 1 for an answer's
    seed: int = 0
    compute: str = "auto"  # fp32 | bf16; auto is bf16 where the CPU multiplies it natively
    fp32_share: float = 0.05  # the last steps run in fp32, whatever `compute` says


def make_rows(tokenizer, config: TrainConfig, length: int, name: str) -> tuple[Tensor, Tensor]:
    """Pack whole documents into rows -> (tokens, loss weights of each token), [SHARD_ROWS, L + 1].

    A prompt weighs 0: it is random, nothing in it can be learned. The end token after an answer
    weighs as much as the answer. What is left of a row is filled with end tokens of weight 0.
    """
    shape = (SHARD_ROWS, length + 1)
    tokens, weights = np.zeros(shape, np.int64), np.zeros(shape, np.float32)
    documents = _encoded(tokenizer, config, name)
    for row in range(SHARD_ROWS):
        used = 1  # every row starts with an end token, id 0
        while True:
            prompt, answer, weight = document = next(documents)
            size = len(prompt) + len(answer) + 1
            if 1 + size > length + 1:
                raise ValueError(f"a document of {size} tokens is longer than a row of {length}")
            if used + size > length + 1:
                documents = itertools.chain([document], documents)
                break
            tokens[row, used : used + size - 1] = prompt + answer
            weights[row, used + len(prompt) : used + size] = weight
            used += size
    return torch.from_numpy(tokens), torch.from_numpy(weights)


def _encoded(tokenizer, config: TrainConfig, name: str):
    items = corpus.training_items(name)
    while True:
        batch = list(itertools.islice(items, 1000))
        encode = lambda texts: tokenizer.encode_batch(texts, add_special_tokens=False)
        prompts, answers = encode([i.prompt for i in batch]), encode([i.answer for i in batch])
        for item, prompt, answer in zip(batch, prompts, answers):
            yield prompt.ids, answer.ids, config.tale_weight if item.task == "tales" else 1.0


def batches(tokenizer, config: TrainConfig, start: int):
    """(tokens_BL, targets_BL, weights_BL) of every step from `start` on."""
    shards = {}  # the shard in use of each length
    for step in range(start, config.steps):
        turn, late = divmod(step, config.long_every)
        is_long = late == config.long_every - 1
        length = config.long_row_length if is_long else config.row_length
        nth = turn if is_long else step - turn  # among the steps of this length
        count = max(1, config.tokens_per_step // length)
        index = nth * count // SHARD_ROWS
        if length not in shards or shards[length][0] != index:
            name = f"{config.seed}/{length}/{index}"
            shards[length] = index, make_rows(tokenizer, config, length, name)
        first = nth * count % SHARD_ROWS
        tokens, weights = (x[first : first + count] for x in shards[length][1])
        yield tokens[:, :-1], tokens[:, 1:], weights[:, 1:]


def loss_of(model: Transformer, tokens_BL, targets_BL, weights_BL) -> Tensor:
    """Weighted mean cross-entropy, nats. Only rows that count go through the head."""
    memory = PackedRows(model.config, tokens_BL.shape[0])
    wanted = weights_BL.flatten().nonzero().flatten()
    logits = model(tokens_BL.flatten(), memory.positions(tokens_BL.numel()), memory, rows=wanted)
    nll = F.cross_entropy(logits.float(), targets_BL.flatten()[wanted], reduction="none")
    weights = weights_BL.flatten()[wanted]
    return (nll * weights).sum() / weights.sum()


def init_weights(model: Transformer, seed: int) -> None:
    """N(0, 0.02^2), with the two matrices that write to the residual stream made smaller."""
    generator = torch.Generator().manual_seed(seed)
    for name, weight in model.named_parameters():
        if weight.dim() == 2:
            writes = name.endswith(("o.weight", "down.weight"))
            std = 0.02 / (2 * model.config.num_layers) ** 0.5 if writes else 0.02
            with torch.no_grad():
                weight.normal_(0, std, generator=generator)


def make_optimizers(model: Transformer, config: TrainConfig) -> list[torch.optim.Optimizer]:
    """Muon for the matrices of the blocks, AdamW for everything else."""
    matrices = [p for p in model.layers.parameters() if p.dim() == 2]
    ids = {id(p) for p in matrices}
    others = [p for p in model.parameters() if id(p) not in ids]
    muon = torch.optim.Muon(matrices, lr=config.matrix_lr, weight_decay=config.weight_decay)
    adam = torch.optim.AdamW(others, lr=config.other_lr, betas=(0.9, 0.95), weight_decay=0.0)
    return [muon, adam]


def rate(step: int, config: TrainConfig) -> float:
    """Share of the full learning rate: a short warm-up, a plateau, a straight line to 0."""
    decay = (config.steps - step) / (config.steps * config.decay_share)
    return min(1.0, (step + 1) / config.warmup, decay)


def native_bf16() -> bool:
    """Whether the CPU multiplies bf16 itself (AVX512-BF16 or AMX); elsewhere bf16 is slower."""
    try:
        flags = Path("/proc/cpuinfo").read_text()
    except OSError:
        return False
    return "avx512_bf16" in flags or "amx_bf16" in flags


def train(
    config: TrainConfig, tokenizer, folder: Path, progress=tqdm, model_config=TINY, save_every=250
) -> Transformer:
    """Run (or go on with) a training run whose state lives in `folder`.

    save_every: steps between checkpoints. Raises SystemExit if `folder` has other settings, or a
    damaged checkpoint.
    """
    model = Transformer(model_config)
    init_weights(model, config.seed)
    optimizers = make_optimizers(model, config)
    try:
        start, seconds, _ = load_checkpoint(folder, model, optimizers, config)
    except CheckpointError as error:
        raise SystemExit(f"{error}: remove it, or use another --out") from None
    bf16 = config.compute == "bf16" or (config.compute == "auto" and native_bf16())
    fp32_from = round(config.steps * (1 - config.fp32_share))
    low = copy.deepcopy(model).bfloat16() if bf16 else model
    bar = progress(initial=start, total=config.steps, unit="step", dynamic_ncols=True)
    clock, average = time.time(), None
    for step, batch in enumerate(batches(tokenizer, config, start), start):
        worker = model if step >= fp32_from else low
        for optimizer, peak in zip(optimizers, (config.matrix_lr, config.other_lr)):
            optimizer.param_groups[0]["lr"] = peak * rate(step, config)
        loss = loss_of(worker, *batch)
        worker.zero_grad(set_to_none=True)
        loss.backward()
        if worker is not model:  # fp32 masters: gradients come up, new weights go down
            for master, p in zip(model.parameters(), worker.parameters()):
                master.grad = p.grad.float()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        for optimizer in optimizers:
            optimizer.step()
        if worker is not model:
            with torch.no_grad():
                for master, p in zip(model.parameters(), worker.parameters()):
                    p.copy_(master)
        average = loss.item() if average is None else 0.98 * average + 0.02 * loss.item()
        bar.update(1)
        bar.set_postfix(loss=f"{average:.3f}")
        if (step + 1) % save_every == 0 or step + 1 == config.steps:
            done = seconds + time.time() - clock
            save_checkpoint(folder, model, optimizers, config, step + 1, done, average)
    return model


def main(
    out: Annotated[Path, Option(help="where the state of the run lives")] = Path("build/tiny"),
    steps: Annotated[int, Option(help="optimiser steps")] = TrainConfig.steps,
    seed: Annotated[int, Option(help="of weights and data")] = TrainConfig.seed,
    compute: Annotated[str, Option(help="auto, bf16 or fp32")] = TrainConfig.compute,
    threads: Annotated[int, Option(help="CPU threads; 0 is all")] = 0,
    export: Annotated[bool, Option(help="write the model and its card at the end")] = True,
) -> None:
    """Train the default model. State lives in OUT: run the same command again to go on.

    With --export (default) the finished model and its card replace minillm/assets/tiny.
    """
    if threads:
        torch.set_num_threads(threads)
    config = TrainConfig(steps=steps, seed=seed, compute=compute)
    try:
        train(config, train_tokenizer(seed=seed), out)
    except KeyboardInterrupt:
        raise SystemExit("\nstopped; the same command goes on from the last checkpoint") from None
    if export:
        from minillm.card import export as write_model

        command = "python -m minillm.train " + " ".join(sys.argv[1:])
        print(write_model(out, Path(__file__).parent / "assets" / "tiny", command.strip()))


if __name__ == "__main__":
    import typer

    typer.run(main)
