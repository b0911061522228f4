"""The help ladder: hints, our solution beside yours, a later day, a text block to ask with."""

from __future__ import annotations

import ast
import difflib
from pathlib import Path

from exercises.desk import answers, progress, words
from exercises.grading import spec

HINT_NAMES = ("a question", "formula and shapes", "a skeleton with one blank")


def hint(exercise_id: str, everything: bool = False) -> str:
    """The next hint, or all of them; asking after the third shows all again."""
    hints, shown = spec.get(exercise_id).hints, {}

    def edit(data):
        one = progress.entry(data, exercise_id)
        shown["first"] = 0 if everything or one["hints"] >= 3 else one["hints"]
        one["hints"] = 3 if everything else min(one["hints"] + 1, 3)
        shown["last"] = one["hints"]

    progress.change(edit)
    parts = [
        f"hint {i + 1} of 3 ({HINT_NAMES[i]})\n{hints[i]}"
        for i in range(shown["first"], shown["last"])
    ]
    return "\n\n".join(parts)


def solution(exercise_id: str) -> str:
    """Our answer and its difference to yours; ValueError before the first own try."""
    one = progress.load()["exercises"].get(exercise_id, progress.ENTRY)
    if not one["attempts"]:
        raise ValueError(
            f"first one try of your own, however wrong: write something into "
            f"{answers.shown(answers.path_of(exercise_id))} and run check {exercise_id}"
        )
    ours = spec.file_of(exercise_id, "reference").read_text(encoding="utf-8")
    yours = (answers.read(exercise_id) or b"").decode("utf-8", "replace")
    sides = code_only(yours).splitlines(), code_only(ours).splitlines()
    diff = list(difflib.unified_diff(*sides, lineterm="", n=99))[2:]

    def edit(data):
        progress.entry(data, exercise_id)["seen"] = True

    progress.change(edit)
    value = ""
    if spec.get(exercise_id).kind in ("predict", "choose"):
        case = spec.cases(exercise_id, progress.asker(exercise_id))[0]
        value = f"\nFor your question it gives: {spec.reference(exercise_id)(**case)}\n"
    close = "Close this and write it again from memory: only then it is yours."
    how = "From yours (-) to ours (+), without comments:\n" + "\n".join(diff)
    return f"{ours}{value}\n{how}\n\n{close}"


def code_only(text: str) -> str:
    """The text without comments, docstrings and annotations; as it is when it is no Python."""
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError):
        return answers.tidy(text)
    for node in ast.walk(tree):
        documented = isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef))
        if documented and len(node.body) > 1 and ast.get_docstring(node) is not None:
            del node.body[0]
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            node.returns = None
        if isinstance(node, ast.arg):
            node.annotation = None
    return ast.unparse(tree)


def without_statement(text: str) -> str:
    """The text without the docstring at its top, which repeats the exercise."""
    try:
        first = ast.parse(text).body[:1]
    except (SyntaxError, ValueError, RecursionError):
        first = []
    if first and isinstance(first[0], ast.Expr) and isinstance(first[0].value, ast.Constant):
        text = "\n".join(text.splitlines()[first[0].end_lineno :])
    return answers.tidy(text)


def park(exercise_id: str, undo: bool = False) -> str:
    """Leave an exercise for later, or take it up again."""
    if not undo and answers.state(exercise_id, progress.load()) == "solved":
        return f"{exercise_id} is solved: there is nothing to park"

    def edit(data):
        progress.entry(data, exercise_id)["parked"] = not undo

    progress.change(edit)
    if undo:
        return f"{exercise_id} is no longer parked"
    return (
        f"{exercise_id} is parked: everything after it uses our answer. status lists it in yellow "
        "until it is solved"
    )


def reset(exercise_id: str, student: str | None = None) -> str:
    """The untouched text again; the answer goes to the backups."""
    answers.the_one(exercise_id)
    who = progress.student() if student is None else student
    before = progress.asker(exercise_id)
    saved = answers.begin(exercise_id, who)
    answers.keep_copy(exercise_id, None)

    def edit(data):
        one = progress.entry(data, exercise_id)
        one.update(solved=False, parked=False, failed=0, hints=0)
        one.pop("sha", None)
        if saved.backup and spec.get(exercise_id).personal:
            one.setdefault("askers", {})[mark_of(saved.backup)] = before

    progress.change(edit)
    kept = f"; your answer is kept: backups {exercise_id}" if saved.backup else ""
    return f"{answers.shown(saved.path)} is as it was at the start{kept}"


def mark_of(kept: Path) -> str:
    """The part of a kept text's name that comes from the text."""
    return kept.stem.rpartition("-")[2]


def restore(exercise_id: str, number: int) -> str:
    """Take back the kept text number 1, 2, ... of `backups`; today's text is kept as well."""
    kept = answers.backups(exercise_id)
    if not 1 <= number <= len(kept):
        raise ValueError(f"{exercise_id} has {len(kept)} kept texts; there is no number {number}")
    answers.the_one(exercise_id)
    saved = answers.save(exercise_id, kept[number - 1].read_bytes())

    def edit(data):  # the text comes back with the numbers that it answers
        before = progress.asker(exercise_id, data)
        one = progress.entry(data, exercise_id)
        if saved.backup:
            one.setdefault("askers", {})[mark_of(saved.backup)] = before
        one["student"] = one.get("askers", {}).get(mark_of(kept[number - 1]), before)

    if spec.get(exercise_id).personal:
        progress.change(edit)
    return f"{answers.shown(saved.path)} holds the text {kept[number - 1].name} again"


def ask(exercise_id: str, lines: list[tuple[str, str]]) -> str:
    """One block of text for a friend or an AI tutor. It never holds our answer.

    lines: what the grader said to the answer as it is now.
    """
    exercise, data = spec.get(exercise_id), progress.load()
    one = data["exercises"].get(exercise_id, progress.ENTRY)
    fresh = spec.fresh_text(exercise_id, progress.asker(exercise_id, data))
    yours = (answers.read(exercise_id) or b"").decode("utf-8", "replace")
    tried = [f"- {t.get('message', '')}".splitlines()[0] for t in one["tried"]]
    hints = [f"- {h}" for h in exercise.hints[: one["hints"]]]
    parts = [
        f"I am working on exercise {exercise_id}, {exercise.title!r}, of a course about LLM "
        "inference. Please help me find it myself: ask me one question at a time, and do not write "
        "the answer for me.",
        f"The exercise:\n```python\n{answers.tidy(fresh)}\n```",
        f"My answer now:\n```python\n{without_statement(yours)}\n```",
        f"What the grader says:\n```\n{words.as_text(lines)}\n```",
    ]
    if answers.is_fresh(exercise_id, yours):
        parts[2] = "I have not changed anything yet."
    if tried:
        parts.append("What I tried before, and what was wrong with it:\n" + "\n".join(tried))
    if hints:
        parts.append("Hints that I have seen:\n" + "\n".join(hints))
    return "\n\n".join(parts)
