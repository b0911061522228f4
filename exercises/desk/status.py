"""`python -m exercises status`: what is solved, what waits, how many minutes are left."""

from __future__ import annotations

from exercises.desk import answers, progress
from exercises.grading import spec

# state -> (rich style, what it says). Words carry the meaning, colours only repeat it.
LOOKS = {
    "solved": ("green", "solved"),
    "failing": ("red", "failing"),
    "changed": ("cyan", "changed, not graded"),
    "parked": ("yellow", "parked"),
    "missing": ("red", "file is missing"),
    "not started": ("dim", "not started"),
    "cannot run here": ("dim", "cannot run here"),
}
TITLE = 24  # a title has so many columns of the terminal before it is wrapped
CAPSTONE = "14.4"
LAST = "next: make portfolio (your memo and your figures on one page)\n"
WAITING = ("failing", "changed", "not started")
TITLES = {
    "0": "What will we build?", "1": "Why is inference slow?",
    "2": "What does a transformer compute?", "3": "How does it write text?",
    "4": "Why keep keys and values?", "5": "Why not wait for the slowest?",
    "6": "Where does cache memory go?", "7": "How does a real engine schedule?",
    "8": "What is a number in 8 or 4 bits?", "9": "Does int8 make it faster?",
    "10": "How do you pack 4 bits?", "11": "Which weights matter?", "12": "Can we drop weights?",
    "13": "Can we drop heads, channels, layers?", "14": "What should I choose?",
    "A1": "How does a Triton kernel think?",
}  # fmt: skip


def facts(ids: list[str]) -> list[dict]:
    """One dict an exercise: everything that status shows, as plain values."""
    data, rows = progress.load(), []
    for exercise_id in ids:
        exercise = spec.get(exercise_id)
        one = data["exercises"].get(exercise_id, progress.ENTRY)
        rows.append(
            {
                "id": exercise_id,
                "title": exercise.title,
                "kind": exercise.kind,
                "state": answers.state(exercise_id, data),
                "evening": exercise.evening,
                "minutes": exercise.minutes,
                "difficulty": exercise.difficulty,
                "hardware": exercise.hardware,
                "attempts": one["attempts"],
                "hints": one["hints"],
                "seen": one["seen"],
                "file": answers.shown(answers.path_of(exercise_id)),
            }
        )
    return rows


def minutes_left(rows: list[dict], evening: bool = False) -> int:
    """Minutes of what is neither solved nor impossible on this machine."""
    done = ("solved", "cannot run here")
    left = [r for r in rows if r["state"] not in done and (r["evening"] or not evening)]
    return sum(r["minutes"] for r in left)


def fitting(rows: list[dict], console):
    """The table for this console: where it is narrow, columns go before a title is cut."""
    unlimited = console.options.update(max_width=10_000)
    few, fewest = ("level",), ("level", "kind")
    for without, state in ((), None), (few, None), (few, 12), (fewest, 12):
        out = table(rows, without, state)
        out.columns[1].max_width = TITLE
        fits = console.measure(out, options=unlimited).maximum <= console.width
        out.columns[1].max_width = None
        if fits:
            return out
    return table(rows, fewest, 9)


def table(rows: list[dict], without: tuple[str, ...] = (), state: int | None = None):
    """A rich table, chapter by chapter; the evening path is bold and has a star.

    without: columns that are left out. state: wrap it (and the tries) when it is wider than this.
    """
    from rich.table import Table
    from rich.text import Text

    out = Table(box=None, padding=(0, 1), caption=_caption(rows), caption_justify="left")
    names = ("", "exercise", "kind", "min", "level", "state", "tries")
    shown = [n for n, name in enumerate(names) if name not in without]
    for name in (names[n] for n in shown):
        right, widest = name in ("min", "level"), {"state": state, "tries": state and 9}.get(name)
        out.add_column(
            name.replace("tries", ""), justify="right" if right else "left", overflow="fold",
            no_wrap=name != "exercise" and not widest, max_width=widest,
        )  # fmt: skip
    add = lambda *cells: out.add_row(*(cells[n] for n in shown))
    chapter = None
    for row in rows:
        here = row["id"].split(".")[0]
        if here != chapter:
            chapter, mine = here, [r for r in rows if r["id"].split(".")[0] == here]
            left = minutes_left(mine)
            head = f"{here.zfill(2)} {TITLES.get(here, '')}"
            add("", Text(head, style="underline"), "", "", "", f"{left} min left", "")
        style, said = LOOKS[row["state"]]
        more = "solution seen" if row["seen"] else tries(row) * bool(row["attempts"])
        weight = "bold" if row["evening"] else ""
        mark = "*" if row["evening"] else " "  # bold is lost in a pipe
        cells = [
            Text(row["id"] + mark, style=weight),
            Text(row["title"], style=weight),
            row["kind"],
        ]
        cells += [str(row["minutes"]), str(row["difficulty"])]
        add(*cells, Text(said, style=style), Text(more, style="dim"))
    return out


def after(exercise_id: str) -> str:
    """Which exercise comes next; after one of the evening path that of this path."""
    ids, data = spec.all_ids(), progress.load()
    first = LAST if exercise_id == CAPSTONE else ""
    then = "still open" if first else "next"
    place = ids.index(exercise_id)
    coming = [*ids[place + 1 :], *ids[:place]]
    evening = [i for i in coming if spec.get(exercise_id).evening and spec.get(i).evening]
    for one in (*evening, *coming):
        if answers.state(one, data) in WAITING:
            where = answers.shown(answers.path_of(one))
            return f"{first}{then}: {one} {spec.get(one).title}, {where}"
    return f"{first}nothing is left to do: `status` shows all of them"


def tries(row: dict) -> str:
    return f"{row['attempts']} {'try' if row['attempts'] == 1 else 'tries'}"


def _caption(rows: list[dict]) -> str:
    solved = sum(r["state"] == "solved" for r in rows)
    lines = [f"{solved} of {len(rows)} solved. Minutes left: {minutes_left(rows)} in all, "]
    lines[0] += f"{minutes_left(rows, evening=True)} on the evening path (bold, *)."
    parked = [r["id"] for r in rows if r["state"] == "parked"]
    if parked:
        lines.append(f"Parked, still waiting for you: {', '.join(parked)}")
    coming = [r for r in rows if r["state"] in WAITING]
    coming = [r for r in coming if r["evening"]] or coming
    if coming:
        lines.append(f"Next: {coming[0]['id']} {coming[0]['title']}, in {coming[0]['file']}")
    return "\n".join(lines)


def card(row: dict) -> str:
    """One exercise in a few lines."""
    path = "evening path" if row["evening"] else "depth"
    seen = ", solution seen" if row["seen"] else ""
    return (
        f"{row['id']} {row['title']} [{row['kind']}]: {LOOKS[row['state']][1]}{seen}\n"
        f"{row['minutes']} minutes, difficulty {row['difficulty']} of 5, {path}, "
        f"{row['hardware']}\n"
        f"{tries(row)}, {row['hints']} of 3 hints\n"
        f"{row['file']}"
    )
