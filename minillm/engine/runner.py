"""A plan becomes tensors, tensors become logits, logits become tokens."""

from __future__ import annotations

import functools

import torch
from torch import Tensor

from minillm.cache.blocks import BlockManager
from minillm.cache.paged import Batch, PagedCache
from minillm.clock import StepCost, batch_cost, matrices
from minillm.engine.graphs import decode_graphs
from minillm.engine.request import Request
from minillm.engine.scheduler import Plan
from minillm.sampling import Sampler, top_logprobs


class Runner:
    """The model, the pool, and one sampler a request; knows nothing of queues or text."""

    def __init__(self, model, cache: PagedCache, blocks: BlockManager, config=None):
        self.model, self.cache, self.blocks = model, cache, blocks
        self.graphs = decode_graphs(model, cache, config) if config else None
        self.samplers: dict[int, Sampler] = {}
        self.logprobs: dict[int, list] = {}  # request id -> one dict a written token
        self.prompt_logprobs: dict[int, list] = {}

    @torch.inference_mode()
    def run(self, plan: Plan) -> dict[int, int]:
        """Compute one step -> {request id: next token} for every request that has caught up."""
        self.cache.copy_blocks(plan.copies)
        tokens_T, pos_T, batch = self._tensors(plan)
        ends, at = [], -1
        for _, count in plan.items:
            at += count
            ends.append(at)
        scored = [r for r, _ in plan.items if self._wants_prompt(r)]
        done = [i for i, (r, count) in enumerate(plan.items) if count == r.pending]
        if scored:  # all rows: some prompt wants the score of every token
            logits = self.model(tokens_T, pos_T, self.cache.at(batch))
            self._score_prompts(plan, logits, ends)
            logits = logits[[ends[i] for i in done]]
        elif self.graphs and batch.num_single == len(plan.items):
            logits = self.graphs.logits(tokens_T, pos_T, batch)
            logits = logits if len(done) == len(plan.items) else logits[done]
        else:
            rows = torch.tensor([ends[i] for i in done], dtype=torch.long, device=tokens_T.device)
            logits = self.model(tokens_T, pos_T, self.cache.at(batch), rows=rows)
        return self._sample([plan.items[i][0] for i in done], logits)

    def cost(self, plan: Plan) -> StepCost:
        """What the step costs on paper: bytes of weights and K/V as really stored, scales too."""
        batch = [(count, request.num_computed + count) for request, count in plan.items]
        number = self.cache.nbytes / self.cache.kv.numel()
        return batch_cost(self.model.config, batch, self._bytes_per_weight, number)

    @functools.cached_property
    def _bytes_per_weight(self) -> float:
        """Mean over the matrices that a step reads: the linear layers and the head."""
        held = self.model.weight_bytes()
        read = sum(held["linear"].values()) + sum((held["head"] or held["embedding"]).values())
        return read / sum(matrix.parameters for matrix in matrices(self.model.config))

    def _tensors(self, plan: Plan) -> tuple[Tensor, Tensor, Batch]:
        """Packed tokens and positions, and where everything lies in the pool."""
        size, device = self.cache.block_size, self.cache.kv.device
        tokens, positions, slots, tables, lengths = [], [], [], [], []
        for request, count in plan.items:
            start, table = request.num_computed, self.blocks.table(request.id)
            end = start + count
            tokens += request.tokens[start:end]
            positions += range(start, end)
            slots += [table[p // size] * size + p % size for p in range(start, end)]
            tables.append(table)
            lengths.append(end)
        widest = max(map(len, tables))
        padded = [table + [table[0]] * (widest - len(table)) for table in tables]
        tensor = lambda x: torch.tensor(x, device=device)
        counts = tuple(count for _, count in plan.items)
        batch = Batch(tensor(slots), tensor(padded), tensor(lengths), counts, counts.count(1))
        return tensor(tokens), tensor(positions), batch

    def _sample(self, requests: list[Request], logits_SV: Tensor) -> dict[int, int]:
        """One token a request; plain greedy rows are taken all at once."""
        sampled = {}
        plain = [i for i, r in enumerate(requests) if r.params.plain and r.params.logprobs is None]
        if plain:
            best = logits_SV[plain] if len(plain) < len(requests) else logits_SV
            values, indices = best.max(-1)
            for i, value, token in zip(plain, values.tolist(), indices.tolist()):
                if value - value != 0:  # inf or NaN: let the sampler say what is wrong
                    self._pick(requests[i], logits_SV[i])
                sampled[requests[i].id] = token
        for i, request in enumerate(requests):
            if request.id in sampled:
                continue
            token = self._pick(request, logits_SV[i])
            if request.params.logprobs is not None:
                scores = top_logprobs(logits_SV[i], token, request.params.logprobs)
                self.logprobs.setdefault(request.id, []).append(scores)
            sampled[request.id] = token
        return sampled

    def _pick(self, request: Request, logits_V: Tensor) -> int:
        try:
            return self._sampler(request).pick(logits_V)
        except ArithmeticError as error:  # NaN: everybody waits until this one is aborted
            text = f"request {request.id}: {error}; abort({request.id}) ends it alone"
            raise ArithmeticError(text) from None

    def _sampler(self, request: Request) -> Sampler:
        """A request keeps its generator for life, whatever its neighbours do."""
        if request.id not in self.samplers:
            sampler = Sampler(request.params, request.tokens[: request.num_prompt])
            sampler.replay(request.output)  # empty, but after an interrupt
            self.samplers[request.id] = sampler
        return self.samplers[request.id]

    @staticmethod
    def _wants_prompt(request: Request) -> bool:
        asked = request.params.prompt_logprobs is not None
        return asked and request.num_computed < request.num_prompt

    def _score_prompts(self, plan: Plan, logits_TV: Tensor, ends: list[int]) -> None:
        """Log-probabilities of prompt tokens, piece by piece as the prompt is computed."""
        for (request, count), end in zip(plan.items, ends):
            if not self._wants_prompt(request):
                continue
            scores = self.prompt_logprobs.setdefault(request.id, [None])
            del scores[request.num_computed + 1 :]  # after a preemption: again from there
            for offset in range(count):
                place = request.num_computed + offset + 1  # the row scores the token after it
                if place < request.num_prompt:
                    row, token = logits_TV[end - count + 1 + offset], request.tokens[place]
                    scores.append(top_logprobs(row, token, request.params.prompt_logprobs))

    def scores(self, request: Request) -> tuple[list | None, list | None]:
        """(logprobs, prompt_logprobs) of a request, as far as they were asked for."""
        params, i = request.params, request.id
        return (
            None if params.logprobs is None else self.logprobs.get(i, []),
            None if params.prompt_logprobs is None else self.prompt_logprobs.get(i),
        )

    def take_back(self, request: Request) -> None:
        """Keep only what belongs to the tokens the request has; after an interrupted step."""
        self.samplers.pop(request.id, None)
        self.prompt_logprobs.pop(request.id, None)
        del self.logprobs.get(request.id, [])[len(request.output) :]

    def forget(self, request_id: int) -> None:
        """Drop what is kept for a request that has ended."""
        for kept in (self.samplers, self.logprobs, self.prompt_logprobs):
            kept.pop(request_id, None)
