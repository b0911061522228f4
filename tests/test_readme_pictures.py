"""The README's pictures: one for each notebook in its table, small, with the code's alt text."""

import json
import re
from pathlib import Path

import pytest
from PIL import Image

from minillm.cli import run
from tools import readme_pictures

ROOT = Path(__file__).resolve().parents[1]
PAGE = (ROOT / "README.md").read_text(encoding="utf-8")
SHOWN = dict(re.findall(r'<img src="docs/pictures/(\w+)\.png"[^>]* alt="([^"]*)"', PAGE))
CHAPTERS = re.findall(r"^\| \[(\w\w)\]\(notebooks/", PAGE, re.M)


def test_the_cover_and_every_notebook_of_the_table_have_a_picture():
    assert CHAPTERS and set(SHOWN) == {"cover", *CHAPTERS}
    assert set(SHOWN) <= set(readme_pictures.PICTURES), "a picture that no command draws"


def test_no_file_without_its_command():
    files = {path.stem for path in readme_pictures.FOLDER.iterdir()}
    assert files == set(readme_pictures.PICTURES), "run python -m tools.readme_pictures"


@pytest.mark.parametrize("name", readme_pictures.PICTURES)
def test_a_picture_is_small_and_says_what_the_code_draws(name):
    path = readme_pictures.FOLDER / f"{name}.png"
    assert path.stat().st_size < readme_pictures.LIMIT
    png, alt = readme_pictures.drawn(name)  # drawn again: nothing in it may depend on a clock
    again = Image.open(path)
    assert int.from_bytes(png[16:20], "big") == again.width, "the file is an older picture"
    assert 20 < len(alt) < 400
    if name in SHOWN:
        assert SHOWN[name] == alt, "run python -m tools.readme_pictures"


def test_alt_texts_go_to_their_own_tag_only():
    page = '<img src="docs/pictures/00.png" width="9" alt="old"> <img src="x.png" alt="old">'
    assert readme_pictures.with_alt(page, "00", "new").count("new") == 1
    assert readme_pictures.with_alt(page, "01", "new") == page


def test_the_cover_says_what_the_planner_says(capsys):
    """A reader who asks the command for the cover's numbers gets them."""
    asked = ["plan", "--model", "llama-3-70b", "--gpu", "H100", "--json", "--dtype"]
    row = r"format = (\w+): 80 GB: ([\d.]+) GB of weights, 8 of slack, (\d+) requests"
    rows = re.findall(row, SHOWN["cover"])
    assert [name for name, *_ in rows] == ["fp16", "int8", "int4"]
    for name, weights, seats in rows:
        run([*asked, name])
        told = json.loads(capsys.readouterr().out)
        assert told["weights"]["total"] / 1e9 == pytest.approx(
            float(weights), abs=0.5 if "." not in weights else 0.05
        )
        assert told["largest_batch"] == int(seats)
