"""docs/results.md is the evidence: the README's figures stand in it, and it says what reports say.

A figure of a text is computed by its cell, read from a report in docs/*.json, or it stands there
with its command, machine, versions and date.
"""

import json
import re
from pathlib import Path

import pytest

from minillm import recorded
from minillm.clock import PAPER_GPU
from tools.setup import NEEDED_MB

ROOT = Path(__file__).resolve().parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")
RESULTS = (ROOT / "docs" / "results.md").read_text(encoding="utf-8")
SECTIONS = dict(re.findall(r"^## (.+)\n((?:(?!## ).*\n?)*)", RESULTS, re.M))
UNITS = r"x|×|%|ms|us|s|seconds?|minutes?|hours?|kB|MB|GB|MiB|GiB|GB/s|tokens/s|times|points"
WORDS = "one|two|three|four|five|six|seven|eight|nine|ten|half"
FIGURE = re.compile(rf"(?<![\w.])((?:\d[\d.,]*\d|\d|{WORDS})[ -]?(?:{UNITS}))(?![\w/])")
NOT_MEASURED = {  # figure of the README -> why it needs no measurement
    "80 GB": "the made-up GPU of the cover: given, and the seats are counted",
    "230 MB": "what PyPI says of the files of the real model",
    f"{NEEDED_MB // 1000} GB": "what tools/setup.py asks for before it begins",
    "4 minutes": "the limit that `make demo` is held to",
}
SPEED = re.compile(r"\d[\d.,]*\s(?:ms|us|microseconds?|tokens/s|[GT]B/s|[GT]FLOP/s)(?!\w)")
GIVEN = {  # of the paper GPU, a made-up device
    f"{PAPER_GPU.bandwidth / 1e9:.0f} GB/s",
    f"{PAPER_GPU.peak / 1e12:.0f} TFLOP/s",
    f"{PAPER_GPU.launch * 1e6:.0f} us",
    f"{PAPER_GPU.launch * 1e6:.0f} microseconds",
}


def prose(page: str) -> str:
    """A page without pictures and the table of minutes."""
    page = re.sub(r"<img [^>]*>", "", page)
    return re.sub(r"^\| \[\w\w\].*$", "", page, flags=re.M).replace("\n", " ")


def figures(page: str) -> list[str]:
    return FIGURE.findall(prose(page))


def triples(found) -> set[str]:
    """Every median of a report with its interval, as results.md writes a ratio."""
    made = set()
    if isinstance(found, dict):
        if found.get("low") and {"median", "high"} <= found.keys():
            made.add("{median:.2f}x [{low:.2f}, {high:.2f}]".format(**found))
        found = list(found.values())
    for each in found if isinstance(found, list) else ():
        made |= triples(each)
    return made


def table(section: str, first: str) -> list[list[str]]:
    """Rows of the table of a section whose head begins with this cell."""
    head = section.index(f"| {first} |")
    lines = section[head:].split("\n\n")[0].splitlines()
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[2:]]


def test_what_the_readme_quotes_stands_in_the_results():
    found = figures(README)
    assert found, "no figure at all was found: the search is broken"
    assert not [f for f in found if f not in NOT_MEASURED and f not in RESULTS]


def test_figures_are_seen():
    seen = "It takes 12.5 ms, 3.1x, 40% or two\nminutes; 2.2 GB. Not 3 models, v1.5x2, GB/s."
    assert figures(seen) == ["12.5 ms", "3.1x", "40%", "two minutes", "2.2 GB"]


def test_every_section_names_its_command_and_the_page_its_machine():
    head = RESULTS.split("## ")[0]
    assert all(word in head for word in ("cores", "torch 2.", "Python 3.", "2026"))
    command = re.compile(r"`[^`]*(minillm|make|python -m|du )[^`]*`", re.S)
    assert SECTIONS and not [name for name, text in SECTIONS.items() if not command.search(text)]


@pytest.mark.parametrize("path", sorted((ROOT / "docs").glob("*.json")), ids=lambda p: p.stem)
def test_a_report_is_whole_and_stands_in_the_results(path):
    report = recorded.report(path.stem)
    assert report and not report["fast"]
    assert f"docs/{path.name}" in RESULTS, f"no section of docs/results.md tells of {path.name}"


@pytest.mark.parametrize("name", [n for n, text in SECTIONS.items() if "--json docs/" in text])
def test_ratios_are_those_of_the_report(name):
    text = SECTIONS[name].replace("\n", " ")
    known = set()
    for file in re.findall(r"--json (docs/\w+\.json)", text):
        known |= triples(json.loads((ROOT / file).read_text(encoding="utf-8")))
    quoted = re.findall(r"\d+\.\d\dx \[\d+\.\d\d, \d+\.\d\d\]", text)
    assert not [ratio for ratio in quoted if ratio not in known]


def test_the_table_of_quality_is_that_of_the_report():
    report = recorded.report("quality")["real"]
    dense = report["rows"][0]["perplexity"]
    want = {}
    for row in report["rows"]:
        ruler = [f"{row['bits']:.2f}", f"{row['perplexity']:.2f}"]
        ruler.append(f"{row['perplexity'] / dense:.3f}x")
        far = [f"{row['kl']:.4f}", f"{row['top1']:.1%}"] if "kl" in row else ["", ""]
        want[row["name"]] = ruler + far
    section = SECTIONS["Weights in 8 and 4 bits: quality"]
    got = {row[0].replace(" (simulated)", ""): row[1:] for row in table(section, "weights")}
    assert list(got.values()) == list(want.values())
    assert f"{report['tokens']:,} tokens" in section.replace("\n", " ")


def test_the_sweep_over_rows_is_that_of_the_report():
    report = recorded.report("quant")["sweep"]
    for name, *cells, held in table(SECTIONS["Weights in 8 and 4 bits: speed"], "rows"):
        assert cells == [f"{row['ratios'][name]['median']:.2f}" for row in report["rows"]], name
        assert held == f"{report['bytes'][name] / 1e6:.2f} MB"


@pytest.mark.parametrize(
    "source", sorted((ROOT / "notebooks" / "source").glob("*.py")), ids=lambda p: p.stem[:2]
)
def test_no_text_of_a_notebook_quotes_a_speed_that_nobody_can_check(source):
    """Times and speeds belong to cells that measure them; given ones are the paper GPU's."""
    text = " ".join(
        line.lstrip("# ")
        for cell in re.split(r"^# %%", source.read_text(encoding="utf-8"), flags=re.M)
        if cell.startswith(" [markdown]")
        for line in cell.splitlines()[1:]
    )
    assert not [f for f in SPEED.findall(text) if f not in GIVEN and f not in RESULTS]
