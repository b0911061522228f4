"""Is the model still right? Perplexity of a text, and exact answers on unseen tasks."""

from __future__ import annotations

import math
from collections.abc import Sequence

import torch

from minillm import corpus
from minillm.cache.simple import NoCache
from minillm.model import Transformer


@torch.inference_mode()
def perplexity(
    model: Transformer, tokens: Sequence[int], window=None, stride=None, bos: int | None = None
) -> float:
    """exp(mean negative log-likelihood) of tokens[1:], each scored once, given what precedes it.

    The text is read in windows of at most `window` tokens (default: the model's context, at most
    2,048) that move on by `stride` (default: half a window); a window scores only what the one
    before did not. The first token has no context and is not scored. The mean is over all scored
    tokens, so a short last window does not weigh more. bos: a token put before every window and
    not scored, for models that were trained with one at the start of every text (Gemma is lost
    without); the first token of the text is then scored too. Raises ValueError below 2 tokens.
    """
    tokens_T = torch.as_tensor(tokens, device=model.embedding.weight.device)
    lead = tokens_T.new_tensor([] if bos is None else [bos])
    window = min(model.config.max_len, 2048) - len(lead) if window is None else window
    if window < 2:
        raise ValueError(f"window must be at least 2 tokens, got {window}")
    stride = window // 2 if stride is None else stride
    if tokens_T.numel() < 2:
        raise ValueError("perplexity needs at least 2 tokens: the first one is never scored")
    longest = window - 1 + len(lead)  # without a token to lead, windows must overlap by one
    if not 1 <= stride <= longest:
        raise ValueError(f"stride must be from 1 to {longest}, got {stride}")
    first = done = 1 - len(lead)  # done: tokens already scored, or never to be
    total = 0.0
    for start in range(0, len(tokens_T), stride):
        end = min(start + window, len(tokens_T))
        if end <= done:
            break
        rows = torch.arange(done - 1 - start, end - 1 - start, device=tokens_T.device) + len(lead)
        window_T = torch.cat((lead, tokens_T[start:end]))
        logits = model(window_T, memory=NoCache(model.config), rows=rows)
        logprobs = _wide(logits).log_softmax(-1)
        total -= float(logprobs.gather(1, tokens_T[done:end, None]).double().sum())
        done = end
    return math.exp(min(total / (len(tokens_T) - first), 700.0))


@torch.inference_mode()
def tasks(model, tokenizer, count: int = 200, seed: int = 0, progress=None) -> dict[str, float]:
    """Greedy exact match on `count` unseen items of every task -> {task: share right}.

    An answer is right if the model would write it and then end the text. Each item is read once,
    with its answer in place: greedy decoding writes the answer exactly if at every position of
    it the likeliest token is the right one, so nothing has to be generated.
    progress: a wrapper for the iterator over tasks, such as tqdm.
    """
    if count < 1:
        raise ValueError(f"count must be at least 1 item a task, got {count}")
    result = {}
    for task in progress(corpus.TASKS) if progress else corpus.TASKS:
        items = corpus.test_items(task, count, seed)
        result[task] = sum(_is_right(model, tokenizer, item) for item in items) / count
    return result


def _is_right(model, tokenizer, item: corpus.Item) -> bool:
    prompt, whole = tokenizer.encode(item.prompt), tokenizer.encode(item.prompt + item.answer)
    if whole[: len(prompt)] != prompt:
        raise ValueError(
            f"this tokenizer joins the end of {item.prompt[-12:]!r} with its answer: the tasks "
            "need one that lets the answer begin at a token of its own, as tiny's does"
        )
    expected = whole[len(prompt) :]
    logits = model(
        torch.tensor(whole, device=model.embedding.weight.device),
        memory=NoCache(model.config),
        rows=torch.arange(len(prompt) - 1, len(whole), device=model.embedding.weight.device),
    )
    best = logits.argmax(-1).tolist()
    return best[:-1] == expected and best[-1] in model.config.eos_token_ids


@torch.inference_mode()
def tale_perplexity(model, tokenizer, count: int = 200, seed: int = 0) -> float:
    """Perplexity per token over unseen tales, each read by itself with its end token."""
    total, scored = 0.0, 0
    for item in corpus.test_items("tales", count, seed):
        tokens = [*tokenizer.encode(item.answer), model.config.eos_token_ids[0]]
        total += math.log(perplexity(model, tokens)) * (len(tokens) - 1)
        scored += len(tokens) - 1
    return math.exp(total / scored)


def _wide(logits: torch.Tensor) -> torch.Tensor:
    return logits if logits.dtype == torch.float64 else logits.float()
