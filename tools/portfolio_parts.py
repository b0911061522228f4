"""The parts of the portfolio: each is a piece of HTML, and a sentence if something is missing."""

from __future__ import annotations

import base64
import html
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from exercises.desk import status
from exercises.grading import spec
from exercises.notebook import calibration, my_solution, question

CAPSTONE, WORKLOAD = "14.4", "14.2"


@dataclass(frozen=True)
class Part:
    """One section of the page."""

    html: str
    missing: str = ""  # what is not there yet, and how to get it


def image(picture) -> str:
    """A show.Picture inside the page, with its alt text."""
    data = base64.b64encode(picture.png()).decode()
    return f'<p><img src="data:image/png;base64,{data}" alt="{html.escape(picture.alt)}"></p>'


def small(text: str) -> str:
    """A caption."""
    return f'<p class="small">{html.escape(text)}</p>'


def table(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Text cells; all but the first column aligned right."""
    side = lambda i: ' style="text-align:right"' if i else ' style="text-align:left"'
    line = lambda tag, cells: (
        "<tr>"
        + "".join(f"<{tag}{side(i)}>{html.escape(c)}</{tag}>" for i, c in enumerate(cells))
        + "</tr>"
    )
    return f"<table>{line('th', columns)}{''.join(line('td', row) for row in rows)}</table>"


def capstone() -> Part:
    """The learner's configuration, run again now: figures beside limits and bounds, a timeline."""
    case, answer = question(CAPSTONE), my_solution(CAPSTONE)
    what = f"The {case['product']} {case['does']}. {len(case['jobs'])} requests."
    if answer is None:
        said = "The capstone is not solved yet: notebook 14, then python -m exercises check 14.4."
        return Part(small(what), said)
    from exercises.ch14_choice import serving
    from minillm.show import served

    outcome = serving.serve(case, answer, text=False)
    config = "\n".join(f'"{key}": {value!r},' for key, value in answer.items())
    columns = ("", "mine", "asked for", "best possible")
    parts = [f"<p>{html.escape(what)}</p><pre>{html.escape(config)}</pre>"]
    parts += [table(columns, limits(case, answer, outcome)), small(NOTE)]
    parts += [image(served(outcome.times)), small(TIMELINE)]
    return Part("\n".join(parts))


def tried() -> Part:
    """What was tried in the notebook's workbench, and which limits each try broke."""
    from exercises.ch14_choice import workbench

    rows = workbench.kept()
    if not rows:
        said = "No try was kept yet: run section 6 of notebook 14, with lines of your own."
        return Part("", said)
    columns = ("tried", "changed", "MB", "TTFT p95, ms", "TPOT p95, ms", "tokens/s", "broken")
    return Part(table(columns, rows) + small(TRIED))


NOTE = (
    "Time is that of the paper GPU's clock, made 2,000 times smaller; it was not measured on a "
    "device. Shares of right answers: recorded with 300 items a task. Best TPOT: a step reads "
    "the weights once. Best tokens/s: every step writes one token for every seat that was "
    "taken at the same time, and reads nothing but the weights."
)
TRIED = (
    "By the paper GPU's clock, 2,000 times smaller. changed: against int8 weights, K and V in "
    "fp16, blocks of 16, 64 seats, 512 tokens a step, no prefix cache; the blocks fill the budget."
)
TIMELINE = (
    "Above: requests that wait. Below: seats over the seconds of that clock, one colour a request; "
    "hatched while its prompt is read, plain while it writes."
)


def limits(case: dict, answer: dict, outcome) -> list[tuple[str, str, str, str]]:
    """Rows: every figure of the capstone, the limit, and the bound where there is one."""
    from exercises.ch14_choice import serving, workload

    held, step = outcome.weights + outcome.pool, outcome.weights / serving.SMALL_GPU.bandwidth
    shares = workload.quality(
        case["product"], answer["weights"], answer["pruning"], answer["kv_dtype"]
    )
    ms = lambda seconds: f"{1000 * seconds:.1f} ms"
    rows = [("weights and pool", f"{held / 1e6:.2f} MB", f"<= {case['budget'] / 1e6:.2f} MB", "")]
    rows += [
        (f"{task}, right", f"{shares[task]:.1%}", f">= {floor:.1%}", "")
        for task, floor in case["floors"].items()
    ]
    rows.append(("TTFT, p95", ms(outcome.ttft), f"<= {ms(case['ttft'])}", ""))
    rows.append(("TPOT, p95", ms(outcome.tpot), f"<= {ms(case['tpot'])}", f">= {ms(step)}"))
    speed = f"{outcome.score:.0f} tokens/s"
    bound = f"<= {outcome.most / step:.0f} tokens/s"
    taken = f"speed, {outcome.most} of {answer['max_num_seqs']} seats taken"
    rows.append((taken, speed, f">= {case['least']} tokens/s", bound))
    return rows


def seats() -> Part:
    """The workload of 14.2 as the planner sees it; a part of its answer, so only after it."""
    if my_solution(WORKLOAD) is None:
        return Part("", "The planner's picture of your workload stands here once 14.2 is right.")
    from minillm.budget import plan
    from minillm.show import plan_bar

    made = plan(workload_question(question(WORKLOAD)))
    q = made.question
    said = (
        f"Exercise 14.2, not the capstone: what the planner says about {q.requests} requests of "
        f"{q.context:,} tokens, {q.model.name} on {q.gpu.name}. Grey: weights. Hatched: "
        f"slack. Each tile: one request; {made.largest} fit. Tokens/s: at "
        "best, by the planner."
    )
    return Part(image(plan_bar(made)) + small(said))


def workload_question(asked: dict):
    """The numbers of exercise 14.2 -> a Question for the planner."""
    from minillm.budget import Question
    from minillm.budget_devices import Gpu, find_gpu
    from minillm.budget_formats import Format
    from minillm.budget_models import of_count
    from minillm.clock import PAPER_GPU as paper

    if "paper" in asked["device"]:
        gpu = Gpu("the paper GPU", paper.memory, paper.bandwidth, paper.peak, paper.launch)
    else:
        gpu = find_gpu("A100-80GB")
    model = of_count(round(asked["count"]), asked["model"].lower())
    form = Format(f"int{asked['bits']}", asked["group"])
    kv = "int8" if asked["kv_bytes"] == 1 else "auto"
    return Question(model, gpu, form, kv, asked["tokens"], requests=asked["requests"])


def predictions() -> Part:
    """Guesses against what was measured."""
    from minillm.show import calibration_plot

    found = calibration()
    if not found:
        said = "No prediction was measured yet: "
        said += "run the cell after 14.2 in notebook 14." if my_solution(WORKLOAD) else (
            "answer a [predict] exercise, then run its notebook.")  # fmt: skip
        return Part("", said)
    near = sum(score <= 1 for *_, score in found)
    rows = [
        (name, f"{guess:.4g}", f"{real:.4g}", f"{max(guess / real, real / guess):.2f}")
        for name, guess, real, _ in found
    ]
    said = f"{near} of {len(found)} guesses were within a factor of 2 (the pale band)."
    parts = [image(calibration_plot(found)), small(said)]
    return Part("\n".join([*parts, table(("", "guess", "measured", "times off"), rows)]))


def board() -> Part:
    """The learner's rows on workload W beside the recorded ones, and what this machine allows."""
    from minillm import machine
    from minillm.blank import blank_config
    from minillm.clock import num_parameters
    from minillm.scoreboard import KINDS, SPEED_BYTES
    from minillm.scoreboard_rows import how_long, own_file, read_rows, table

    if not read_rows(own_file()):
        missing = "No row is yours yet: run the last cells of the notebooks, or python -m "
        missing += f"minillm.scoreboard --keep ({how_long(list(KINDS))})."
        return Part("", missing)
    limit = machine.read_bandwidth("cpu").bytes_per_second
    held = 4 * num_parameters(blank_config(size=SPEED_BYTES))
    said = (
        f"This machine reads {limit / 1e9:.1f} GB/s (measured now). So the dense model of this "
        f"table ({held / 1e6:.0f} MB) writes at most {limit / held:.0f} tokens/s for one user, "
        "unless the cache holds it."
    )
    return Part(small(BOARD) + table()._repr_html_() + small(said))


BOARD = (
    "Workload W: 32 requests; one row a chapter, those of mine in colour, the project's own in "
    'grey (its machine is named below). "8 of 32": slow rows run the first requests only. MB: '
    "weights and cache together, in a budget that never changes: what weights save becomes cache. "
    "tasks: right answers of the small model `tiny`; perplexity: how surprised it is by unseen "
    "text."
)


def exercises() -> Part:
    """How many are solved, by chapter."""
    rows = status.facts(spec.all_ids())
    solved = [row for row in rows if row["state"] == "solved"]
    evening = [row for row in rows if row["evening"]]
    chapter = lambda row: row["id"].split(".")[0]
    of, done = Counter(map(chapter, rows)), Counter(map(chapter, solved))
    lines = [
        (f"{key.zfill(2)} {status.TITLES.get(key, '')}", f"{done[key]} of {count}")
        for key, count in of.items()
    ]
    said = f"{len(solved)} of {len(rows)} solved, "
    said += f"{sum(row['evening'] for row in solved)} of {len(evening)} on the evening path."
    missing = "" if solved else "No exercise is solved yet."
    return Part(f"<p>{said}</p>" + table(("chapter", "solved"), lines), missing)
