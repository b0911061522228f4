"""The scoreboard: one row a chapter, all on workload W, your own above the project's recorded one.

python -m minillm.scoreboard             run the rows here and print the table
python -m minillm.scoreboard --keep      the same, kept as your own rows (the portfolio shows them)
python -m minillm.scoreboard --record    the same, kept in the repository as the recorded rows

Speed is measured on a blank model (random weights) of about 100 MB, the same on every machine, so
that rows and their bytes can be compared, and small enough that all of W is a matter of seconds on
two cores. Two honest limits: where the last-level cache holds 100 MB, the weights are not read
from memory at all (the chapters' own blank model is larger for that reason); and without a KV
cache only the first requests of W are run, and the row says so.
Quality (perplexity, tasks) is measured on `tiny`, whose speed is mostly overhead: blank's text is
noise. It goes through the same memory, token by token.
"""

from __future__ import annotations

import argparse
import os
import statistics
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

import torch

from minillm import machine
from minillm.cache.simple import NoCache, StripCache
from minillm.generate import steps
from minillm.sampling import SamplingParams
from minillm.scoreboard_engines import STRIP, PagedAlone, batched, in_blocks, whole_engine
from minillm.scoreboard_pruned import half_gone, half_gone_by_size
from minillm.scoreboard_quality import Memory, tale_perplexity, task_accuracy
from minillm.scoreboard_rows import LEGEND, RECORDED, Row, how_long, keep_row, own_file, table
from minillm.scoreboard_shrunk import shrunk_alike, shrunk_tiny
from minillm.scoreboard_together import all_of_blank, all_of_tiny, everything, int8_alone
from minillm.workload import BUDGET, COUNT, Job, workload

SPEED_BYTES = 100 * 10**6  # of the blank model's weights in float32
Engine = Callable[[object, Sequence[Job]], Iterator[tuple[int, int]]]  # -> (job, bytes held)
Change = Callable[[object], object] | None  # model -> another model


@dataclass(frozen=True)
class Kind:
    """A row that can be run by its name."""

    memory: Memory
    requests: int = COUNT  # fewer where all of W would take minutes
    engine: Engine | None = None  # None: one request after another through the memory
    change: Change = None  # what is done to a model before, such as quantising it
    blank: Change = None  # the same bytes and speed in less time: for the blank model, whose
    # numbers are noise (GPTQ and rounding to nearest differ in the codes alone)


def no_cache(model, _max_len: int) -> NoCache:
    """Chapter 03's way: nothing is kept, every step reads everything again."""
    return NoCache(model.config)


def packed(scheme: str, **options) -> Change:
    """A change: linear layers in a scheme, the head in int8, products by packed operations."""

    def change(model):
        from minillm.compress.quant import quantize

        return quantize(model, scheme, head="int8", compute="fast", **options)

    return change


both_sides_int8 = packed("w8a8")  # chapter 09: activations too


def int4_by_gptq(model):
    """Chapter 11: int4 whose rounding looked at text, 60 items of what `tiny` was trained on."""
    from minillm import load
    from minillm.compress.calibrate import own_texts

    texts = own_texts(load("tiny")[1], 60)
    return packed("int4", method="gptq", calibration=texts)(model)


KINDS = {
    "no cache": Kind(no_cache, requests=8),
    "KV cache": Kind(StripCache.for_model),
    "continuous batching": Kind(PagedAlone, engine=batched(in_blocks(STRIP))),
    "PagedAttention": Kind(PagedAlone, engine=batched(in_blocks(16))),
    "whole engine": Kind(PagedAlone, engine=batched(whole_engine)),
    "int8 weights": Kind(PagedAlone, engine=batched(whole_engine), change=packed("int8")),
    "W8A8": Kind(PagedAlone, engine=batched(whole_engine), change=both_sides_int8),
    "int4 weights": Kind(PagedAlone, engine=batched(whole_engine), change=packed("int4")),
    "int4 weights, GPTQ": Kind(
        PagedAlone, engine=batched(whole_engine), change=int4_by_gptq, blank=packed("int4")
    ),
    "50% pruned": Kind(
        PagedAlone, engine=batched(whole_engine), change=half_gone, blank=half_gone_by_size
    ),
    "shrunk": Kind(
        PagedAlone, engine=batched(whole_engine), change=shrunk_tiny, blank=shrunk_alike
    ),
    "all together": Kind(
        int8_alone, engine=batched(everything), change=all_of_tiny, blank=all_of_blank
    ),
}
LISTED = ", ".join(f'"{name}"' for name in KINDS)  # a name may hold a comma


def one_after_another(memory: Memory) -> Engine:
    """The engine of chapters 00 to 04: serve a request to its end, then the next one."""

    def engine(model, jobs):
        for number, job in enumerate(jobs):
            held = memory(model, len(job.prompt) + job.answer - 1)
            params = SamplingParams(max_tokens=job.answer, ignore_eos=True)
            for _step in steps(model, job.prompt, params, held):
                yield number, memory_bytes(held)

    return engine


def memory_bytes(memory) -> int:
    """Bytes of the tensors that a memory owns; views of the same storage count once."""
    values = vars(memory).values()
    tensors = [v for v in values if isinstance(v, torch.Tensor)]
    for value in values:
        if isinstance(value, (list, tuple)):
            tensors += [t for pair in value for t in _flat(pair)]
    storages = {t.untyped_storage().data_ptr(): t.untyped_storage().nbytes() for t in tensors}
    return sum(storages.values())


def _flat(value) -> list[torch.Tensor]:
    if isinstance(value, torch.Tensor):
        return [value]
    return [t for v in value for t in _flat(v)] if isinstance(value, (list, tuple)) else []


def run(
    name: str,
    memory: Memory | None = None,
    engine: Engine | None = None,
    requests: int | None = None,
    change: Change = None,
    quality: bool = True,
    keep: bool = True,
) -> Row:
    """Measure one row on this machine, keep it among your own, and return it.

    name: a name of KINDS, or any other with a `memory`: (model, tokens to hold) -> an empty
    memory. engine: (model, jobs) -> an iterator that gives (number of the job, bytes of the cache
    in use) for every token written; default: the kind's own, or one request after another.
    requests: so many of W (the first ones). change: what is done to both models before, such as
    quantising them; default: the kind's own. In fast mode (MINILLM_FAST=1) fewer requests and
    items, and nothing is kept.
    """
    kind = KINDS.get(name, Kind(memory, COUNT))
    memory = memory or kind.memory
    if memory is None:
        raise ValueError(f"{name!r} is not one of {LISTED}: give a memory with it")
    fast = os.environ.get("MINILLM_FAST") == "1"
    count = min(requests or kind.requests, 2 if fast else COUNT)
    blank = change or kind.blank or kind.change or (lambda model: model)
    change = change or kind.change or (lambda model: model)
    perplexity, accuracy = _quality(memory, fast, change) if quality else (None, None)
    engine = engine or kind.engine or one_after_another(memory)
    speed = _speed(engine, count, 8 if fast else 32, blank)
    row = Row(name, count, *speed, perplexity, accuracy, describe(), fast)
    if keep and not fast:
        keep_row(row, own_file())
    return row


@torch.inference_mode()
def _speed(engine: Engine, count: int, alone_tokens: int, change=lambda model: model):
    """-> (bytes, TTFT p50, one-user tokens/s, total tokens/s)."""
    model = change(speed_model())
    jobs = workload(model.config.vocab_size, count)
    alone = Job(jobs[0].prompt[:32], alone_tokens)
    list(engine(model, [Job(alone.prompt, 2)]))  # the first call of everything is slow
    times = [time.perf_counter() for _ in engine(model, [alone])]
    one_user = (len(times) - 1) / (times[-1] - times[0])
    first, most, written, began = {}, 0, 0, time.perf_counter()
    for number, held in engine(model, jobs):
        first.setdefault(number, time.perf_counter() - began)
        most, written = max(most, held), written + 1
    seconds = time.perf_counter() - began
    expected = sum(job.answer for job in jobs)
    assert written == expected, f"the engine wrote {written} tokens, W asks for {expected}"
    most += sum(sum(kinds.values()) for kinds in model.weight_bytes().values())
    if most > BUDGET:
        raise ValueError(f"{most / 1e6:.1f} MB held, and W's budget is {BUDGET / 1e6:.1f} MB")
    return most, statistics.median(first.values()), one_user, written / seconds


@lru_cache(maxsize=1)
def speed_model():
    """The blank model of SPEED_BYTES, on the GPU where there is one."""
    from minillm.blank import blank_model

    device = "cuda" if torch.cuda.is_available() else "cpu"
    return blank_model(1024, device=device, size=SPEED_BYTES)


def _quality(memory: Memory, fast: bool, change=lambda model: model) -> tuple[float, float]:
    """(perplexity of tales, share of tasks right) of tiny, read through this memory."""
    from minillm import load

    model, tokenizer = load("tiny")
    model = change(model)
    tales, items = (2, 1) if fast else (8, 12)
    return (
        tale_perplexity(model, tokenizer, memory, tales),
        task_accuracy(model, tokenizer, memory, items),
    )


def describe() -> str:
    """This machine in a few words."""
    if torch.cuda.is_available():
        name = torch.cuda.get_device_name()
    else:
        threads = torch.get_num_threads()
        name = f"{machine.cpu_model()}, {threads} thread{'s' * (threads != 1)}"
    return f"{name}, torch {torch.__version__}"


def main() -> int:
    """Entry point of `python -m minillm.scoreboard`."""
    parser = argparse.ArgumentParser(description="Measure the rows of the scoreboard.")
    names = LISTED.replace("%", "%%")  # in a help text a % begins a format
    parser.add_argument("names", nargs="*", help=f"default: all of {names}")
    parser.add_argument("--keep", action="store_true", help="keep them as your own rows")
    parser.add_argument("--record", action="store_true", help="replace the course's recorded rows")
    options = parser.parse_args()
    unknown = [name for name in options.names if name not in KINDS]
    if unknown:
        parser.error(f"no row is called {unknown[0]!r}: there are {LISTED}")
    rows, names = [], options.names or list(KINDS)
    if len(names) > 1:
        print(how_long(names), file=sys.stderr, flush=True)
    for name in names:
        print(f"{name}: running ...", file=sys.stderr, flush=True)
        rows.append(run(name, keep=options.keep))
        if rows[-1].fast and (options.keep or options.record):
            parser.error("MINILLM_FAST=1 is set: nothing is recorded in fast mode")
        if options.record:
            keep_row(rows[-1], RECORDED, order=tuple(KINDS))
    print(table(rows, later=True))
    print(LEGEND)
    if not options.keep and not options.record:
        print("Not kept: with --keep they become your own rows, which the portfolio shows.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
