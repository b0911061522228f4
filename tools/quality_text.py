"""Writes the two frozen texts on which compressed models are judged: our own prose, and new tales.

Run once (`python -m tools.quality_text`) and committed: figures are comparable only on one text.
The test text is the prose of chapters 00 to 04, the README and the warm-up page; the calibration
text is that of later chapters. Both end with tales in English and Korean, of different seeds.
"""

from __future__ import annotations

import random
import re
from pathlib import Path

import jupytext

from minillm import tales

ROOT = Path(__file__).resolve().parents[1]
HOME = ROOT / "minillm" / "assets" / "quality"
FIRST = ("00", "01", "02", "03", "04")


def prose(path: Path) -> str:
    """The text cells of a notebook's source, without headings' marks, ids and tables."""
    cells = [
        c.source for c in jupytext.read(path, fmt="py:percent").cells if c.cell_type == "markdown"
    ]
    lines = [line for cell in cells for line in cell.splitlines() if not line.startswith("|")]
    text = re.sub(r"[*`#]|\[(.*?)\]\(.*?\)", r"\1", "\n".join(lines))
    return re.sub(r"\n{3,}", "\n\n", text).strip()


def write(name: str, sources: list[Path], more: list[str], seed: int, tales_count: int) -> None:
    rng = random.Random(seed)
    stories = [tales.tale(rng)[1] for _ in range(tales_count)]  # without their titles
    text = "\n\n".join([*(prose(p) for p in sources), *more, *stories])
    HOME.mkdir(parents=True, exist_ok=True)
    (HOME / f"{name}.txt").write_text(text + "\n", encoding="utf-8")
    print(f"{name}: {len(text.split()):,} words, {len(text):,} characters")


def main() -> None:
    sources = sorted((ROOT / "notebooks" / "source").glob("0*.py"))
    first = [p for p in sources if p.name[:2] in FIRST]
    later = [p for p in sources if p.name[:2] not in FIRST]
    pages = [ROOT / "README.md", ROOT / "docs" / "warmup.md", ROOT / "exercises" / "README.md"]
    plain = [re.sub(r"```.*?```|[*`#|]", "", p.read_text("utf-8"), flags=re.S) for p in pages]
    write("test", first, plain, seed=1, tales_count=40)
    write("calibration", later, [], seed=2, tales_count=40)


if __name__ == "__main__":
    main()
