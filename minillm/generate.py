"""The simplest loop that writes text, with any memory: the oracle of every engine after it."""

from __future__ import annotations

import operator
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import torch

from minillm.cache.simple import StripCache
from minillm.model import Transformer
from minillm.sampling import Sampler, SamplingParams, top_logprobs


@dataclass(frozen=True)
class Step:
    """One token written. logprobs: {token: log-probability}, where asked for."""

    token: int
    logprobs: dict[int, float] | None = None
    prompt_logprobs: list[dict[int, float] | None] | None = None  # with the first token only
    finish_reason: str | None = None  # "stop", "length", or None while it goes on


def generate(
    model: Transformer, tokens: Sequence[int], params: SamplingParams | None = None, memory=None
) -> list[int]:
    """Continue `tokens` -> the new tokens only; the token that ended the text is not among them.

    memory: a StripCache (default), NoCache or any object with their interface, holding the first
    `memory.length` tokens already (if it holds all, the last one is computed again). Raises
    ValueError for stop strings (there is no tokenizer here: use LLM or stream_text) and for a
    prompt that is empty, unknown to the vocabulary or too long.
    """
    params = params or SamplingParams()
    if params.stop:
        raise ValueError("stop strings need a tokenizer: use stream_text, or stop_token_ids")
    for name in ("logprobs", "prompt_logprobs"):
        if getattr(params, name) is not None:
            raise ValueError(f"generate returns tokens only: read {name} from minillm.steps")
    found = [s for s in steps(model, tokens, params, memory)]
    return [s.token for s in found if s.finish_reason != "stop"]


def steps(
    model: Transformer, tokens: Sequence[int], params: SamplingParams, memory=None
) -> Iterator[Step]:
    """The loop itself, one Step a token. The last one carries the reason for stopping."""
    tokens = check_prompt(model, tokens, params)
    if memory is not None and memory.length >= len(tokens):
        _rewind(memory, len(tokens))
    ends = set(params.stop_token_ids)
    if not params.ignore_eos:
        ends |= set(model.config.eos_token_ids)
    if memory is None:
        memory = StripCache.for_model(model, max_len=len(tokens) + params.max_tokens - 1)
    sampler = Sampler(params, tokens)
    for count in range(1, params.max_tokens + 1):
        logits_V, prompt_logprobs = _advance(model, tokens, params, memory, first=count == 1)
        token = sampler.pick(logits_V)
        tokens.append(token)
        logprobs = None
        if params.logprobs is not None:
            logprobs = top_logprobs(logits_V, token, params.logprobs)
        reason = "stop" if token in ends else "length" if count == params.max_tokens else None
        yield Step(token, logprobs, prompt_logprobs, reason)
        if reason:
            return


def _rewind(memory, num_tokens: int) -> None:
    """A memory that holds the whole prompt has no logits: compute its last token once more."""
    if memory.length > num_tokens:
        raise ValueError(
            f"the memory holds {memory.length} tokens, the prompt has only {num_tokens}: "
            "give the whole text so far, or an empty memory"
        )
    memory.length = num_tokens - 1


@torch.inference_mode()
def _advance(model, tokens: list[int], params: SamplingParams, memory, first: bool):
    """Feed what the memory lacks -> (logits of the last token, prompt log-probabilities)."""
    device = model.embedding.weight.device
    pending_T = torch.tensor(tokens[memory.length :], device=device)
    if not (first and params.prompt_logprobs is not None):
        last = None  # a single token needs no picking
        if pending_T.shape[0] > 1:
            last = torch.tensor([pending_T.shape[0] - 1], device=device)
        return model(pending_T, memory=memory, rows=last)[0], None
    if memory.length:
        raise ValueError("prompt_logprobs need the whole prompt: give an empty memory")
    logits_TV = model(pending_T, memory=memory)
    rows = [top_logprobs(r, t, params.prompt_logprobs) for r, t in zip(logits_TV, tokens[1:])]
    return logits_TV[-1], [None, *rows]


def check_prompt(model: Transformer, tokens: Sequence[int], params: SamplingParams) -> list[int]:
    """The prompt as a list of ints; ValueError with advice where it cannot be run."""
    try:
        tokens = [operator.index(t) for t in tokens]
    except TypeError:
        raise ValueError(
            "the prompt must be token ids (whole numbers): encode text first"
        ) from None
    vocab, limit = model.config.vocab_size, model.config.max_len
    if params.n != 1:
        raise ValueError("n > 1 needs the engine: use LLM.generate, or call generate n times")
    if not tokens:
        raise ValueError("the prompt is empty: give at least one token (the begin-of-text token)")
    for name, ids in ("token", tokens), ("stop token", params.stop_token_ids):
        if (odd := next((t for t in ids if not 0 <= t < vocab), None)) is not None:
            raise ValueError(f"{name} {odd} is not in the vocabulary of {vocab}: wrong tokenizer?")
    room = limit - len(tokens) + 1  # the last token written needs no place
    if params.max_tokens > room:
        asked = f" and max_tokens={params.max_tokens}" if room > 0 else ""
        lower = f" or lower max_tokens to {room}" if room > 0 else ""
        raise ValueError(
            f"{len(tokens)} prompt tokens{asked} exceed the model's context of {limit}: shorten "
            f"the prompt{lower}"
        )
    return tokens


def stream_text(model, tokenizer, prompt: str, params: SamplingParams) -> Iterator[str]:
    """Text in, pieces of text out as they are certain: no half characters, no stop strings."""
    from minillm.tokenizer import StreamDecoder

    decoder = StreamDecoder(tokenizer, params.stop)
    for step in steps(model, tokenizer.encode(prompt), params):
        if step.finish_reason != "stop":
            piece = decoder.push(step.token)
            if piece:
                yield piece
            if decoder.stopped:
                return
    rest = decoder.finish()
    if rest:
        yield rest
