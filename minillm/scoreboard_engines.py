"""The engines of the scoreboard from chapter 05 on: many requests of W at once, within its budget.

Chapter 05 batches, but reserves for each seat as much as the longest request of W can need: a pool
whose blocks are that long. (Chapter 06 takes the same bytes in small blocks.)
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

import torch
from torch import Tensor

from minillm.cache.paged import Batch, PagedCache
from minillm.config import EngineConfig
from minillm.sampling import SamplingParams
from minillm.workload import BUDGET, COUNT, MAX_ANSWER, MAX_PROMPT, Job

STRIP = MAX_PROMPT + MAX_ANSWER  # tokens reserved for a seat: nobody knows how long it will be


def batched(config_of: Callable[[object], EngineConfig]):
    """An engine of the scoreboard: all jobs through one LLM, made for the model by config_of."""

    def engine(model, jobs: Sequence[Job]) -> Iterator[tuple[int, int]]:
        from minillm.engine.llm import LLM

        llm = LLM(model, None, config_of(model))
        number = {}
        for i, job in enumerate(jobs):
            params = SamplingParams(max_tokens=job.answer, ignore_eos=True)
            number[llm.add(job.prompt, params)] = i
        while llm.unfinished:
            for event in llm.step():
                yield number[event.request.id], llm.cache.nbytes

    return engine


def in_blocks(block_size: int, policy: str = "continuous") -> Callable[[object], EngineConfig]:
    """A pool of such blocks in all bytes that W's budget leaves beside the weights."""

    def config_of(model) -> EngineConfig:
        weights = sum(sum(kinds.values()) for kinds in model.weight_bytes().values())
        token = model.config.kv_bytes_per_token(model.embedding.weight.element_size())
        blocks = int((BUDGET - weights) // (token * block_size))
        if blocks < 1:
            raise ValueError(f"no block of {block_size} tokens fits into W's budget")
        seats = min(COUNT, blocks)  # a request holds at least one block
        return EngineConfig(block_size, blocks, seats, prefix_caching=False, policy=policy)

    return config_of


def whole_engine(model) -> EngineConfig:
    """Chapter 07: blocks of 16, a token budget a step, the prefix cache on (W shares nothing)."""
    return replace(in_blocks(16)(model), max_batch_tokens=256, prefix_caching=True)


class PagedAlone:
    """The pool as the memory of a single request, for quality: blocks in reversed order."""

    def __init__(self, model, max_len: int, block_size: int = 16):
        self.length, weight = 0, model.embedding.weight
        blocks = -(-max_len // block_size)
        self.cache = PagedCache(
            model.config, blocks, block_size, weight.dtype, device=weight.device
        )  # fmt: skip
        self.table_M = torch.arange(blocks - 1, -1, -1, device=weight.device)
        self.view = None

    def attend(self, layer: int, q_THK: Tensor, k_TGK: Tensor, v_TGK: Tensor) -> Tensor:
        end = self.length + len(k_TGK)
        if layer == 0:
            place_T = torch.arange(self.length, end, device=self.table_M.device)
            size, counts = self.cache.block_size, (len(k_TGK),)
            slots_T = self.table_M[place_T // size] * size + place_T % size
            len_S = torch.tensor([end], device=place_T.device)
            batch = Batch(slots_T, self.table_M[None], len_S, counts, int(counts == (1,)))
            self.view = self.cache.at(batch)
        out = self.view.attend(layer, q_THK, k_TGK, v_TGK)
        self.length = end if layer == self.cache.config.num_layers - 1 else self.length
        return out
