"""What a learner reads after a grading, as lines of text with a style; terminals and HTML use it.

A line is (style, text); styles are those of STYLES. Ids of messages stay in the report.
"""

from __future__ import annotations

import html

from exercises.desk import answers
from exercises.grading import messages, spec
from exercises.grading.wire import visible

# style -> (rich, CSS). Colours that stay apart for the colour-blind; words say the same.
STYLES = {
    "right": ("bold green", "color:#009E73;font-weight:600"),
    "wrong": ("bold red", "color:#D55E00;font-weight:600"),
    "none": ("bold", "color:#777777;font-weight:600"),
    "plain": ("", ""),
    "hint": ("yellow", "font-weight:600"),
    "quiet": ("dim", "color:#888888"),
    "code": ("", "font-family:monospace;white-space:pre-wrap"),
}
VERDICTS = {
    "right": "right",
    "wrong": "not right yet",
    "not started": "not started",
    "cannot run here": "cannot run here",
    "error": "your code raised an error",
    "syntax": "this is not valid Python yet",
    "timeout": "it took too long and was stopped",
    "memory": "it wanted too much memory and was stopped",
    "crashed": "the process ended before it gave a result",
    "forbidden": "it used something that this exercise does not allow",
    "changed inputs": "it changed its inputs",
    "output": "what it gave back is not plain data",
}
SAID = {  # message id -> what fits better than the words of its status
    "file-missing": "its file is missing",
    "file": "its file cannot be read",
    "printed": "it printed without an end and was stopped",
    "result": "it gave back more than can be read and was stopped",
}
MANY_TRIES = 6
PRINTED_LINES, PRINTED_LETTERS = 12, 300


def report_lines(report, one: dict, notes: list[str] = ()) -> list[tuple[str, str]]:
    """All lines of one graded exercise. `one` is its progress entry."""
    exercise = spec.get(report.exercise)
    calm = {"right": "right", "not started": "none", "cannot run here": "none"}
    style = calm.get(report.status, "wrong")
    said = SAID.get(report.message_id) or VERDICTS.get(report.status, report.status)
    head = f"{exercise.id} {exercise.title}: {said}"
    lines = [(style, head)]
    if report.ok and hasattr(spec.check_of(exercise.id), "remark"):
        lines.append(("plain", report.message))
    if report.status == "not started":
        lines += [("plain", report.message)] if report.message else []
        lines.append(("plain", f"Write it in {answers.shown(answers.path_of(exercise.id))}"))
    elif report.status == "cannot run here":
        lines.append(("plain", report.message))
    elif not report.ok:
        lines += _why(report)
    lines += [("quiet", note) for note in notes]
    if not report.ok and report.status not in calm:
        unread = [("quiet", "mend that first, then check again: this was no try")]
        lines += unread if messages.never_ran(report) else next_help(exercise.id, one)
    return lines


def _why(report) -> list[tuple[str, str]]:
    lines = []
    for line in (report.message or "").splitlines():
        if not line.startswith("Next: "):  # the ladder below knows more
            lines.append(("hint" if line.startswith("Yours ") else "plain", line))
    lines.sort(key=_importance)
    trace = (report.traceback or "").strip().splitlines()
    if len(trace) > 1:
        lines.append(("code", "\n".join(trace)))
    if report.printed.strip():
        printed = [_short(line) for line in report.printed.rstrip().splitlines()]
        more = [f"... ({len(printed)} lines)"] if len(printed) > PRINTED_LINES else []
        lines.append(("code", "\n".join(["it printed:", *printed[:PRINTED_LINES], *more])))
    return lines


def _short(line: str) -> str:
    """A printed line that no terminal obeys and no screen is full of."""
    line = visible(line)
    return line if len(line) <= PRINTED_LETTERS else line[:PRINTED_LETTERS] + " ..."


def _importance(line: tuple[str, str]) -> int:
    """What it does comes first; where it differs first is the least."""
    style, text = line
    if style == "hint":
        return 0
    return 3 if text.startswith("first difference") else 2 if text.startswith("expected") else 1


def next_help(exercise_id: str, one: dict) -> list[tuple[str, str]]:
    """One line of help; after many tries all that there is (once right, one only plays)."""
    run = "python -m exercises"
    guessed = spec.get(exercise_id).kind in ("predict", "choose")
    untraced = spec.no_trace(exercise_id)
    if one["failed"] < MANY_TRIES or one.get("right"):
        hints, ask = f"({min(one['hints'], 3)} of 3 seen)", f"next help: {run}"
        if one["hints"] >= 3:
            then = f"ask {exercise_id} (a text for a friend or an AI tutor), then solution"
            if not guessed:
                then = f"explain {exercise_id} (the smallest input that fails), then {then}"
            return [("quiet", f"{ask} {then}; all 3 hints are seen")]
        if guessed:
            return [("quiet", f"{ask} hint {exercise_id} {hints}")]
        steps = "hint" if untraced else "trace, then hint"
        more = f"(the smallest input that fails), then {steps} {hints}"
        return [("quiet", f"{ask} explain {exercise_id} {more}")]
    offers = {
        "explain": "the smallest input that fails",
        "trace": "the first value inside your function that differs",
        "hint": f"{min(one['hints'], 3)} of 3 seen",
        "solution": "ours beside yours",
        "park": "leave it for later, with ours in use",
        "ask": "a text block for a friend or an AI tutor",
    }
    lines = [("hint", f"{one['failed']} tries. Nobody learns more from another guess; choose:")]
    if guessed:
        del offers["explain"]
    if guessed or untraced:
        del offers["trace"]
    return lines + [("plain", f"  {run} {k} {exercise_id:<5} {v}") for k, v in offers.items()]


def as_text(lines: list[tuple[str, str]]) -> str:
    """Without colours."""
    return "\n".join(text for _, text in lines)


def as_rich(lines: list[tuple[str, str]]):
    """For a terminal."""
    from rich.text import Text

    parts = [Text(text, style=STYLES[style][0]) for style, text in lines]
    return Text("\n").join(parts)


def as_html(lines: list[tuple[str, str]]) -> str:
    """For a notebook: plain HTML, no script, no widget."""
    edge = STYLES[lines[0][0]][1].partition(";")[0].removeprefix("color:") or "#888888"
    rows = "".join(
        f'<div style="{STYLES[style][1]}">{html.escape(text).replace("  ", "&nbsp; ")}</div>'
        for style, text in lines
    )
    return f'<div style="border-left:4px solid {edge};padding:2px 10px">{rows}</div>'
