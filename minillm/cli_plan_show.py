"""A plan as plain values, and as tables in words."""

from __future__ import annotations

from dataclasses import asdict

from minillm.budget import Plan
from minillm.budget_advice import chapter_file, decision_table, most_pressing
from minillm.budget_formats import CODED
from minillm.clock import PAPER_GPU

GB, GIB = 1e9, 2**30


def as_values(plan: Plan) -> dict:
    """Everything as one JSON object: bytes, seconds, tokens a second."""
    q, money, speed = plan.question, plan.money, plan.speed
    model = {"name": q.model.name, "parameters": plan.weights.parameters}
    model |= {"attention_of": q.model.name if q.model.count else None}
    names = ("kv_dtype", "context", "prompt", "requests", "block_size", "max_batch_tokens")
    own = ("kv_token", "kv_block", "kv_request", "kv_request_windowed", "activations", "slack")
    rows = [asdict(row) for row in decision_table(plan)]
    for row in rows:
        row["notebooks"] = [chapter_file(chapter) for chapter in row["chapters"]]
    return {
        "model": model,
        "device": asdict(q.gpu),
        "format": asdict(q.format),
        **{name: getattr(q, name) for name in names},
        "weights": asdict(plan.weights) | {"total": plan.weights.total},
        **{name: getattr(plan, name) for name in own},
        "room": plan.room,
        "blocks": plan.blocks,
        "largest_batch": plan.largest,
        "fits": plan.fits,
        "missing": plan.missing,
        "would_fit": list(plan.would_fit),
        "speed": None if speed is None else asdict(speed),
        "money": None if money is None else asdict(money),
        "advice": rows,
    }


def render(plan: Plan, whole: bool = False):
    """Bytes, speed, money, and the advice that applies most (whole: the decision table)."""
    from rich.console import Group
    from rich.text import Text

    parts = [_bytes_table(plan), *map(Text, _seats(plan)), Text(""), *map(Text, _speed(plan))]
    parts += [*map(Text, _money(plan)), Text("")]
    parts += [_advice_table(plan)] if whole else _advice(plan)
    return Group(*parts)


def size(count: float) -> str:
    """Bytes in GB and GiB, small ones in MB and MiB."""
    if abs(count) < 0.1 * GB:
        return f"{count / 1e6:,.3f} MB ({count / 2**20:,.3f} MiB)"
    many = abs(count) >= 100 * GB
    return f"{count / GB:,.{0 if many else 2}f} GB ({count / GIB:,.{0 if many else 2}f} GiB)"


def number_of(weights: int) -> str:
    """3.608 million, 70.55e9."""
    return f"{weights / 1e6:.4g} million" if weights < 1e9 else f"{weights / 1e9:.4g}e9"


def _bytes_table(plan: Plan):
    from rich.table import Table
    from rich.text import Text

    q, w = plan.question, plan.weights
    title = f"{q.model.name}, {number_of(w.parameters)} weights, {q.format}"
    if q.model.count:
        title = f"{number_of(w.parameters)} weights, {q.format}; attention like {q.model.name}"
    table = Table(title=Text(title), title_justify="left", show_header=False, box=None)
    row = lambda name, value, note="": table.add_row(Text(name), Text(value), Text(note))
    row("weights", size(w.total), f"{8 * w.total / w.parameters:.3f} bits a weight over all")
    if w.scales:
        row("  of it scales", size(w.scales))
    if not q.model.count:
        row("  of it embedding and head", size(w.embedding + w.head))
    row("K/V of a token", f"{plan.kv_token:,} bytes", f"{q.kv_dtype}: all layers, own K/V heads")
    row("K/V of a request", size(plan.kv_request), f"{q.context} tokens in whole blocks")
    if plan.kv_request_windowed is not None:
        note = "if layers with a window forgot what lies outside it (this engine keeps all)"
        row("  with windows", size(plan.kv_request_windowed), note)
    row("slack", size(plan.slack), f"kept free; a step's activations need about "
        f"{size(plan.activations)} of it")  # fmt: skip
    row("device", size(q.gpu.memory), f"{q.gpu.name}: {q.gpu.source}")
    if q.model.count and q.format.dtype in CODED:
        note = "all are taken as coded; where embedding and head stay 16 bit it is more (--model)"
        row("", "", note)
    return table


def _seats(plan: Plan) -> list[str]:
    q = plan.question
    if not plan.fits:
        return [
            f"Does not fit: {size(plan.missing)} are missing for one request.",
            "Would fit:",
            *(f"  {way}" for way in plan.would_fit),
        ]
    line = f"{size(plan.room)} for K/V: {plan.blocks:,} blocks of {q.block_size} tokens, "
    seats = "1 request" if plan.largest == 1 else f"{plan.largest:,} requests"
    lines = [line + f"{seats} of {q.context} tokens at once."]
    if q.requests:
        wait = q.requests - plan.largest
        lines.append(f"All {q.requests} fit." if wait <= 0 else f"{wait} of {q.requests} wait.")
    return lines


def _speed(plan: Plan) -> list[str]:
    speed, gpu = plan.speed, plan.question.gpu
    if speed is None:
        how = "--measure (this machine), --gpu NAME or --bandwidth 900GB"
        return [] if not plan.fits else [f"Speed: no bandwidth is known; give {how}."]
    kind = "measured here" if gpu.measured else "published"
    lines = [
        f"At best ({kind} {gpu.bandwidth / GB:,.1f} GB/s; no program reaches all of it): one user "
        f"{speed.one_user:,.1f} tokens/s, {speed.batch:,} at once {speed.decode:,.0f} tokens/s "
        f"(waiting for {speed.bound})."
    ]
    if speed.ttft is None:
        lines.append("First token: no peak FLOP/s of this format is known (--peak 150e12).")
    else:
        lines.append(
            f"First token after {plan.question.prompt} prompt tokens: {speed.ttft:.3g} s at best, "
            f"alone. With the prompts read: {speed.sustained:,.0f} written tokens/s."
        )
    if 1 / speed.one_user < speed.launches * max(gpu.launch, PAPER_GPU.launch):
        lines.append(
            f"A step this short has {speed.launches} operations to start: that takes longer than "
            "its bytes, so expect much less."
        )
    return lines


def _money(plan: Plan) -> list[str]:
    money, q = plan.money, plan.question
    if money is None:
        return []
    lines = [f"A million written tokens: {money.per_million:.3g} at {q.price_per_hour:g} an hour."]
    if money.busy is not None:
        lines.append(
            f"Break-even with {q.api_price:g} elsewhere: {money.tokens_an_hour:,.0f} written "
            f"tokens an hour, {money.busy:.0%} of what the device can do. {_cheaper(money.busy)}"
        )
    return lines


def _cheaper(busy: float) -> str:
    if busy > 1:
        return "So the API is cheaper."
    return (
        f"So the device is cheaper if it is busy more than {busy:.0%} of its hours, else the API."
    )


def _advice(plan: Plan) -> list:
    from rich.text import Text

    parts = []
    for row in most_pressing(plan):
        parts += [Text(f"{row.situation}: {row.here}", style="bold"), _in_words(row), Text("")]
    return [*parts, Text("all advice: --table", style="dim")]


def _in_words(row):
    """A row's saying is not the course's advice: each line says whose it is."""
    from rich.text import Text

    see = ", ".join(map(chapter_file, row.chapters))
    text = Text(f"Often said: {row.said}\n", style="dim") + Text(f"Better: {row.better}")
    return text + Text(f"\nSee: {see}", style="dim")


def _advice_table(plan: Plan):
    from rich.table import Table
    from rich.text import Text

    table = Table(title="The decision table", title_justify="left", show_lines=True)
    table.add_column("situation, and your figures", ratio=2)
    table.add_column("often said / better / see", ratio=5)
    for row in decision_table(plan):
        left = Text(row.situation, style="bold") + Text(f"\n{row.here}", style="not bold")
        table.add_row(left, _in_words(row))
    return table
