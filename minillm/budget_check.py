"""The plan against the machine: predicted bytes and tokens/s beside what the engine really does.

Imports torch: the only file of the planner that measures.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Sequence
from dataclasses import replace

import torch

from minillm import machine, ops
from minillm.budget import Question, bare_plan, predict
from minillm.budget_devices import Gpu, this_machine
from minillm.budget_formats import Format
from minillm.budget_models import find_model
from minillm.config import EngineConfig
from minillm.files import LoadError

PROMPT, ANSWER = 32, 24  # tokens of the measured request
BLOCKS = 64  # of the pool
WIDTH = 1024  # of the matrices of the row speed, where no model is given
CLOSE = 0.30  # a prediction this close is called right
NAMES = {torch.float32: "fp32", torch.float16: "fp16", torch.bfloat16: "bf16"}


class RowSpeed:
    """Bytes a second that products of one row get: matrices of a layer's size, outside the cache.

    A step is made of such products. They get less than the fastest reading of a large buffer, which
    is the doctor's figure and the limit (chapter 01 shows both).
    """

    def __init__(self, device: str, dtype: torch.dtype, width: int = WIDTH):
        size, self.device = machine.buffer_size(device)[0], device
        rows = size // (width * dtype.itemsize)
        self.big = torch.ones(rows, width, dtype=dtype, device=device)
        self.row = torch.ones(1, width, dtype=dtype, device=device)
        self.pieces = self.big.split(4 * width)
        self.gain = torch.ones(width, dtype=dtype, device=device)

    def __call__(self, tries: int = 1) -> float:
        """The median of so many passes over all matrices."""
        return self.big.nbytes / statistics.median(_times(self._products, self.device, tries))

    def around(self, tries: int) -> float:
        """Seconds that a norm and an addition beside each product take: the fixed cost of one.

        Measured in between, as in a step: the weights that a product reads push the program itself
        out of the caches, so that the same two operations take several times as long as in a loop.
        """
        pairs = [
            _times(self._products, self.device, 1) + _times(self._dressed, self.device, 1)
            for _ in range(tries)
        ]
        return max(0.0, statistics.median(b - a for a, b in pairs)) / len(self.pieces)

    def _products(self) -> None:
        for piece in self.pieces:
            ops.linear(self.row, piece)

    def _dressed(self) -> None:
        for piece in self.pieces:
            ops.linear(ops.rms_norm(self.row, self.gain, 1e-6), piece)
            self.row + self.row


@torch.inference_mode()
def measured_machine(device: str | None = None, dtype: torch.dtype | None = None) -> Gpu:
    """This machine as the roofline sees it: about two seconds of measuring.

    Bandwidth is the row speed, the peak that of square matrix products. A launch is what stands
    around a product of a step: on a CPU RowSpeed.around, on a GPU what a product too small to cost
    anything takes.
    """
    device = device or ("cuda" if torch.cuda.is_available() else "cpu")
    dtype = dtype or (torch.float16 if device == "cuda" else torch.float32)
    here = this_machine() if device == "cpu" else _gpu()
    tiny, rows = torch.ones(8, 8, device=device, dtype=dtype), RowSpeed(device, dtype)
    launch = rows.around(9) if device == "cpu" else min(_times(lambda: tiny @ tiny, device, 200))
    peaks = [2 * n**3 / min(_times(_product(n, device, dtype), device, 3)) for n in (1024, 1536)]
    return replace(
        here, bandwidth=rows(9), peak=max(peaks), launch=launch,
        dtype="fp32" if dtype == torch.float32 else "16 bit", measured=True, source="measured here",
    )  # fmt: skip


def _gpu() -> Gpu:
    memory = torch.cuda.get_device_properties(0).total_memory
    capability = torch.cuda.get_device_capability(0)
    return Gpu(torch.cuda.get_device_name(0), memory, capability=capability)


def _product(n: int, device: str, dtype: torch.dtype):
    square = torch.randn(n, n, device=device, dtype=dtype)
    return lambda: square @ square


def _times(work, device: str, tries: int) -> list[float]:
    """Seconds of each try, after one that does not count."""
    wait = torch.cuda.synchronize if device == "cuda" else (lambda: None)
    found = []
    for _ in range(tries + 1):
        wait()
        start = time.perf_counter()
        work()
        wait()
        found.append(time.perf_counter() - start)
    return found[1:]


def check(names: Sequence[str] = ("blank", "gemma3-270m"), rounds: int = 7) -> dict:
    """For each model: plan it for this machine, load it, run it -> both figures, plain values.

    The speed of memory is measured in turns with the requests, so that both meet the same moods of
    a shared machine.
    """
    device = "cuda" if torch.cuda.is_available() else "cpu"
    limit = machine.read_bandwidth(device).bytes_per_second
    report = {"device": device, "limit": limit, "rows": [], "not_tried": []}
    for name in names:
        try:
            report["rows"].append(_check_one(name, device, rounds))
        except (LoadError, OSError) as error:
            report["not_tried"].append(f"{name}: {error}")
    return report


@torch.inference_mode()
def _check_one(name: str, device: str, rounds: int) -> dict:
    from minillm.engine.llm import LLM
    from minillm.load import load

    found = find_model(name)  # before minutes are spent on loading
    model, _ = load(name, device=device)
    dtype = model.embedding.weight.dtype
    llm = LLM(model, None, EngineConfig(num_blocks=BLOCKS, prefix_caching=False))
    held = sum(sum(kinds.values()) for kinds in model.weight_bytes().values()) + llm.cache.nbytes
    row_speed, pairs = RowSpeed(device, dtype, found.config.width), []
    _tokens_per_s(llm)
    for _ in range(rounds):
        pairs.append((row_speed(), _tokens_per_s(llm)))
    bandwidth, tokens = (statistics.median(column) for column in zip(*pairs))
    here = replace(measured_machine(device, dtype), bandwidth=bandwidth)
    question = Question(found, here, Format(NAMES[dtype]), context=PROMPT + ANSWER,
                        prompt=PROMPT, requests=1)  # fmt: skip
    made = bare_plan(question)
    speed = predict(question, made.weights, made.kv_token, 1)
    row = {"model": name, "dtype": NAMES[dtype], "row_speed": bandwidth, "launch": here.launch}
    row |= {"peak": here.peak, "bytes_predicted": made.weights.total + BLOCKS * made.kv_block}
    row |= {"bytes_real": held, "tokens_per_s_predicted": speed.one_user}
    row |= {"tokens_per_s_real": tokens, "off": tokens / speed.one_user - 1}
    return row | {"close": abs(row["off"]) <= CLOSE}


def _tokens_per_s(llm) -> float:
    """Of one request while it writes."""
    from minillm.sampling import SamplingParams

    params = SamplingParams(max_tokens=ANSWER, ignore_eos=True)
    (done,) = llm.generate([list(range(1, PROMPT + 1))], params)
    times = done.metrics.token_times
    return (len(times) - 1) / (times[-1] - times[0])


def render_check(report: dict):
    """A check() as a rich table."""
    from rich.table import Table
    from rich.text import Text

    table = Table(title=f"The plan against this machine ({report['device']})", title_justify="left")
    for column in ("model", "bytes: plan", "engine", "tokens/s: plan", "engine", "off",
                   f"within {CLOSE:.0%}"):  # fmt: skip
        table.add_column(column, justify="left" if column == "model" else "right")
    for row in report["rows"]:
        cells = [f"{row['model']} {row['dtype']}"]
        cells += [f"{row['bytes_predicted']:,}", f"{row['bytes_real']:,}"]
        cells += [f"{row['tokens_per_s_predicted']:.1f}", f"{row['tokens_per_s_real']:.1f}"]
        cells += [f"{row['off']:+.0%}", "yes" if row["close"] else "no"]
        table.add_row(*map(Text, cells))
    lines = [f"limit of reading (doctor): {report['limit'] / 1e9:.1f} GB/s"]
    for row in report["rows"]:
        lines.append(
            f"{row['model']}: planned with a row speed of {row['row_speed'] / 1e9:.1f} GB/s"
        )
    lines += [f"not tried: {line}" for line in report["not_tried"]]
    table.caption, table.caption_justify = "\n".join(lines), "left"
    return table
