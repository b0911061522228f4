"""The decision table: what is usually said, what this course measured, and which rows are yours.

Each row names the chapter that shows it. The sayings are those of the articles the course is built
from; where they are loose, `better` says what is right. No torch here.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from minillm.budget import Plan
from minillm.budget_formats import CODED

NOTEBOOKS = Path(__file__).resolve().parents[1] / "notebooks"
SLOW_TTFT = 1.0  # seconds: longer than this feels like waiting
SLOW_MEMORY = 150e9  # bytes/s: laptops and phones


@dataclass(frozen=True)
class Advice:
    """One row."""

    situation: str
    said: str  # the usual advice
    better: str  # the same, put right
    chapters: tuple[str, ...]
    here: str  # why the row applies to this plan, with its figures; "": it does not
    weight: int = 1  # 1: always or at most good to know, 2: its figures say so, 3: it hinders


def decision_table(plan: Plan) -> list[Advice]:
    """All rows, those of this plan with their figures."""
    serving = (_engine, _precision, _memory, _context, _many, _realtime)
    return [row(plan) for row in (*serving, _pruning, _edge, _api)]


def most_pressing(plan: Plan) -> list[Advice]:
    """The one or two rows that apply most."""
    rows = [row for row in decision_table(plan) if row.here]
    rows.sort(key=lambda row: -row.weight)  # equal ones stay in the table's order
    return [row for row in rows[:2] if row.weight > 1] or rows[:1]


def chapter_file(chapter: str) -> str:
    """The notebook of a chapter, as a path inside the repository; "chapter 12" where it is not."""
    found = sorted(NOTEBOOKS.glob(f"{chapter}_*.ipynb"))
    return f"notebooks/{found[0].name}" if found else f"chapter {chapter}"


def _gb(count: float) -> str:
    return f"{count / 1e9:.2f} GB"


def _engine(plan: Plan) -> Advice:
    return Advice(
        "You want to serve a model",
        "Do not write an engine: take vLLM or TGI.",
        "Take vLLM or SGLang (TGI is archived). Start in 16 bit: that is the baseline, for speed "
        "and for quality. Then change one thing at a time, and measure.",
        ("14",),
        "always",
    )


def _precision(plan: Plan) -> Advice:
    form, weights = plan.question.format, plan.weights
    here = f"{form.dtype}: {8 * weights.total / weights.parameters:.2f} bits a weight over all"
    if form.dtype in CODED:
        here += f", {_gb(weights.scales)} of it scales"
    return Advice(
        "Which precision?",
        "16 bit; int8 if memory is short; int4 after a test. GPTQ and AWQ keep more bits for "
        "important weights.",
        "Right, and test YOUR tasks: equal perplexity is not an equal model. GPTQ and AWQ give "
        "every weight the same bits. Fewer bytes are faster at few rows, not at many.",
        ("09", "11"),
        here,
    )


def _memory(plan: Plan) -> Advice:
    share = plan.weights.total / plan.question.gpu.memory
    here, whole = "", 2 * plan.weights.parameters
    if share > 0.1:
        here = f"the weights take {share:.0%} of the memory"
        if plan.weights.total < 0.9 * whole:
            here += f": {_gb(plan.weights.total)} instead of {_gb(whole)} in 16 bit"
    if not plan.fits:
        here = f"{_gb(plan.missing)} are missing for one request"
    return Advice(
        "Memory is short",
        "Quantise to int8 or int4 first.",
        "Yes, and count all of it: weights with scales, K/V, slack. int4 is 3.8 times smaller than "
        "16 bit in groups of 64, not 4, and head and embedding stay large.",
        ("01", "10"),
        here,
        3 if not plan.fits else 2 if share > 0.5 else 1,
    )


def _context(plan: Plan) -> Advice:
    batch = plan.question.requests or max(1, plan.largest)
    held = batch * plan.kv_request
    here = ""
    if held > plan.weights.total / 2:
        here = f"K/V of {batch} requests: {_gb(held)}, weights: {_gb(plan.weights.total)}"
    return Advice(
        "Long contexts and answers",
        "Optimise the cache: PagedAttention.",
        "Paging ends the waste between MANY requests. A single long one needs the same bytes with "
        "it. What helps there: few K/V heads (GQA), windows, K/V in int8.",
        ("04", "06", "09"),
        here,
        2,
    )


def _many(plan: Plan) -> Advice:
    asked, here = plan.question.requests, ""
    if asked and asked > plan.largest:
        here = f"{plan.largest} of {asked} requests run at once, the others wait"
    elif asked != 1 and plan.largest > 1:
        here = f"{plan.largest} requests of {plan.question.context} tokens fit at once"
    return Advice(
        "Many requests at the same time",
        "Continuous batching.",
        "Yes; every engine has it. After it seats decide: smaller weights and K/V make room for "
        "more of them, and a shared beginning is read and kept once (prefix caching).",
        ("05", "07", "10"),
        here,
        3 if asked and asked > plan.largest else 2,
    )


def _realtime(plan: Plan) -> Advice:
    speed, here = plan.speed, ""
    if speed and speed.ttft and speed.ttft > SLOW_TTFT:
        here = f"reading {plan.question.prompt} tokens takes at least {speed.ttft:.1f} s"
    elif plan.question.requests and plan.question.requests > plan.largest:
        here = "requests wait for a seat: that is latency too"
    return Advice(
        "Answers in real time",
        "Lower the batch size.",
        "That lowers the time of a token. But near the limit of the device a small batch makes "
        "requests wait at the door without end: set the cap by p95 at YOUR rate of requests. Long "
        "prompts: pieces, and prefix caching.",
        ("05", "07"),
        here,
        2,
    )


def _pruning(plan: Plan) -> Advice:
    return Advice(
        "The model itself should be smaller",
        "Quantise or prune; pruning saves arithmetic, and needs long training.",
        "Quantise first. Single zeros save no byte in a dense file and no time: half of them in a "
        "sparse format may be LARGER. Whole heads, channels and layers save both, and need some "
        "training.",
        ("12", "13"),
        "" if plan.fits else "it does not fit",
        2,
    )


def _edge(plan: Plan) -> Advice:
    bandwidth, here = plan.question.gpu.bandwidth, ""
    if bandwidth and bandwidth < SLOW_MEMORY:
        most = bandwidth / plan.weights.read
        here = f"{bandwidth / 1e9:.0f} GB/s / {_gb(plan.weights.read)}: {most:.1f} tokens/s at most"
    return Advice(
        "A laptop or a phone",
        "4 bit is decisive there.",
        "It is, twice: the weights fit, and every token must read all of them, so tokens/s are at "
        "most bandwidth / bytes of weights.",
        ("01", "10"),
        here,
        2,
    )


def _api(plan: Plan) -> Advice:
    money, here = plan.money, ""
    if money and money.busy is not None:
        here = f"{money.per_million:.2f} a million at full load, the API "
        here += f"{plan.question.api_price:.2f}: "
        if money.busy > 1:
            here += "the API is cheaper even then"
        else:
            here += f"cheaper if the device is busy more than {money.busy:.0%} of its hours"
    elif money:
        here = f"{money.per_million:.2f} dollars a million written tokens at full load"
    return Advice(
        "Own device or somebody's API",
        "Sometimes a commercial API is the right answer.",
        "A million tokens cost price an hour / tokens an hour, and the price runs at night too. "
        "Compare at your real load, not at full load.",
        ("14",),
        here,
        3 if plan.question.api_price else 2,
    )
