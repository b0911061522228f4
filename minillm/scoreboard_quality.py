"""Is it still right, read through this very memory? For the scoreboard: perplexity and tasks."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import torch

from minillm import corpus
from minillm.cache.simple import NoCache

Memory = Callable[[object, int], object]  # (model, tokens to hold) -> an empty memory


def read_through(model, memory, tokens: Sequence[int], start: int):
    """Logits after each token from position `start` on, one call a token, as decoding does.

    `tokens[:start]` are read in one call before. A NoCache gets the whole text at every call.
    """
    if isinstance(memory, NoCache):
        rows = torch.arange(start, len(tokens), device=model.embedding.weight.device)
        return model(_ids(model, tokens), memory=memory, rows=rows)
    out = []
    if start:
        model(_ids(model, tokens[:start]), memory=memory)
    for token in tokens[start:]:
        out.append(model(_ids(model, [token]), memory=memory))
    return torch.cat(out)


def _ids(model, tokens: Sequence[int]):
    return torch.tensor(list(tokens), device=model.embedding.weight.device)


@torch.inference_mode()
def tale_perplexity(model, tokenizer, memory: Memory, count: int) -> float:
    """Perplexity per token over unseen tales, as evaluate.tale_perplexity, but through a memory."""
    total, scored = 0.0, 0
    for item in corpus.test_items("tales", count, 0):
        tokens = [*tokenizer.encode(item.answer), model.config.eos_token_ids[0]]
        logits = read_through(model, memory(model, len(tokens)), tokens[:-1], 0)
        logprobs = logits.double().log_softmax(-1)
        total -= float(logprobs.gather(1, _ids(model, tokens[1:])[:, None]).sum())
        scored += len(tokens) - 1
    return math.exp(total / scored)


@torch.inference_mode()
def task_accuracy(model, tokenizer, memory: Memory, count: int) -> float:
    """Share of unseen items, `count` a task, that greedy decoding answers exactly."""
    right = 0
    for task in corpus.TASKS:
        for item in corpus.test_items(task, count, 0):
            prompt = tokenizer.encode(item.prompt)
            whole = tokenizer.encode(item.prompt + item.answer)
            held = memory(model, len(whole))
            best = read_through(model, held, whole, len(prompt) - 1).argmax(-1).tolist()
            right += best[:-1] == whole[len(prompt) :] and best[-1] in model.config.eos_token_ids
    return right / (count * len(corpus.TASKS))
