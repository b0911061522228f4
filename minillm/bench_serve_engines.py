"""Ways to serve many requests, behind one method: run(jobs, seats) -> Served (bench_serve.py)."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass

import torch

from minillm.bench_engines import silence
from minillm.config import EngineConfig
from minillm.sampling import SamplingParams
from minillm.workload import Job

CONTINUOUS, STATIC = "continuous", "static"
PADDED, MANAGER, BATCH = "padded batches", "its own continuous", "generate_batch"
PEERS = (PADDED, MANAGER, BATCH)  # of transformers
BLOCK = 16  # tokens


@dataclass(frozen=True)
class Served:
    """All jobs served once. Seconds from when all are handed over until the last one has ended."""

    seconds: float
    tokens: tuple[tuple[int, ...], ...]  # what each job wrote
    steps: int | None  # calls of the model; None: not known


def blocks_for(jobs: Sequence[Job]) -> int:
    """Blocks that hold all jobs at once: no engine of the comparison is short of memory."""
    return sum(-(-(len(job.prompt) + job.answer) // BLOCK) for job in jobs)


def parameters(jobs: Sequence[Job]) -> list[SamplingParams]:
    """Greedy, exactly as many tokens as the job says."""
    return [SamplingParams(max_tokens=job.answer, ignore_eos=True) for job in jobs]


class Engine:
    """This project's engine with one of its policies; a new pool for each run."""

    def __init__(self, model, policy: str, **options):
        self.model, self.policy, self.options = model, policy, options

    def run(self, jobs: Sequence[Job], seats: int) -> Served:
        from minillm.engine.llm import LLM

        config = EngineConfig(
            block_size=BLOCK, num_blocks=blocks_for(jobs), max_num_seqs=seats, policy=self.policy,
            **self.options,
        )  # fmt: skip
        llm = LLM(self.model, None, config)
        start = time.perf_counter()
        answers = llm.generate([list(job.prompt) for job in jobs], parameters(jobs))
        seconds = time.perf_counter() - start
        return Served(seconds, tuple(tuple(a.tokens) for a in answers), llm.metrics.steps)


class Transformers:
    """The peer's model, and three ways of serving with it."""

    def __init__(self, folder):
        silence()
        from transformers import AutoModelForCausalLM

        self.model = AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32).eval()

    def _settings(self, new_tokens: int, **more):
        from transformers import GenerationConfig

        settings = GenerationConfig(
            max_new_tokens=new_tokens, do_sample=False, use_cache=True, pad_token_id=0, **more
        )
        self.model.generation_config = settings  # or its own ends and filters are merged in
        return settings

    @torch.inference_mode()
    def padded_batches(self, jobs: Sequence[Job], seats: int) -> Served:
        """`generate` over one batch after another, prompts padded on the left.

        Every row goes on until the longest of its batch has ended; the rest is cut off.
        """
        start, written, steps = time.perf_counter(), [], 0
        for first in range(0, len(jobs), seats):
            batch = jobs[first : first + seats]
            length = max(len(job.prompt) for job in batch)
            ids = torch.zeros(len(batch), length, dtype=torch.long)
            mask = torch.zeros_like(ids)
            for row, job in enumerate(batch):
                ids[row, length - len(job.prompt) :] = torch.tensor(job.prompt)
                mask[row, length - len(job.prompt) :] = 1
            longest = max(job.answer for job in batch)
            settings = self._settings(longest)
            out = self.model.generate(ids, attention_mask=mask, generation_config=settings)
            rows = out[:, length:].tolist()
            written += [tuple(row[: job.answer]) for row, job in zip(rows, batch)]
            steps += longest
        return Served(time.perf_counter() - start, tuple(written), steps)

    def _pool(self, jobs: Sequence[Job], seats: int):
        """As much cache as ours has: by default it takes most of the machine's memory."""
        from transformers import ContinuousBatchingConfig

        page = 32  # tokens, the smallest that it takes
        return ContinuousBatchingConfig(
            page_size=page, num_blocks=blocks_for(jobs) * BLOCK // page + len(jobs) + 1,
            max_batch_tokens=512, max_requests_per_batch=seats,
        )  # fmt: skip

    def own_continuous(self, jobs: Sequence[Job], seats: int) -> Served:
        """The manager under `generate_batch`, which knows a length for each request.

        The clock starts when its pool and its thread are there.
        """
        settings = self._settings(max(job.answer for job in jobs), eos_token_id=-1)
        done = {}
        with self.model.continuous_batching_context_manager(
            generation_config=settings, continuous_batching_config=self._pool(jobs, seats),
            block=True, timeout=5,
        ) as manager:  # fmt: skip
            start = time.perf_counter()
            ids = [
                manager.add_request(list(job.prompt), max_new_tokens=job.answer, eos_token_id=-1)
                for job in jobs
            ]
            while len(done) < len(jobs):
                result = manager.get_result(timeout=1)
                if result is not None and result.is_finished():
                    done[result.request_id] = tuple(result.generated_tokens)
                elif result is None and not manager.is_running():
                    raise RuntimeError("transformers' continuous batching has stopped")
            seconds = time.perf_counter() - start
        return Served(seconds, tuple(done[i] for i in ids), None)

    def generate_batch(self, jobs: Sequence[Job], seats: int) -> Served:
        """The public call: one length for all, so every request goes on to the longest answer."""
        settings = self._settings(max(job.answer for job in jobs), eos_token_id=-1)
        start = time.perf_counter()
        out = self.model.generate_batch(
            [list(job.prompt) for job in jobs], generation_config=settings,
            continuous_batching_config=self._pool(jobs, seats),
        )  # fmt: skip
        seconds = time.perf_counter() - start
        found = [tuple(r.generated_tokens) for r in out.values()]
        return Served(seconds, tuple(t[: j.answer] for t, j in zip(found, jobs)), None)


def engines_for(model, folder, peers: Sequence[str]) -> dict:
    """{name: run} of our two policies and of the peers asked for."""
    runs = {policy: Engine(model, policy).run for policy in (CONTINUOUS, STATIC)}
    if peers:
        theirs = Transformers(folder)
        every = (theirs.padded_batches, theirs.own_continuous, theirs.generate_batch)
        runs |= {name: run for name, run in zip(PEERS, every) if name in peers}
    return runs
