"""Decoding as a recording: the kernels of one step are captured once and replayed as a whole.

A step of one token a request starts hundreds of small kernels, each from Python; a CUDA graph
starts them all with one call. A recording has fixed addresses and a fixed number of rows, so the
batch lies in tensors that never move, and missing rows are padding: they write to a spare page at
the end of the pool, which the block manager does not know of.
"""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

from minillm import kernel_choice
from minillm.cache.paged import Batch, PagedCache
from minillm.config import ConfigError


class StaticBatch:
    """The tensors of one decode step for up to `seats` requests, always at the same addresses."""

    def __init__(self, seats: int, max_blocks: int, spare: int, block_size: int, device):
        whole = {"dtype": torch.long, "device": device}
        self.seats, self.max_blocks, self.block_size, self.spare = (
            seats, max_blocks, block_size, spare,
        )  # fmt: skip
        self.tokens_S, self.pos_S, self.slots_S = torch.zeros(3, seats, **whole)
        self.block_table_SM = torch.full((seats, max_blocks), spare, **whole)
        self.len_S = torch.ones(seats, **whole)
        place_S = torch.arange(seats, device=device)
        self.padding_S = spare * block_size + place_S % block_size

    def fill(self, tokens_T: Tensor, pos_T: Tensor, batch: Batch) -> None:
        """Copy a batch of single tokens in; the other rows are one token of the spare page."""
        count, width = batch.num_single, batch.block_table_SM.shape[1]
        assert count == len(batch.counts) <= self.seats and width <= self.max_blocks
        rows = ((self.tokens_S, tokens_T), (self.pos_S, pos_T), (self.slots_S, batch.slots_T))
        for kept, new in rows:
            kept[:count] = new
        self.block_table_SM[:count, :width] = batch.block_table_SM
        self.len_S[:count] = batch.len_S
        self.tokens_S[count:] = 0
        self.pos_S[count:] = 0
        self.slots_S[count:] = self.padding_S[count:]
        self.block_table_SM[count:] = self.spare
        self.len_S[count:] = 1

    def rows(self, count: int) -> tuple[Tensor, Tensor, Batch]:
        """The first `count` rows as a step: views, no copies."""
        batch = Batch(self.slots_S[:count], self.block_table_SM[:count], self.len_S[:count],
                      (1,) * count, count)  # fmt: skip
        return self.tokens_S[:count], self.pos_S[:count], batch


class DecodeGraphs:
    """Recordings of decode steps of 1, 2, 4 ... max_num_seqs rows, each made when first needed."""

    def __init__(self, model, cache: PagedCache, seats: int, max_blocks: int, record: Callable):
        spare = cache.num_blocks - 1  # LLM makes the pool one page larger
        device = cache.kv.device
        self.model, self.cache, self.record = model, cache, record
        self.static = StaticBatch(seats, max_blocks, spare, cache.block_size, device)
        self.replays: dict[int, Callable[[], Tensor]] = {}  # rows -> replay

    def logits(self, tokens_T: Tensor, pos_T: Tensor, batch: Batch) -> Tensor:
        """Logits of a batch of single tokens -> [S, V]; overwritten by the next call."""
        count = batch.num_single
        self.static.fill(tokens_T, pos_T, batch)
        rows = min(kernel_choice.power_of_two(count), self.static.seats)
        if rows not in self.replays:
            self.replays[rows] = self.record(lambda: self._step(rows))
        return self.replays[rows]()[:count]

    def _step(self, rows: int) -> Tensor:
        tokens_S, pos_S, batch = self.static.rows(rows)
        return self.model(tokens_S, pos_S, self.cache.at(batch))


def record_cuda(step: Callable[[], Tensor]) -> Callable[[], Tensor]:
    """Capture a step -> a function that replays it and returns its output, always the same tensor.

    It runs three times before, on a stream of its own, so that Triton compiles and cuBLAS makes its
    work space outside of the recording.
    """
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        for _ in range(3):
            step()
    torch.cuda.current_stream().wait_stream(side)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        out = step()

    def replay() -> Tensor:
        graph.replay()
        return out

    return replay


def decode_graphs(model, cache: PagedCache, config) -> DecodeGraphs | None:
    """The graphs an engine asks for; ConfigError with advice where they cannot be."""
    if not config.cuda_graphs:
        return None
    device = cache.kv.device
    if device.type != "cuda":
        raise ConfigError(
            f"cuda_graphs=True needs a GPU, the model is on {device}: leave it False, or load the "
            "model with device='cuda'"
        )
    why = kernel_choice.missing(kernel_choice.capability_of(device), cache.dtype)
    if why:  # the plain code asks the GPU for lengths, which a recording cannot
        raise ConfigError(f"cuda_graphs=True needs the Triton kernels: {why}")
    longest = min(config.max_model_len or model.config.max_len, model.config.max_len)
    max_blocks = -(-longest // config.block_size)
    return DecodeGraphs(model, cache, config.max_num_seqs, max_blocks, record_cuda)
