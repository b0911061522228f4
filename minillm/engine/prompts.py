"""What callers hand over, read and checked at the border: prompts and sampling parameters."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from minillm.generate import check_prompt
from minillm.sampling import SamplingParams


def read_params(params) -> SamplingParams:
    """SamplingParams, the default for None; TypeError for anything else."""
    if params is None:
        return SamplingParams()
    if not isinstance(params, SamplingParams):
        raise TypeError(f"params must be SamplingParams, got {type(params).__name__}")
    return params


def read_prompt(model, tokenizer, prompt, params: SamplingParams) -> list[int]:
    """Text or token ids -> token ids that the model can read; ValueError or TypeError, advised."""
    if isinstance(prompt, str):
        if tokenizer is None:
            raise ValueError("a text needs a tokenizer: give token ids, or an LLM with a tokenizer")
        prompt = tokenizer.encode(prompt)
    elif isinstance(prompt, (bytes, bytearray, Mapping)) or not hasattr(prompt, "__iter__"):
        raise TypeError(f"a prompt is a str or a list of token ids, got {type(prompt).__name__}")
    if params.stop and tokenizer is None:
        raise ValueError("stop strings need a tokenizer")
    return check_prompt(model, list(prompt), replace(params, n=1, max_tokens=1))


def pair(prompts, params) -> list[tuple]:
    """[(prompt, its params)]; params: one for all, or one a prompt."""
    if isinstance(prompts, (str, bytes)) or not hasattr(prompts, "__iter__"):
        raise TypeError("generate takes a list of prompts: [prompt]")
    prompts = [p if isinstance(p, (str, bytes, Mapping)) else _listed(p) for p in prompts]
    many = params if isinstance(params, (list, tuple)) else [params] * len(prompts)
    if len(many) != len(prompts):
        raise ValueError(f"{len(prompts)} prompts, {len(many)} SamplingParams")
    return list(zip(prompts, map(read_params, many)))


def _listed(prompt):
    """Token ids that are still to be computed are computed now: doing so may use the engine."""
    return list(prompt) if hasattr(prompt, "__iter__") else prompt
