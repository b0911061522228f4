"""`pytest exercises` grades the learner: one item an exercise, named by the file it is in.

pytest exercises --answers=reference grades the project's own answers instead.
"""

from __future__ import annotations

from collections import Counter

import pytest

from exercises.desk import answers, progress, words
from exercises.grading import spec

STOCK = pytest.StashKey[dict]()


def pytest_addoption(parser):
    parser.addoption(
        "--answers",
        choices=("learner", "reference"),
        default="learner",
        help="whose answers to grade: yours, or the project's own",
    )


def pytest_collect_file(file_path, parent):
    """A learner's file is one item; where it is missing, its check stands in for it."""
    exercise_id = id_of(file_path)
    return exercise_id and ExerciseFile.from_parent(parent, path=file_path, exercise_id=exercise_id)


def id_of(path) -> str | None:
    """The exercise that this file stands for, None for any other file."""
    folder = path.parent if path.parent.name != "check" else path.parent.parent
    if folder.parent != spec.ROOT or not path.stem.startswith("ex"):
        return None
    chapter = folder.name.removeprefix("ch").partition("_")[0].lstrip("0").upper() or "0"
    exercise_id = f"{chapter}.{path.stem[2:].partition('_')[0]}"
    if exercise_id not in spec.all_ids():
        return None
    try:
        standing = spec.learner_file(exercise_id)
    except ValueError:  # none, or two of them: the item says so
        standing = spec.file_of(exercise_id, "check")
    return exercise_id if path == standing else None


class ExerciseFile(pytest.File):
    """Holds the one item of a file."""

    def __init__(self, *, exercise_id, **others):
        super().__init__(**others)
        self.exercise_id = exercise_id

    def collect(self):
        yield ExerciseItem.from_parent(self, name=self.exercise_id)


class NotRight(Exception):
    """An answer that is not right; holds the text to show."""


class ExerciseItem(pytest.Item):
    """Grades one exercise."""

    def runtest(self):
        status, text = self._grade()
        self.user_properties.append(("exercise", status))
        if status == "cannot run here":
            pytest.skip(text)
        if status != "right":
            raise NotRight(text)

    def _grade(self) -> tuple[str, str]:
        from exercises.grading import runner

        stock = self.config.stash.setdefault(STOCK, {})
        if "children" not in stock:
            stock["manager"] = runner.Children()
            stock["children"] = stock["manager"].__enter__()
        try:
            if self.config.getoption("--answers") == "reference":
                path = spec.file_of(self.name, "reference")
                report = runner.grade(self.name, path, children=stock["children"])
                return report.status, words.as_text(words.report_lines(report, progress.ENTRY))
            from exercises.desk.checking import check

            done = check(self.name, stock["children"])
            text = (answers.read(self.name) or b"").decode("utf-8", "replace")
            away = done.report.status in ("right", "cannot run here")
            untouched = not away and answers.is_fresh(self.name, text)  # a hunt runs
            status = "not started" if untouched else done.report.status
            return status, words.as_text(done.lines())
        except ValueError as error:
            return "missing", f"{self.name}: {error}"

    def repr_failure(self, excinfo):
        """The grader's words; Python's own traceback only for a fault of ours."""
        if isinstance(excinfo.value, NotRight):
            head, _, rest = str(excinfo.value).partition("\n")
            file = answers.shown(answers.path_of(self.name))
            return "\n".join([head, *([] if file in rest else [f"in {file}"]), *rest.splitlines()])
        return super().repr_failure(excinfo)

    def reportinfo(self):
        return self.path, None, f"{self.name} {answers.shown(answers.path_of(self.name))}"


def pytest_collection_modifyitems(items):
    """In the order of the course."""
    order = {name: place for place, name in enumerate(spec.all_ids())}
    items.sort(key=lambda item: order.get(item.name, len(order)))


def pytest_unconfigure(config):
    stock = config.stash.get(STOCK, {})
    if "manager" in stock:
        stock["manager"].__exit__(None, None, None)


def pytest_terminal_summary(terminalreporter):
    reports = [
        r for kind in ("passed", "failed", "skipped") for r in terminalreporter.stats.get(kind, [])
    ]
    seen = Counter(v for r in reports for k, v in r.user_properties if k == "exercise")
    if seen:
        line = ", ".join(f"{count} {status}" for status, count in seen.most_common())
        terminalreporter.section("exercises")
        terminalreporter.line(f"{line}. Overview and help: python -m exercises status")
