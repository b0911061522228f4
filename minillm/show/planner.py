"""Pictures of chapter 14: what a plan leaves for requests, and how fast each choice can be."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from minillm.budget import Plan, Question, plan
from minillm.show.canvas import Picture, short
from minillm.show.memory import Load
from minillm.show.packed import seat_bar
from minillm.show.score import Table
from minillm.show.widget import Widget, widget


def plan_bar(made: Plan, widest: float | None = None, alt: str = "") -> Picture:
    """The seats of one plan: weights grey, slack hatched, a tile a request; above: tokens/s.

    Tokens/s: of one user alone, of all seats together, at best; "?" where no bandwidth is known.
    """
    q, speed = made.question, made.speed
    load = Load(q.model.name, made.weights.total, made.slack, made.kv_request)
    picture = seat_bar(q.gpu.memory, load, widest)
    words = "? tokens/s"
    if speed:
        words = f"one user {short(speed.one_user)}, all {short(speed.decode)} tokens/s"
    picture.figure.axes[0].set_title(words if made.fits else " ", loc="right", fontsize=9)
    name = f"{q.model.count / 1e9:.3g}e9 weights" if q.model.count else q.model.name
    said = f"{name} in {q.format}: {picture.alt}"
    if speed:
        said += (
            f" At best {short(speed.one_user)} tokens/s for one user, {short(speed.decode)} for "
            f"{speed.batch} at once."
        )
    elif not made.fits:
        said += f" {short(made.missing / 1e9)} GB are missing for one request."
    return Picture(picture.figure, alt or said)


def plan_slider(
    questions: Mapping[str, Question], label: str = "plan", static: Sequence[str] = ()
) -> Widget:
    """plan_bar with a slider over questions: formats, contexts, devices, whatever was asked.

    questions: name -> Question. static: frames of the saved twin. All frames share one scale.
    """
    plans = {name: plan(question) for name, question in questions.items()}
    ends = [max(p.weights.total + p.slack, p.question.gpu.memory) for p in plans.values()]
    frame = lambda name: plan_bar(plans[name], max(ends))
    return widget(frame, tuple(plans), label, static)


def plans_table(questions: Mapping[str, Question], note: str = "") -> Table:
    """The same plans as a table: GB of weights, requests, tokens/s, price of a million tokens."""
    columns = ("plan", "weights, GB", "K/V a request, GB", "requests", "one user, tokens/s",
               "together, tokens/s", "first token, s", "a million tokens")  # fmt: skip
    rows = []
    for name, question in questions.items():
        made = plan(question)
        speed, money = made.speed, made.money
        cells = [name, f"{made.weights.total / 1e9:.2f}", f"{made.kv_request / 1e9:.3f}"]
        cells += [f"{made.largest:,}"]
        cells += [f"{speed.one_user:,.1f}", f"{speed.decode:,.0f}"] if speed else ["", ""]
        cells += [f"{speed.ttft:.3g}" if speed and speed.ttft else ""]
        cells += [f"{money.per_million:.3g}" if money else ""]
        rows.append((tuple(cells), False))
    return Table(
        columns, tuple(rows), note or "at best: published figures, no program reaches them"
    )
