"""A class's results as a table and as CSV, JSON, JUnit XML and Gradescope's results.json."""

from __future__ import annotations

import csv
import io
import json
import re
from collections import Counter
from pathlib import Path
from xml.etree import ElementTree

from exercises.desk import files
from exercises.desk.classroom import Result
from exercises.desk.submissions import Submission, printable
from exercises.grading import spec


def by_student(results: list[Result]) -> dict[str, list[Result]]:
    found: dict[str, list[Result]] = {}
    for result in results:
        found.setdefault(result.student, []).append(result)
    return found


def same_faults(results: list[Result], most: int = 20) -> list[str]:
    """ "38 of 60 in 4.3: mask_topleft (a mask aligned top-left)", the most frequent first."""
    handed_in = Counter(r.exercise for r in results if r.status not in ("missing", "not started"))
    counts = Counter((r.exercise, r.equals, r.equals_text) for r in results if r.equals)
    return [
        f"{count} of {handed_in[exercise]} in {exercise}: {name} ({text})"
        for (exercise, name, text), count in counts.most_common(most)
    ]


def table(people: list[Submission], results: list[Result], ids: list[str], wide: bool = True):
    """A rich table: one row a learner, right answers; by chapter, too, where it is `wide`."""
    from rich.table import Table
    from rich.text import Text

    chapters = list(dict.fromkeys(i.split(".")[0] for i in ids)) if wide else []
    out = Table(box=None, padding=(0, 1))
    out.add_column("learner", min_width=min(12, max((len(p.name) for p in people), default=1)))
    for name in ("right", "evening", *(c.zfill(2) for c in chapters)):
        out.add_column(name, justify="right", no_wrap=True)
    out.add_column("stopped or broken")
    evening = {i for i in ids if spec.get(i).evening}
    found = by_student(results)
    for one in people:
        mine = found[one.student]
        cells = [_share(mine), _share([r for r in mine if r.exercise in evening])]
        cells += [_share([r for r in mine if r.exercise.split(".")[0] == c]) for c in chapters]
        calm = ("right", "wrong", "missing", "not started", "error", "syntax", "changed inputs")
        loud = [f"{r.exercise} {r.status}" for r in mine if r.status not in calm]
        out.add_row(Text(one.name), *cells, Text(", ".join(loud + one.problems)))
    return out


def _share(results: list[Result]) -> str:
    return f"{sum(r.ok for r in results)}/{len(results)}"


def as_csv(people: list[Submission], results: list[Result], ids: list[str]) -> str:
    """One row a learner, one column an exercise; a spreadsheet must not run what it reads."""
    out, found = io.StringIO(), by_student(results)
    writer = csv.writer(out)
    writer.writerow(["learner", "right", "of", *ids, *(f"{i} equals" for i in ids), "problems"])
    for one in people:
        mine = found[one.student]
        row = [one.name, sum(r.ok for r in mine), len(mine), *(r.status for r in mine)]
        row += [r.equals or "" for r in mine] + ["; ".join(one.problems)]
        writer.writerow([_cell(value) for value in row])
    return out.getvalue()


def _cell(value):
    return f"'{value}" if isinstance(value, str) and value[:1] in tuple("=+-@") else value


def as_json(people: list[Submission], results: list[Result]) -> str:
    found = by_student(results)
    rows = [
        {
            "learner": one.name,
            "right": sum(r.ok for r in found[one.student]),
            "of": len(found[one.student]),
            "problems": one.problems,
            "exercises": {
                r.exercise: {k: v for k, v in vars(r).items() if k not in ("student", "key")}
                for r in found[one.student]
            },
        }
        for one in people
    ]
    return json.dumps({"learners": rows, "same_faults": same_faults(results, 1000)}, indent=1)


def as_junit(people: list[Submission], results: list[Result]) -> bytes:
    """One test suite a learner."""
    root, found = ElementTree.Element("testsuites"), by_student(results)
    for one in people:
        mine = found[one.student]
        suite = ElementTree.SubElement(
            root, "testsuite", name=_xml(one.name), tests=str(len(mine)),
            failures=str(sum(not r.ok for r in mine)),
        )  # fmt: skip
        for r in mine:
            facts = {"classname": _xml(one.name), "name": r.exercise, "time": f"{r.seconds:.3f}"}
            case = ElementTree.SubElement(suite, "testcase", facts)
            if not r.ok:
                fault = ElementTree.SubElement(case, "failure", type=r.status)
                fault.set("message", _xml(r.message.split("\n")[0]))
                fault.text = _xml(r.message)
    return ElementTree.tostring(root, encoding="utf-8", xml_declaration=True)


def _xml(text: str) -> str:
    """Only characters that XML 1.0 knows."""
    return re.sub(r"[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]", "?", text)


def as_gradescope(one: Submission, results: list[Result]) -> str:
    """results.json of one learner: a point an exercise."""
    tests = [
        {
            "name": f"{r.exercise} {spec.get(r.exercise).title}",
            "score": 1.0 if r.ok else 0.0,
            "max_score": 1.0,
            "status": "passed" if r.ok else "failed",
            "output": r.message or r.status,
            "visibility": "visible",
        }
        for r in results
    ]
    said = {"score": float(sum(r.ok for r in results)), "tests": tests, "visibility": "visible"}
    if one.problems:
        said["output"] = "\n".join(one.problems)
    return json.dumps(said, indent=1)


def write_gradescope(target: Path, people: list[Submission], results: list[Result]) -> None:
    """A .json file for one learner, or a folder with one file a learner."""
    found = by_student(results)
    if target.suffix == ".json":
        if len(people) != 1:
            raise ValueError(
                f"--gradescope {target} is one file, and there are {len(people)} learners"
            )
        files.write(target, as_gradescope(people[0], found[people[0].student]).encode())
        return
    for number, one in enumerate(people, start=1):
        safe = re.sub(r"[^\w.-]", "_", printable(one.student), flags=re.ASCII).strip(".")[:80]
        name = f"{number:04d}-{safe}.json"  # the number keeps two such names apart
        files.write(target / name, as_gradescope(one, found[one.student]).encode())
