"""docs/sources.md: every paper that our files cite is there, and stands where the page says."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
PAGE = (ROOT / "docs" / "sources.md").read_text(encoding="utf-8")
PAPERS = re.findall(r"^\| ([A-Z][^|]*?) (\d{4}) \| ([^|]+) \| ([^|]+) \| ([^|]+) \|$", PAGE, re.M)
FOLDERS = ("minillm", "kernels", "exercises", "notebooks/source", "tests")
NAME, GAP = "[A-Z][a-z]+", r"\s(?:# )?"  # a comment's line may end inside a citation
OTHERS = rf" et{GAP}al\.| and others,|(?:, {NAME})?(?: &| and){GAP}{NAME}"
YEAR = r"((?:19|20)\d\d)\b"
CITED = re.compile(rf"\b({NAME})(?:{OTHERS}){GAP}\(?{YEAR}|\(({NAME})(?: {NAME})? {YEAR}\)")


def path_of(name: str) -> Path:
    """A file named on the page; a notebook's source goes without its folder."""
    notebook = ROOT / "notebooks" / "source" / name
    return notebook if notebook.exists() else ROOT / name


def citations(text: str) -> set[tuple[str, str]]:
    """{(first author, year)} of what is cited in a text."""
    return {(a or c, b or d) for a, b, c, d in CITED.findall(text)}


def test_every_citation_is_on_the_page():
    listed = {(authors.split()[0].strip(","), year) for authors, year, *_ in PAPERS}
    listed |= {("Sun", "2023")}  # Wanda: the preprint's year, used in one docstring
    missing = {}
    for folder in FOLDERS:
        for path in (ROOT / folder).rglob("*.py"):
            text = "" if path.samefile(__file__) else path.read_text(encoding="utf-8")
            for found in citations(text) - listed:
                missing.setdefault(found, path.relative_to(ROOT).as_posix())
    assert not missing


@pytest.mark.parametrize("paper", PAPERS, ids=lambda p: p[0].split()[0] + p[1])
def test_a_paper_is_cited_where_the_page_says(paper):
    author = paper[0].split()[0].strip(",")
    files = re.findall(r"`([^`]+)`", paper[4])
    assert files
    for name in files:
        assert author in path_of(name).read_text(encoding="utf-8"), f"{author} not in {name}"


def test_every_file_named_is_there():
    for name in re.findall(r"`([\w/.]+\.\w+)`", PAGE):
        assert name == "config.json" or path_of(name).exists(), name


def test_citations_are_found_in_each_form():
    text = "(Nobody et al. 2001), Olsson and others, 2022; Zhang & Sennrich 2019 (Shazeer 2020)"
    found = {("Nobody", "2001"), ("Olsson", "2022"), ("Zhang", "2019"), ("Shazeer", "2020")}
    assert citations(text) == found
