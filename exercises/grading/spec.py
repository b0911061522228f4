"""What an exercise is, where its files lie, and how they are found. No torch in here.

An exercise K of chapter NN is these files (see exercises/README.md):

    exercises/chNN_topic/exK_name.py   the learner's file
    .../fresh/exK.py                   its untouched text; more variants of a hunt: exK_b.py ...
    .../check/exK.py                   EXERCISE, make(), and where the defaults do not fit:
                                       drive(), judge()
    .../reference/exK.py               the project's answer, under the entry's name
    .../wrong/exK.py                   named wrong answers: one function each, its docstring says
                                       what it does ("a mask aligned top-left")
    .../right/exK.py                   other right answers, which must pass too

A [kernel] answer is a launcher: it gets every tensor, the outputs too (EXERCISE.edits), and starts
the learner's kernel. Its check has a plain `twin` of the same signature, because the process that
judges may have no Triton. Where few programs are a mistake it has `least_programs(case)` too.

A check may help the ladder, too. For explain: `HOW`, how to read its inputs; `told(case, output)`,
the output in words; `calls(case, mine)`, lines of Python for the cell (`mine` names the answer);
for a list of calls, case[LIST], `steps(case)` (each call as text), `LABELS` (what the entries of
the output hold) and `shorten(case, keep)` (only these calls; ValueError if they make no sense).
For trace: `NO_TRACE`, why variables cannot be compared (it is not offered then); `UNTRACED`, names
at which ours is nothing to aim at. `remark(cases, outputs)` stands beside "right".
"""

from __future__ import annotations

import ast
import importlib.util
import random
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from types import ModuleType

ROOT = Path(__file__).resolve().parents[1]
KINDS = ("code", "predict", "hunt", "slow", "break", "choose", "kernel")


@dataclass(frozen=True)
class Exercise:
    """The fixed facts of one exercise; check/exK.py holds it as EXERCISE."""

    id: str  # "4.2"; the appendix: "A1.2"
    title: str
    kind: str  # one of KINDS
    entry: str  # the function or class the learner writes; "answer" for predict and choose
    minutes: int  # to expect
    difficulty: int  # 1 easy .. 5 hard
    hints: tuple[str, str, str]  # a question with a number; formula and shapes; a skeleton
    evening: bool = False  # on the evening path
    hardware: str = "any laptop"
    # code, hunt, slow: arguments of make(), one case each, the smallest first
    sizes: tuple[dict, ...] = field(default=({},))
    tolerance: str = "exact"  # of the default judge: exact, or a name in judge.TOLERANCES
    band: float = 0.25  # predict: how far off, relatively, is still right
    choices: dict[str, str] = field(default_factory=dict)  # choose: key -> text
    forbid: tuple[str, ...] = ()  # "sdpa", or names of torch operators that may not run
    uses: tuple[str, ...] = ()  # modules of minillm that an answer may import
    torch: bool = True  # False: integers only, the child never loads torch
    edits: tuple[str, ...] = ()  # inputs that the answer is asked to change in place

    def __post_init__(self):
        assert self.kind in KINDS, self.kind
        assert re.fullmatch(r"(\d+|A1)\.\d+", self.id), self.id
        assert len(self.hints) == 3 and all(self.hints), f"{self.id}: three hints"

    @property
    def chapter(self) -> str:
        return self.id.split(".")[0]

    @property
    def number(self) -> str:
        return self.id.split(".")[1]

    @property
    def personal(self) -> bool:
        """Whether its question depends on who asks (the student's id is the seed)."""
        return self.kind in ("predict", "choose", "hunt")


def folder_of(exercise_id: str) -> Path:
    """The chapter's folder; ValueError that lists the chapters if there is none."""
    chapter = exercise_id.split(".")[0]
    prefix = "cha1_" if chapter == "A1" else f"ch{int(chapter):02d}_"
    for path in sorted(ROOT.glob(f"{prefix}*")):
        return path
    raise ValueError(f"no chapter {chapter}: there are {', '.join(p.name for p in _chapters())}")


def _chapters() -> list[Path]:
    return sorted(p for p in ROOT.glob("ch*_*") if p.is_dir())


def all_ids() -> list[str]:
    """Every exercise, in the order of the course."""
    found = []
    for folder in _chapters():
        match = re.match(r"ch(\d\d|a1)_", folder.name)
        chapter = "A1" if match[1] == "a1" else str(int(match[1]))
        numbers = sorted(int(p.stem[2:]) for p in (folder / "check").glob("ex*.py"))
        found += [f"{chapter}.{number}" for number in numbers]
    return found


def file_of(exercise_id: str, kind: str) -> Path:
    """kind: check | fresh | reference | wrong | right."""
    return folder_of(exercise_id) / kind / f"ex{exercise_id.split('.')[1]}.py"


def learner_file(exercise_id: str) -> Path:
    """The file the learner edits."""
    number = exercise_id.split(".")[1]
    found = sorted(folder_of(exercise_id).glob(f"ex{number}_*.py"))
    if len(found) > 1:
        names = " and ".join(path.name for path in found)
        raise ValueError(f"exercise {exercise_id} has the files {names}: keep one of them")
    if not found:
        raise ValueError(
            f"the file of exercise {exercise_id}, ex{number}_*.py, is missing: "
            f"python -m exercises reset {exercise_id} makes a new one"
        )
    return found[0]


def load_module(path: Path) -> ModuleType:
    """Run a file of ours as a module of its own (never a learner's: that is the child's job)."""
    name = "_exercise_" + re.sub(r"\W", "_", str(path.relative_to(ROOT).with_suffix("")))
    module_spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(module_spec)
    module_spec.loader.exec_module(module)
    return module


@cache
def check_of(exercise_id: str) -> ModuleType:
    """The check module; ValueError with the nearest ids if there is no such exercise."""
    if exercise_id not in all_ids():
        raise ValueError(f"no exercise {exercise_id}: there are {', '.join(all_ids())}")
    module = load_module(file_of(exercise_id, "check"))
    assert module.EXERCISE.id == exercise_id, f"{module.EXERCISE.id} lies in {exercise_id}'s file"
    return module


def get(exercise_id: str) -> Exercise:
    """The exercise with this id."""
    return check_of(exercise_id).EXERCISE


def no_trace(exercise_id: str) -> str:
    """Why trace cannot compare the answer's variables; "" where it can."""
    if get(exercise_id).kind == "kernel":
        return "a kernel's variables cannot be compared: use explain, then hint"
    return getattr(check_of(exercise_id), "NO_TRACE", "")


@cache
def reference(exercise_id: str) -> Callable:
    """The project's answer (predict, choose: a function of the case that gives the value).

    kernel: the plain twin.
    """
    if get(exercise_id).kind == "kernel":
        return check_of(exercise_id).twin
    return getattr(load_module(file_of(exercise_id, "reference")), get(exercise_id).entry)


def variants(exercise_id: str, kind: str) -> dict[str, Callable]:
    """Named answers of wrong/exK.py or right/exK.py: every public function or class in it."""
    if get(exercise_id).kind == "kernel":
        return _unloaded(file_of(exercise_id, kind))
    module = load_module(file_of(exercise_id, kind))
    return {
        name: value
        for name, value in vars(module).items()
        if callable(value) and not name.startswith("_") and value.__module__ == module.__name__
    }


def _unloaded(path: Path) -> dict[str, Callable]:
    """The launchers of a file of kernels, by name and docstring: only a child may import Triton."""

    def stand_in(node: ast.FunctionDef) -> Callable:
        def launcher(*_, **__):
            raise RuntimeError(f"{node.name} runs in a child only: it needs Triton's interpreter")

        launcher.__name__, launcher.__doc__ = node.name, ast.get_docstring(node)
        return launcher

    nodes = ast.parse(path.read_text(encoding="utf-8")).body
    functions = [n for n in nodes if isinstance(n, ast.FunctionDef) and not n.decorator_list]
    return {n.name: stand_in(n) for n in functions if not n.name.startswith("_")}


def cases(exercise_id: str, seed, sizes: list[dict] | None = None) -> list[dict]:
    """The inputs of a grading: one dict a size, the same ones for the same seed.

    A check with its own `cases(seed)` decides itself. Otherwise, where the question is not
    personal, one size comes again at the end with other numbers: the child hands the same tensor
    objects to both. `sizes`: these instead.
    """
    check, exercise = check_of(exercise_id), get(exercise_id)
    if sizes is None:
        if hasattr(check, "cases"):
            return check.cases(seed)
        sizes = list(exercise.sizes)
        if exercise.kind not in ("predict", "choose"):
            sizes.append(sizes[min(1, len(sizes) - 1)])
    return [made(exercise_id, seed, i, size) for i, size in enumerate(sizes)]


def made(exercise_id: str, seed, number: int, size: dict) -> dict:
    """One case. With size["keep"], (number, places): case `number` with only these of its calls."""
    check, size = check_of(exercise_id), dict(size)
    number, keep = size.pop("keep", (number, None))
    case = check.make(random.Random(f"{exercise_id}/{seed}/{number}"), **size)
    return case if keep is None else check.shorten(case, keep)


def drive(exercise_id: str, answer, case: dict):
    """Run an answer on one case -> plain tensors, numbers, texts, lists, dicts."""
    check = check_of(exercise_id)
    if hasattr(check, "drive"):
        return check.drive(answer, case)
    if check.EXERCISE.kind in ("predict", "choose"):
        return answer(**case) if callable(answer) else answer
    if check.EXERCISE.kind == "kernel":
        from exercises.grading import kernels

        return kernels.drive(answer, case, check.EXERCISE.edits)
    return answer(**case)


def fresh_path(exercise_id: str, student: str = "") -> Path:
    """The file an exercise begins with; a hunt has several, and the student decides which."""
    path = file_of(exercise_id, "fresh")
    choices = [path, *sorted(path.parent.glob(f"{path.stem}_*.py"))]
    if student and get(exercise_id).kind == "hunt":
        return choices[random.Random(f"hunt {exercise_id} {student}").randrange(len(choices))]
    return path


def fresh_text(exercise_id: str, student: str = "") -> str:
    """The untouched file: a hunt's variant and a prediction's numbers depend on the student."""
    path, exercise = fresh_path(exercise_id, student), get(exercise_id)
    text = path.read_text(encoding="utf-8")
    if exercise.personal and "{{" in text:  # {{name}} is a number of the case
        case = cases(exercise_id, student)[0]
        fill = lambda m: format(case[m[1]], (m[2] or ":")[1:])
        text = re.sub(r"\{\{(\w+)(:[^}]*)?\}\}", fill, text)
    return text


def accepted(exercise_id: str, student: str) -> tuple:
    """choose: the keys that are right."""
    want = drive(exercise_id, reference(exercise_id), cases(exercise_id, student)[0])
    return tuple(want) if isinstance(want, (set, tuple, list, frozenset)) else (want,)
