"""llama.cpp beside the story: the blank model as a GGUF file, all requests served together.

The file holds token ids and no vocabulary, which llama.cpp allows. llama-cpp-python's class knows
one text at a time; so its C functions are called here the way that llama.cpp's own server does: a
step is one token of every sequence, a prompt is read as it gets a seat.
"""

from __future__ import annotations

import ctypes
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import torch

from minillm.doctor import version_of
from minillm.gguf_write import write_gguf
from minillm.workload import COUNT, Job, workload

FILES = ("F32", "Q8_0", "Q4_0")  # the peers of our float32, int8 and int4
STEP = 512  # tokens of one call at most, llama.cpp's own default


def llama_rows(plan, model, report: dict, progress: Callable) -> None:
    """One row of report["peers"] for each kind of file; why there is none in "not_tried"."""
    if why := _not_here(plan, report):
        report["not_tried"].append(f"llama.cpp: {why}")
        return
    jobs = workload(model.config.vocab_size, plan.requests or COUNT)
    ours = [first_token(model, job) for job in jobs]
    with TemporaryDirectory(prefix="minillm-bench-") as scratch:
        for number, kind in enumerate(FILES):
            progress(f"llama.cpp, {kind}", number, len(FILES))
            path = Path(scratch) / f"{kind}.gguf"
            try:  # an older llama-cpp-python has other functions: the other rows are worth keeping
                write_gguf(model, path, kind)
                row = _row(plan, path, jobs, ours, report["machine"]["threads"])
                report["peers"].append({"name": f"llama.cpp, {kind}"} | row)
            except (RuntimeError, ValueError, AttributeError, OSError) as error:
                report["not_tried"].append(f"llama.cpp, {kind}: {error}")
            path.unlink(missing_ok=True)


def _row(plan, path: Path, jobs: Sequence[Job], ours: Sequence[int], threads: int) -> dict:
    """One file: one user, a prompt alone, all jobs together."""
    alone = Job(jobs[0].prompt[:32], plan.alone_tokens)
    engine = LlamaCpp(path, jobs, threads)
    try:
        serve([Job(alone.prompt, 2)], engine.step)  # the first call is slow
        _, began, seconds = _timed(engine, [alone])
        row = {"requests": len(jobs), "at_once": len(jobs), "file_bytes": path.stat().st_size}
        row["one_user"] = (alone.answer - 1) / (seconds - began)
        prompt = Job(tuple(range(1, plan.prompt + 1)), 1)
        row["reading"] = plan.prompt / _timed(engine, [prompt])[2]
        answers, _, row["seconds"] = _timed(engine, jobs)
        row["written"] = sum(map(len, answers))
        row["tokens_per_s"] = row["written"] / row["seconds"]
        row["same_first"] = sum(a[0] == token for a, token in zip(answers, ours))
    finally:
        engine.close()
    return row


def _not_here(plan, report: dict) -> str | None:
    if not plan.peers:
        return "not asked for (--no-peers)"
    for package in ("llama-cpp-python", "gguf"):
        if version_of(package) is None:
            return f"{package} is not installed"
    return None if report["device"] == "cpu" else "compared on a CPU only"


@torch.inference_mode()
def first_token(model, job: Job) -> int:
    """What our model writes first: the file is the same model where llama.cpp writes it too."""
    return int(model(torch.tensor(job.prompt, device=model.embedding.weight.device))[-1].argmax())


def _timed(engine: LlamaCpp, jobs: Sequence[Job]) -> tuple[list[list[int]], float, float]:
    """-> the answers, seconds until the first token, seconds until all have ended."""
    start, first = time.perf_counter(), []

    def step(rows):
        best = engine.step(rows)
        first.append(time.perf_counter() - start)
        return best

    answers = serve(jobs, step)
    return answers, first[0], time.perf_counter() - start


def serve(jobs: Sequence[Job], step: Callable) -> list[list[int]]:
    """Greedy answers of all jobs, each a sequence from the start; prompts of at most STEP a call.

    step(rows): rows are (token, position, sequence, wanted); -> the likeliest next token of the
    wanted rows, in their order. A sequence begins at position 0.
    """
    written = [[] for _ in jobs]
    waiting, running = list(range(len(jobs))), []
    while waiting or running:
        rows, wanted = [], []
        for i in running:
            rows.append((written[i][-1], len(jobs[i].prompt) + len(written[i]) - 1, i, True))
            wanted.append(i)
        while waiting and len(rows) + len(jobs[waiting[0]].prompt) <= STEP:
            i = waiting.pop(0)
            last = len(jobs[i].prompt) - 1
            rows += [(token, at, i, at == last) for at, token in enumerate(jobs[i].prompt)]
            wanted.append(i)
        if not rows:
            raise ValueError(f"a prompt of {len(jobs[waiting[0]].prompt)} tokens, {STEP} at most")
        for i, token in zip(wanted, step(rows), strict=True):
            written[i].append(int(token))
        running = [i for i in wanted if len(written[i]) < jobs[i].answer]
    return written


class LlamaCpp:
    """A GGUF file in llama.cpp, with room for all jobs at once."""

    def __init__(self, path: Path, jobs: Sequence[Job], threads: int):
        import llama_cpp

        self.api = llama_cpp
        llama_cpp.llama_backend_init()
        self._quiet = llama_cpp.llama_log_callback(lambda *_: None)  # kept: C holds its address
        llama_cpp.llama_log_set(self._quiet, ctypes.c_void_p(0))
        options = llama_cpp.llama_model_default_params()
        options.n_gpu_layers = 0
        self.model = llama_cpp.llama_model_load_from_file(str(path).encode(), options)
        if not self.model:
            raise RuntimeError(f"llama.cpp did not load {path}")
        settings = llama_cpp.llama_context_default_params()
        settings.n_ctx = max(STEP, sum(len(job.prompt) + job.answer for job in jobs))
        settings.n_batch, settings.n_seq_max, settings.kv_unified = STEP, len(jobs), True
        settings.n_threads = settings.n_threads_batch = threads
        self.context = llama_cpp.llama_init_from_model(self.model, settings)
        if not self.context:
            raise RuntimeError(f"llama.cpp made no context of {settings.n_ctx} tokens")
        self.batch = llama_cpp.llama_batch_init(STEP, 0, 1)
        vocabulary = llama_cpp.llama_model_get_vocab(self.model)
        self.vocab_size = llama_cpp.llama_vocab_n_tokens(vocabulary)

    def step(self, rows: Sequence[tuple[int, int, int, bool]]) -> list[int]:
        """As `serve` says."""
        api, batch = self.api, self.batch
        memory = api.llama_get_memory(self.context)
        batch.n_tokens = len(rows)
        for i, (token, position, sequence, wanted) in enumerate(rows):
            if position == 0:
                api.llama_memory_seq_rm(memory, sequence, -1, -1)
            batch.token[i], batch.pos[i], batch.logits[i] = token, position, wanted
            batch.n_seq_id[i], batch.seq_id[i][0] = 1, sequence
        if status := api.llama_decode(self.context, batch):
            raise RuntimeError(f"llama.cpp could not run {len(rows)} tokens (status {status})")
        return [self._best(i) for i, row in enumerate(rows) if row[3]]

    def _best(self, row: int) -> int:
        logits = self.api.llama_get_logits_ith(self.context, row)
        return int(np.argmax(np.ctypeslib.as_array(logits, shape=(self.vocab_size,))))

    def close(self) -> None:
        """Give the memory back."""
        self.api.llama_batch_free(self.batch)
        self.api.llama_free(self.context)
        self.api.llama_model_free(self.model)
