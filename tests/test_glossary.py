"""docs/glossary.md: each term stands in the text cell named, and in no earlier one in bold."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
ORDER = sorted((ROOT / "notebooks" / "source").glob("*.py"))  # 00 to 14, then the appendix
LINES = (ROOT / "docs" / "glossary.md").read_text(encoding="utf-8").splitlines()
ROWS = [[c.strip() for c in line.strip("|").split("|")] for line in LINES if line.startswith("| ")]
ROWS = [row for row in ROWS if row[0] != "term"]


def text_cells(source: str) -> dict[str, str]:
    """{id: its text in one line} of the text cells of a percent script."""
    parts = re.split(r"^# %%(.*)$", source, flags=re.M)[1:]
    found = {}
    for head, body in zip(parts[::2], parts[1::2]):
        if name := re.match(r' \[markdown\] id="([^"]+)"', head):
            found[name[1]] = " ".join(line.lstrip("#").strip() for line in body.splitlines())
    return found


CELLS = {
    name: text
    for path in ORDER
    for name, text in text_cells(path.read_text(encoding="utf-8")).items()
}


def stands_in(term: str, text: str) -> bool:
    """Whether the text has the term as a word of its own, whatever its case, or its plural."""
    return re.search(rf"(?<!\w){re.escape(term)}(s|d)?(?!\w)", text, re.I) is not None


def explained(term: str, text: str) -> bool:
    """Whether the text has the term in bold: there the course explains it."""
    return re.search(rf"\*\*{re.escape(term)}(s|:)?\*\*", text, re.I) is not None


def test_terms_are_in_order_and_none_comes_twice():
    terms = [row[0].lower() for row in ROWS]
    assert len(terms) > 100 and terms == sorted(set(terms))


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row[0])
def test_a_term_stands_where_the_glossary_says(row):
    assert len(row) == 4 and all(row), f"a row of the glossary has an empty cell: {row}"
    term, _, meaning, where = row
    term, _, second = term.partition(" (")  # "block (kernel)": another sense of a word above
    assert len(re.findall(r"[.!?]\W*(?:\s|$)", meaning)) <= 2, f"too long: {meaning}"
    cell = where.strip("`")
    assert cell in CELLS, f"no text cell {cell}"
    assert stands_in(term, CELLS[cell]), f"{term!r} does not stand in {cell}: {CELLS[cell][:200]}"
    before = list(CELLS)[: list(CELLS).index(cell)]
    earlier = [name for name in before if explained(term, CELLS[name]) and not second]
    assert not earlier, f"{term!r} is explained before {cell}: in {earlier}"


def test_a_word_is_found_as_a_word_only():
    assert stands_in("lane", "One place is a **lane**.") and stands_in("head", "many Heads")
    assert not stands_in("lane", "a plane") and not explained("head", "a head, **ahead**")
