"""What can be tried for the capstone, and what was: the portfolio shows it.

    from exercises.ch14_choice import workbench
    answer = workbench.answer(case, {"weights": "int4"})      ValueError where it is none
    name = workbench.keep("mine", cells, {"weights": "int4"})

A try is known by its name and its settings together.
"""

from __future__ import annotations

import os

from exercises.ch14_choice import workload
from exercises.desk import progress
from exercises.grading import spec
from exercises.grading.judge import Wrong

CAPSTONE, KEY = "14.4", "workbench"
MOST = 100  # tries; older ones are dropped
CELLS = 7  # name, changes, and the five figures of the notebook's table
START = {
    "weights": "int8", "pruning": None, "kv_dtype": "fp16", "block_size": 16, "num_blocks": None,
    "max_num_seqs": 64, "max_batch_tokens": 512, "prefix_caching": False,
}  # fmt: skip
WORDS = {
    "weights": "{} weights", "pruning": "{}", "kv_dtype": "{} K/V", "block_size": "blocks of {}",
    "num_blocks": "{} blocks", "max_num_seqs": "{} seats", "max_batch_tokens": "{} tokens a step",
    "prefix_caching": "prefix cache",
}  # fmt: skip
LEAST_BLOCKS = 20


def answer(case: dict, changes: dict) -> dict:
    """START with changes, as it could be handed in; no num_blocks: what the budget leaves."""
    unknown = [name for name in changes if name not in START]
    if unknown:
        raise ValueError(f"no setting is called {unknown[0]}: there are {', '.join(START)}")
    found = START | changes
    if found["num_blocks"] is None:
        check_values(found | {"num_blocks": 1})  # before they are reckoned with
        size = case["bytes"][workload.name_of(found["weights"], found["pruning"])]
        block = found["block_size"] * case["kv_token"][found["kv_dtype"]]
        found["num_blocks"] = max(LEAST_BLOCKS, (case["budget"] - size) // block)
    check_values(found)
    return found


def check_values(found: dict) -> None:
    """The grader's own rules for the values, as a ValueError."""
    try:
        spec.check_of(CAPSTONE).read(found)
    except Wrong as wrong:
        raise ValueError(str(wrong)) from None


def words(changes: dict) -> str:
    """What is not as in START: "int4 weights, 8 seats"."""
    changed = [key for key in START if changes.get(key, START[key]) != START[key]]
    new = [WORDS[key].format(changes[key]) for key in changed]
    return ", ".join(new) or "nothing"


def keep(name: str, cells: list[str], changes: dict) -> str:
    """Keep a try -> its name: "mine (2)" where "mine" has been tried with other settings.

    The same settings under the same name take the place of the older line. In fast mode nothing is
    kept.
    """
    if os.environ.get("MINILLM_FAST") == "1":
        return name
    asker, what = progress.asker(CAPSTONE), words(changes)
    names, number = {row[0]: row[1] for row in kept()}, 1
    free = name
    while names.get(free, what) != what:
        number += 1
        free = f"{name} ({number})"

    def edit(data: dict) -> None:
        entry = progress.entry(data, CAPSTONE)
        rows = _rows(entry, asker)
        rows = [row for row in rows if row[0] != free] + [[free, what, *cells]]
        entry[KEY] = {"asker": asker, "rows": rows[-MOST:]}

    progress.change(edit)
    return free


def kept() -> list[list[str]]:
    """The lines that were kept, for the question that this student has now."""
    return _rows(progress.load()["exercises"].get(CAPSTONE, {}), progress.asker(CAPSTONE))


def _rows(entry: dict, asker: str) -> list[list[str]]:
    """The tries of this asker's question; [] where there are none, or in another form."""
    tried = entry.get(KEY)
    rows = tried.get("rows") if isinstance(tried, dict) else None
    text = isinstance(rows, list) and all(
        isinstance(row, list) and len(row) == CELLS and all(isinstance(c, str) for c in row)
        for row in rows
    )  # fmt: skip
    return rows if text and tried.get("asker") == asker else []
