"""docs/claims.md: every claim and belief is there, and the cells that measure them exist."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
SOURCES = {p.name[:2].lower(): p for p in (ROOT / "notebooks" / "source").glob("*.py")}
PAGE = (ROOT / "docs" / "claims.md").read_text(encoding="utf-8")
ARTICLES, BELIEFS = 26, 20  # claims of the two articles; things that one often hears
VERDICT = re.compile(r"\*\*(right|loose|wrong)\*\*")


def rows(text: str) -> list[list[str]]:
    """The rows of all Markdown tables as lists of cells, without heads and rulers."""
    found = [line.strip("|").split("|") for line in text.splitlines() if line.startswith("|")]
    cells = [[cell.strip() for cell in row] for row in found]
    return [row for row in cells if re.fullmatch(r"B?\d+", row[0])]


def cells_of(source: str) -> list[tuple[str, str]]:
    """The cells of a percent script in order: (id or "", kind); kind: text, code, other."""
    heads = re.findall(r'^# %%[ ]*(\[markdown\] id="([^"]+)")?(.*)$', source, re.M)
    kind = lambda text, rest: "text" if text else "other" if rest.strip() else "code"
    return [(name, kind(text, rest)) for text, name, rest in heads]


def is_measured(cell: str) -> str:
    """Empty if code stands right before or after the text cell of this id, else what is wrong."""
    if cell[:2] not in SOURCES:
        return f"no notebook source {cell[:2]}_*.py"
    found = cells_of(SOURCES[cell[:2]].read_text(encoding="utf-8"))
    places = [i for i, (name, _) in enumerate(found) if name == cell]
    if not places:
        return f"no text cell {cell} in {SOURCES[cell[:2]].name}"
    kinds = [kind for _, kind in found[max(0, places[0] - 1) : places[0] + 2]]
    return "" if "code" in kinds else f"no code beside {cell}"


ROWS = rows(PAGE)


def test_all_rows_are_there_in_order():
    wanted = [str(n + 1) for n in range(ARTICLES)] + [f"B{n + 1}" for n in range(BELIEFS)]
    assert [row[0] for row in ROWS] == wanted
    assert all(len(row) == 4 for row in ROWS), "a row has a | too many or too few"


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row[0])
def test_a_row_has_a_verdict_and_a_cell_that_measures_it(row):
    _, claim, verdict, where = row
    assert claim and VERDICT.match(verdict), f"the verdict must begin: {verdict!r}"
    named = [part.strip() for part in where.split(",")]
    for part in named:
        assert re.fullmatch(r"`[^`]+`", part), f"not a cell in backquotes: {part!r}"
        assert not (wrong := is_measured(part.strip("`"))), wrong


def test_the_reader_of_cells_sees_what_is_there():
    source = '# %% [markdown] id="04-a"\n# A\n\n# %%\nx = 1\n\n# %% exercise 4.1\n'
    assert cells_of(source) == [("04-a", "text"), ("", "code"), ("", "other")]
    assert "no text cell 04-nowhere" in is_measured("04-nowhere")
    assert "no notebook source 99" in is_measured("99-anything")
    assert "no code beside" in is_measured("00-takeaway")  # text stands before it, none after
