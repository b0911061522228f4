"""What notebooks share: the way on, the headings, one word for a section, a term bold once."""

import re

import pytest
from test_glossary import ORDER, ROWS, text_cells

SOURCES = {path.stem: path.read_text(encoding="utf-8") for path in ORDER}
TEXTS = {stem: text_cells(source) for stem, source in SOURCES.items()}
CHAPTERS = [stem for stem in TEXTS if stem[0] != "A"]
AFTER = dict(zip(CHAPTERS, CHAPTERS[1:])) | {"A1_how_does_a_triton_kernel_think": CHAPTERS[6]}
TWICE = {  # bold twice on purpose: a box or a verdict of each takeaway, or only stressed
    "exact", "lossy", "bytes stored", "bytes moved", "waiting", "weight", "layer", "attention",
}  # fmt: skip


def title(stem: str) -> str:
    return re.search(r"^# # (.+)$", SOURCES[stem], re.M)[1]


@pytest.mark.parametrize("stem", AFTER)
def test_the_last_cell_links_to_the_next_notebook(stem):
    said = re.findall(r"\*\*Next:\*\* \[(.+?)\]\((.+?)\)", " ".join(TEXTS[stem].values()))
    assert said == [(title(AFTER[stem]), f"{AFTER[stem]}.ipynb")]


@pytest.mark.parametrize("stem", TEXTS)
def test_out_is_a_heading(stem):
    assert "# ## Test out" in SOURCES[stem].splitlines()


@pytest.mark.parametrize("stem", TEXTS)
def test_a_part_of_a_notebook_is_a_section(stem):
    for name, text in TEXTS[stem].items():
        found = re.findall(r"\b(?:round|part) \d|\bnext round\b", text, re.I)
        assert not found, f"{name} says {found[0]!r}: the headings are sections"


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row[0])
def test_a_term_is_bold_only_where_it_is_explained(row):
    term, _, second = row[0].partition(" (")
    if second or term.lower() in TWICE:
        return
    others = sum(other[0].partition(" (")[0] == term for other in ROWS) - 1  # senses of one word
    bold = rf"\*\*{re.escape(term)}[.,:]?\*\*"
    where = [n for cells in TEXTS.values() for n, t in cells.items() if re.search(bold, t, re.I)]
    assert len(where) <= 1 + others, f"{term!r} is bold in {where}"
