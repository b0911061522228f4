"""Grades one answer: runs it in a child, judges what comes back here, says what was found.

from exercises.grading.runner import Children, grade
report = grade("4.2")                      the learner's own file
with Children() as children:               many gradings: one fork server for all
    grade("4.2", path, children=children)
"""

from __future__ import annotations

import contextlib
import os
import secrets
import time
from dataclasses import dataclass, field, replace
from pathlib import Path

from exercises.grading import kernels, messages, spec, verdict, wire
from exercises.grading.children import Children, Ended
from exercises.grading.judge import Wrong, show
from exercises.grading.limits import Limits
from exercises.grading.sources import read_source, untouched

__all__ = ["Answers", "CaseResult", "Children", "Report", "grade", "run_answer", "untouched"]


@dataclass(frozen=True)
class Report:
    """What was found about one answer."""

    exercise: str
    # right | wrong | not started | error | syntax | timeout | memory | crashed | forbidden |
    # changed inputs | output (not plain data) | cannot run here (no Triton: nobody's fault)
    status: str
    seed: str  # of the cases: the same seed gives the same cases
    message: str
    message_id: str
    case: int | None = None  # which case failed
    expected: str | None = None
    got: str | None = None
    index: tuple | None = None
    equals: str | None = None  # the named wrong answer that gives the same
    equals_text: str | None = None  # what it does
    printed: str = ""  # the last of what the answer printed
    traceback: str = ""  # only lines of the answer's file
    seconds: float = 0.0

    @property
    def ok(self) -> bool:
        return self.status == "right"


@dataclass
class CaseResult:
    """One case after a run: either an output or a failure."""

    case: dict  # the inputs, made here
    output: object = None
    inputs: object = None  # as they were after the run; plain data
    locals: list[dict] = field(default_factory=list)  # calls: {"function": name, "locals": {...}}
    faults: list[str] = field(default_factory=list)  # variables that our recorder could not keep
    seconds: float = 0.0
    failure: dict | None = None  # status, id, message, traceback
    ran: bool = False


@dataclass
class Answers:
    """All cases of a run, and what ended it early."""

    cases: list[CaseResult]
    failure: dict | None = None  # the first failure of the whole run, with its case
    printed: str = ""
    seconds: float = 0.0


class GraderError(RuntimeError):
    """A fault of the exercise or of the grader: never the learner's."""


def grade(
    exercise_id: str,
    path: Path | str | None = None,
    *,
    entry: str | None = None,
    seed=None,
    student: str = "",
    children: Children | None = None,
    limits: Limits | None = None,
    protect: tuple = (),
) -> Report:
    """Grade an answer file (None: the learner's own).

    entry: the name to take from the file if not the exercise's. seed: None takes a new one (or,
    where the question is personal, the student). protect: more folders it may not read.
    ValueError: no such exercise. GraderError: the exercise itself is broken.
    """
    began = time.monotonic()
    exercise = spec.get(exercise_id)
    if exercise.kind in ("predict", "choose"):
        seed = student
    elif seed is None:
        seed = secrets.token_hex(4)
    report = Report(exercise_id, "error", str(seed), "", "")
    path = Path(path) if path else spec.learner_file(exercise_id)
    source, fault = read_source(path)
    if fault:
        return replace(report, **fault)
    if exercise.kind == "kernel":
        if not kernels.available():
            return replace(report, **messages.cannot_run(exercise))
        limits = limits or kernels.LIMITS
        if children is None:  # to name a wrong kernel, the wrong ones run too: a child each
            more = {"entry": entry, "seed": seed, "student": student, "protect": protect}
            with Children() as own:
                return grade(exercise_id, path, children=own, limits=limits, **more)
    runs_untouched = exercise.kind in ("hunt", "slow", "break") or entry
    if not runs_untouched and untouched(exercise_id, source, student):
        return replace(report, **messages.not_started(exercise))
    answers = run_answer(
        exercise_id, path, seed, entry=entry, children=children, limits=limits, source=source,
        protect=protect,
    )  # fmt: skip

    def wrong_outputs(name: str) -> list:
        wrong = spec.file_of(exercise_id, "wrong")
        inputs = (str(wrong), wrong.stat().st_mtime_ns, str(seed))
        if children.known.get(exercise_id, (None,))[0] != inputs:
            children.known[exercise_id] = (inputs, {})  # many answers on one seed: a proof, a class
        outputs = children.known[exercise_id][1]
        if name not in outputs:
            run = run_answer(exercise_id, wrong, seed, entry=name, children=children, limits=limits)
            outputs[name] = [result.output for result in run.cases if result.ran]
        return outputs[name]

    found = judged(exercise, answers, path, student, wrong_outputs)
    return replace(
        report, **found, printed=answers.printed, seconds=round(time.monotonic() - began, 3)
    )


def run_answer(
    exercise_id: str,
    path: Path | str | None,
    seed="",
    *,
    sizes: list[dict] | None = None,
    record_locals: bool = False,
    entry: str | None = None,
    children: Children | None = None,
    limits: Limits | None = None,
    stop: bool = True,
    source: str | None = None,
    protect: tuple = (),
) -> Answers:
    """Run an answer without judging it: the outputs of every case.

    sizes: arguments of make(), one case each, instead of the exercise's own. stop: False goes on
    after a case that raised. record_locals: also the answer's variables at its return.
    """
    exercise = spec.get(exercise_id)
    path = Path(os.path.abspath(path or spec.learner_file(exercise_id)))
    if source is None:
        source, fault = read_source(path)
        if fault:
            return Answers([], failure_of(fault))
    job = {
        "exercise": exercise_id, "root": str(spec.ROOT), "path": str(path), "source": source,
        "entry": entry or exercise.entry, "torch": exercise.torch, "seed": str(seed),
        "sizes": sizes, "locals": record_locals, "stop": stop, "protect": [str(p) for p in protect],
    }  # fmt: skip
    own = contextlib.nullcontext(children) if children else Children("spawn")
    with own as those, those.begin(job, limits) as running:
        cases = spec.cases(exercise_id, str(seed), sizes)  # while the child does the same
        ended = running.result()
    return collect(cases, ended, limits or Limits())


def failure_of(fault: dict) -> dict:
    return {
        "status": fault["status"], "id": fault["message_id"], "message": fault["message"],
        "traceback": "", "case": None,
    }  # fmt: skip


def collect(cases: list[dict], ended: Ended, limits: Limits) -> Answers:
    """Sort a child's frames by case, and find the first failure."""
    answers = Answers([CaseResult(case) for case in cases], None, ended.printed, ended.seconds)
    done, first = None, None
    for kind, value in ended.frames:
        if kind == "G":
            raise GraderError(value)
        if kind == "C":
            take(answers.cases[value["case"]], value)
        if kind == "F":
            first = first or value
            if value["case"] is not None:
                answers.cases[value["case"]].failure = value
        if kind == "D":
            done = value
    answers.failure = messages.ending(ended, done, answers, limits) or first
    return answers


def take(result: CaseResult, value: dict) -> None:
    """Put a child's case frame into its place."""
    result.output = wire.decode(value["output"])
    result.inputs = wire.decode(value["inputs"])
    result.seconds, result.ran, result.faults = value["seconds"], True, value["faults"]
    result.locals = [
        {"function": call["function"], "locals": wire.decode(call["locals"])}
        for call in value["locals"]
    ]


def judged(
    exercise: spec.Exercise, answers: Answers, path: Path, student: str = "", run=None
) -> dict:
    """The verdict on a run, as fields of a Report. Right needs every case (run: see equals)."""
    failure = answers.failure
    if failure and failure["status"] == "forbidden":
        return messages.failed(exercise, failure, answers, path)
    begun = None
    for number, result in enumerate(answers.cases):
        if not result.ran:
            break
        fault = _judge_case(exercise, answers, number, student, run)
        if fault and fault["status"] != "not started":
            return fault
        begun = begun or fault
    else:
        if not failure:
            return begun or messages.right(exercise, answers)
    if not failure:
        raise GraderError(f"{exercise.id}: a case is missing, and nothing says why")
    return messages.failed(exercise, failure, answers, path)


def _judge_case(exercise, answers: Answers, number: int, student: str, run) -> dict | None:
    """What is wrong with one case; None if it is right."""
    result = answers.cases[number]
    other = verdict.not_plain(result.output)
    if other:
        return messages.not_plain(exercise, other, number)
    changed = verdict.changed(result.case, result.inputs, exercise.edits)
    if changed:
        return messages.changed(exercise, changed, number)
    if exercise.kind in ("predict", "choose") and result.output is None:
        return messages.not_started(exercise)
    try:
        verdict.judge(exercise.id, verdict.clone(result.case), result.output)
        return None
    except Wrong as wrong:
        if wrong.id.endswith(".unwritten"):  # a part of it is right, and the rest is still to come
            return messages.found("not started", wrong.id, wrong.message)
        fault = wrong
    except Exception as error:  # the judge met a form that it did not expect
        text = f"the result has not the form that was asked for ({type(error).__name__}: {error})"
        fault = Wrong("form", text, got=result.output)
    ran = [r for r in answers.cases if r.ran]
    inputs, outputs = [r.case for r in ran], [r.output for r in ran]
    name = verdict.equals(exercise.id, inputs, outputs, student, run)
    return messages.wrong(exercise, fault, answers, number, name) | {
        "expected": None if fault.expected is None else show(fault.expected),
        "got": None if fault.got is None else show(fault.got),
    }
