"""Check of 11.6: the recorded table; floors lie well between two rows; products depend on who asks.

tests/test_ch11.py compares the record with the model, and asks every question.
"""

import json
from itertools import product
from pathlib import Path

from exercises.grading.judge import Wrong
from exercises.grading.spec import Exercise

LETTERS = "ABCDEF"
EXERCISE = Exercise(
    id="11.6", title="Bits for three products", kind="choose", entry="answer",
    minutes=15, difficulty=2, evening=True, torch=False,
    choices={letter: "go through the three products one by one" for letter in LETTERS},
    hints=(
        "Take product 1. Which columns of the table are its own? In which rows are these at or "
        "over its floor? Which of these rows has the fewest bits?",
        "bits of a product = smallest row in which EVERY column that the product needs is at least "
        "its floor. The other columns, and the average, do not matter.",
        "for bits in (2, 3, 4, 8):\n"
        "    print(bits, all(table[bits][column] >= ____ for column in columns))",
    ),
)  # fmt: skip
RECORD = json.loads((Path(__file__).parents[1] / "fragility.json").read_text("utf-8"))
USED = {("rtn", 8), ("gptq", 4), ("gptq", 3), ("gptq", 2)}
COLUMNS = ("recall", "copy", "sort", "add", "code", "same")
KINDS = (  # what a product needs, in words, and the bits that are to be right for it
    (("recall",), 2, "A toy box that finds things: recall"),
    (("copy",), 2, "A label printer that repeats a text: copy"),
    (("sort", "add"), 3, "A till that sorts and adds: both sort and add"),
    (("code",), 3, "A teaching robot that runs small programs: code"),
    (("same",), 4, "A story teller whose stories should hardly change: same"),
    (("same",), 8, "A service that nobody may notice being replaced: same"),
)


def make(rng):
    return question(rng, rng.randrange(2), rng.randrange(2), rng.randrange(2))


def question(rng, low: int, middle: int, high: int) -> dict:
    """Three products that want 2, 3, and 4 or 8 bits, in any order."""
    rows = table()
    kinds = [KINDS[low], KINDS[2 + middle], KINDS[4 + high]]
    rng.shuffle(kinds)
    products = [(columns, floor_of(rows, columns, bits)) for columns, bits, _ in kinds]
    asked = [f"{text} at least {100 * p[1]:.1f}%" for (_, _, text), p in zip(kinds, products)]
    choices = options(rng, rows, products, [bits for _, bits, _ in kinds])
    lines = [f'    "{k}"    ' + ", ".join(map(str, bits)) + " bits" for k, bits in choices.items()]
    texts = dict(zip(("first", "second", "third"), asked))
    texts |= {"table": _as_text(rows), "options": "\n".join(lines)}
    return {"rows": rows, "products": products, "choices": choices, **texts}


def table() -> dict:
    """{bits: {column: share}} from the record."""
    used = [row for row in RECORD["rows"] if (row["method"], row["bits"]) in USED]
    return {row["bits"]: row["tasks"] | {"same": row["same_token"]} for row in used}


def floor_of(rows: dict, columns: tuple, bits: int) -> float:
    """Halfway between the row that is to be right and the best row with fewer bits."""
    worst = {b: min(row[c] for c in columns) for b, row in rows.items()}
    fewer = [share for b, share in worst.items() if b < bits]
    return round((worst[bits] + max(fewer)) / 2 if fewer else worst[bits] - 0.04, 3)


def options(rng, rows: dict, products: list, wanted: list) -> dict:
    """Six triples behind letters: the right one, and those that a slip or a habit gives."""
    average = {b: sum(row[c] for c in COLUMNS[:5]) / 5 for b, row in rows.items()}
    see = lambda b, columns: rows[b]["same"] if columns == ("same",) else average[b]
    by_average = [min(b for b in rows if see(b, c) >= f or b == 8) for c, f in products]
    one_less = [{3: 2}.get(b, b) for b in wanted]
    found = [wanted, [8] * 3, [4] * 3, [2] * 3, by_average, one_less]
    found += [list(triple) for triple in product((2, 3, 4, 8), repeat=3) if 2 in triple]
    distinct = list(dict.fromkeys(map(tuple, found)))[: len(LETTERS)]
    rng.shuffle(distinct)
    return dict(zip(LETTERS, distinct))


def _as_text(rows: dict) -> str:
    lines = ["    bits" + "".join(f"{c:>9}" for c in COLUMNS)]
    for bits, row in sorted(rows.items(), reverse=True):
        lines.append(f"    {bits:4}" + "".join(f"{100 * row[c]:8.1f}%" for c in COLUMNS))
    return "\n".join(lines)


def judge(case, output):
    if not isinstance(output, str) or output not in case["choices"]:
        keys = ", ".join(f'"{key}"' for key in case["choices"])
        raise Wrong("choice", f"the answer must be one of {keys}", got=output)
    rows, given = case["rows"], case["choices"][output]
    holds = lambda bits, columns, floor: all(rows[bits][c] >= floor for c in columns)
    for place, (bits, product_) in enumerate(zip(given, case["products"]), 1):
        if not holds(bits, *product_):
            raise Wrong("11.6.floor", f"not {output}: product {place} is under its floor")
    for place, (bits, product_) in enumerate(zip(given, case["products"]), 1):
        if any(holds(b, *product_) for b in rows if b < bits):
            raise Wrong("11.6.more", f"not {output}: all three hold, but product {place} would "
                        "hold with fewer bits, too")  # fmt: skip
