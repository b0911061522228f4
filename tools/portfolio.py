"""Writes one page to show: your capstone, your predictions, your scoreboard, and your own memo.

make portfolio               writes portfolio/index.html, and portfolio/memo.md if it is not there
make portfolio ARGS="--folder /some/where"

The page is one file with its pictures inside. Everything on it comes from your progress, or is
computed while it is written. What is not there yet is named, with the command that gets it.
"""

from __future__ import annotations

import argparse
import html
import os
import platform
import subprocess
import sys
from datetime import datetime, timezone
from pathlib import Path

from exercises.desk import progress
from minillm.files import new_file
from minillm.repository import ADDRESS
from tools import portfolio_parts as parts

ROOT = Path(__file__).resolve().parents[1]
STYLE = """
body { max-width: 52rem; margin: 2rem auto; padding: 0 1rem; font: 16px/1.5 sans-serif; }
h2 { border-bottom: 1px solid #9a9a9a; margin-top: 2.2rem; }
table { border-collapse: collapse; margin: 0.6rem 0; } th, td { padding: 0.15rem 0.7rem; }
th { border-bottom: 1px solid #000; } img { max-width: 100%; height: auto; }
pre { background: #f2f2f2; padding: 0.7rem; overflow-x: auto; }
.missing { border-left: 4px solid #d55e00; padding-left: 0.7rem; }
.small { color: #595959; font-size: 0.9rem; }
"""
MEMO = """\
*Half a page, for somebody who has to decide. Replace these lines with yours.*

### What I chose

Which precision, which K/V, how many seats and blocks, for which workload. The figure that decided.

### What I rejected

At least two configurations that look better at first ("What I tried" has their figures). What
broke, by how much.

### Where it loses

For which requests, which load, which task my choice is the wrong one.
"""
SECTIONS = (
    ("Served for less", parts.capstone),
    ("What I tried", parts.tried),
    ("A workload, planned", parts.seats),
    ("Predicted and measured", parts.predictions),
    ("The scoreboard", parts.board),
    ("Exercises", parts.exercises),
)


def default_folder() -> Path:
    """portfolio/ in the course; with MINILLM_PROGRESS beside the progress that is kept there."""
    own = os.environ.get("MINILLM_PROGRESS")
    return progress.folder() / "portfolio" if own else ROOT / "portfolio"


def write(folder: Path) -> tuple[Path, list[str]]:
    """Write the page -> (its path, what is missing on it). An existing memo is never touched."""
    folder = check_folder(folder)
    memo = folder / "memo.md"
    folder.mkdir(parents=True, exist_ok=True)
    if not memo.exists():
        memo.write_text(MEMO, encoding="utf-8")
    made = [(title, make()) for title, make in SECTIONS]
    made.insert(1, ("What I chose, what I rejected, where it loses", memo_part(memo)))
    made.append(("Do it again", parts.Part(reproduce())))
    text = page(made)
    with new_file(folder / "index.html") as file:
        file.write(text.encode("utf-8", "replace"))
    return folder / "index.html", [part.missing for _, part in made if part.missing]


def check_folder(folder: Path) -> Path:
    """The absolute folder; ValueError where the page would lie among files of something else."""
    folder = Path(folder).absolute()
    if folder.exists() and not folder.is_dir():
        raise ValueError(f"{folder} is not a folder: choose another name")
    others = sorted(p.name for p in folder.iterdir()) if folder.exists() else []
    if others and "memo.md" not in others:  # a portfolio always has one
        raise ValueError(f"{folder} holds other files ({others[0]}): choose a new folder")
    return folder


def memo_part(path: Path) -> parts.Part:
    """The learner's text, as Markdown; HTML in it is shown, not obeyed."""
    from markdown_it import MarkdownIt

    text = path.read_text(encoding="utf-8", errors="replace")
    missing = ""
    if text.strip() == MEMO.strip():
        missing = f"The memo is not written yet: edit {shown(path)}, then run make portfolio."
    elif not text.strip():
        missing = f"The memo is empty: write {shown(path)}, then run make portfolio."
    if missing:  # the template's own lines are nothing to show
        return parts.Part("", missing)
    return parts.Part(MarkdownIt("commonmark", {"html": False}).enable("table").render(text))


def shown(path: Path) -> str:
    """A path as it is typed from the course's folder."""
    return path.relative_to(ROOT).as_posix() if path.is_relative_to(ROOT) else str(path)


def page(made: list[tuple[str, parts.Part]]) -> str:
    """The whole page."""
    who = progress.student() or "no student id set (python -m exercises student NAME)"
    body = [f"<h1>A language model, served for less</h1>\n<p>{html.escape(who)}</p>", facts()]
    for title, part in made:
        body.append(f"<h2>{html.escape(title)}</h2>")
        if part.missing:
            body.append(f'<p class="missing">{html.escape(part.missing)}</p>')
        body.append(part.html)
    head = f'<meta charset="utf-8"><title>minillm: portfolio</title><style>{STYLE}</style>'
    return (
        f'<!doctype html>\n<html lang="en"><head>{head}</head>\n<body>\n'
        + "\n".join(body)
        + "\n</body></html>\n"
    )


def facts() -> str:
    """When, on which machine, with which versions, with which seed."""
    import torch

    from minillm import machine
    from minillm.doctor import version_of

    names = ("minillm-course", "torch", "transformers")
    versions = [f"{name} {version}" for name in names if (version := version_of(name))]
    device = f"{machine.cpu_model()}, {counted(torch.get_num_threads(), 'thread')}"
    if torch.cuda.is_available():
        device += f", {torch.cuda.get_device_name()}"
    lines = (
        f"Written {datetime.now(timezone.utc):%Y-%m-%d %H:%M} UTC on {device}, "
        f"{machine.total_memory() / 1e9:.0f} GB, {platform.system()}.",
        f"Python {platform.python_version()}, {', '.join(versions)}; course {commit()}.",
        "Questions and limits are personal: drawn by the id that was set when each was begun.",
    )
    return '<p class="small">' + "<br>".join(map(html.escape, lines)) + "</p>"


def counted(number: int, thing: str) -> str:
    """1 thread, 2 threads."""
    return f"{number} {thing}{'s' * (number != 1)}"


def commit() -> str:
    """Of the course; "without git" where it is none."""
    command = ["git", "-C", str(ROOT), "rev-parse", "--short", "HEAD"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=10)
    except OSError:
        return "without git"
    return done.stdout.strip() if done.returncode == 0 else "without git"


def reproduce() -> str:
    """Commands that give this page again on another machine."""
    student = progress.student()
    lines = [f"git clone {ADDRESS} && cd {ADDRESS.rpartition('/')[2]}"]
    if (now := commit()) != "without git":
        lines.append(f"git checkout {now}")
    lines += ["make setup", f"python -m exercises student {student}"] if student else ["make setup"]
    lines += [
        "# put the answer of the capstone into exercises/ch14_choice/ex4_serve_for_less.py",
        "python -m exercises check 14.4",
        "python -m minillm.scoreboard --keep    # some minutes",
        "make portfolio",
    ]
    return f"<pre>{html.escape(chr(10).join(lines))}</pre>"


def main() -> int:
    """Entry point of `make portfolio`."""
    parser = argparse.ArgumentParser(description="Write one page to show.")
    parser.add_argument("--folder", default=default_folder(), help="default: portfolio/")
    folder = parser.parse_args().folder
    if not str(folder):
        parser.error("--folder: give the name of a folder")
    try:
        path, missing = write(Path(folder))
    except (OSError, ValueError) as error:
        print(f"the portfolio was not written: {error}", file=sys.stderr)
        return 1
    print(f"{path}\nYour memo: {path.with_name('memo.md')}")
    for line in missing:
        print(f"missing: {line}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
