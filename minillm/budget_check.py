"""The plan against the machine: predicted bytes and tokens/s beside what the engine really does.

Imports torch: the only file of the planner that measures.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Sequence
from dataclasses import replace

import torch

from minillm import machine
from minillm.budget import Question, bare_plan, predict
from minillm.budget_devices import Gpu, this_machine
from minillm.budget_formats import Format
from minillm.budget_models import find_model
from minillm.config import EngineConfig
from minillm.files import LoadError

PROMPT, ANSWER = 32, 24  # tokens of the measured request
CLOSE = 0.30  # a prediction this close is called right
NAMES = {torch.float32: "fp32", torch.float16: "fp16", torch.bfloat16: "bf16"}


@torch.inference_mode()
def measured_machine(device: str = "cpu", dtype=torch.float32) -> Gpu:
    """This machine as the roofline sees it: about four seconds of measuring.

    Bandwidth is the doctor's read bandwidth; the peak is that of square matrix products; a launch
    is what a product too small to cost anything takes, as a step pays it for each of its matrices.
    """
    here = this_machine() if device == "cpu" else _gpu()
    kind = "fp32" if dtype == torch.float32 else "16 bit"
    read = machine.read_bandwidth(device, budget_s=1.0).bytes_per_second
    tiny = torch.ones(8, 8, device=device, dtype=dtype)
    launch = _seconds(lambda: tiny @ tiny, device, 200)
    peaks = [2 * n**3 / _seconds(_product(n, device, dtype), device, 3) for n in (1024, 1536)]
    return replace(
        here, bandwidth=read, peak=max(peaks), launch=launch, dtype=kind, measured=True,
        source="measured here",
    )  # fmt: skip


def _gpu() -> Gpu:
    memory = torch.cuda.get_device_properties(0).total_memory
    capability = torch.cuda.get_device_capability(0)
    return Gpu(torch.cuda.get_device_name(0), memory, capability=capability)


def _product(n: int, device: str, dtype):
    square = torch.randn(n, n, device=device, dtype=dtype)
    return lambda: square @ square


def _seconds(work, device: str, tries: int) -> float:
    """The shortest time of `work`, after one call that is not counted."""
    wait = torch.cuda.synchronize if device != "cpu" else (lambda: None)
    work()
    best = float("inf")
    for _ in range(tries):
        wait()
        start = time.perf_counter()
        work()
        wait()
        best = min(best, time.perf_counter() - start)
    return best


def check(names: Sequence[str], rounds: int = 3) -> dict:
    """For each model: plan it for this machine, load it, run it -> both figures, plain values.

    The machine is measured before and after; the prediction is made with the mean of both, since
    a shared machine's memory is not equally fast all the time.
    """
    device = "cuda" if torch.cuda.is_available() else "cpu"
    report = {"device": device, "rows": [], "not_tried": []}
    for name in names:
        try:
            report["rows"].append(_check_one(name, device, rounds))
        except (LoadError, OSError) as error:
            report["not_tried"].append(f"{name}: {error}")
    return report


def _check_one(name: str, device: str, rounds: int) -> dict:
    from minillm.load import load

    model, _ = load(name, device=device)
    dtype = model.embedding.weight.dtype
    before = measured_machine(device, dtype)
    blocks = 64
    bytes_real, tokens = _run(model, blocks, rounds)
    after = measured_machine(device, dtype)
    mean = lambda what: (getattr(before, what) + getattr(after, what)) / 2
    here = replace(before, bandwidth=mean("bandwidth"), peak=mean("peak"), launch=mean("launch"))
    question = Question(find_model(name), here, Format(NAMES[dtype]), context=PROMPT + ANSWER,
                        prompt=PROMPT, requests=1)  # fmt: skip
    made = bare_plan(question)
    speed = predict(question, made.weights, made.kv_token, 1)
    predicted = made.weights.total + blocks * made.kv_block
    row = {"model": name, "dtype": NAMES[dtype], "bandwidth": here.bandwidth}
    row |= {"launch": here.launch, "peak": here.peak}
    row |= {"bytes_predicted": predicted, "bytes_real": bytes_real}
    row |= {"tokens_per_s_predicted": speed.one_user, "tokens_per_s_real": tokens}
    row |= {"off": tokens / speed.one_user - 1}
    return row | {"close": abs(row["off"]) <= CLOSE}


def _run(model, blocks: int, rounds: int) -> tuple[int, float]:
    """-> (bytes of weights and pool, tokens/s of one request while it writes; the median)."""
    from minillm.engine.llm import LLM
    from minillm.sampling import SamplingParams

    llm = LLM(model, None, EngineConfig(num_blocks=blocks, prefix_caching=False))
    held = sum(sum(kinds.values()) for kinds in model.weight_bytes().values()) + llm.cache.nbytes
    params = SamplingParams(max_tokens=ANSWER, ignore_eos=True)
    speeds = []
    for _ in range(rounds + 1):  # the first warms up
        (done,) = llm.generate([list(range(1, PROMPT + 1))], params)
        times = done.metrics.token_times
        speeds.append((len(times) - 1) / (times[-1] - times[0]))
    return held, statistics.median(speeds[1:])


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
    table.caption = "\n".join(
        [f"{r['model']}: {r['bandwidth'] / 1e9:.1f} GB/s read, {r['launch'] * 1e6:.1f} us a launch"
         for r in report["rows"]] + [f"not tried: {line}" for line in report["not_tried"]]
    )  # fmt: skip
    return table
