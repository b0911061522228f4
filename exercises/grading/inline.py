"""For authors: judge an exercise's own answers in this process, without a child.

python -m exercises.grading.inline 4.2       fresh, reference, every wrong, every right answer
"""

from __future__ import annotations

import sys

from exercises.grading import spec, verdict
from exercises.grading.judge import Wrong


def run(exercise_id: str, answer, seed) -> str:
    """ "right", or the message."""
    cases = spec.cases(exercise_id, seed)
    try:
        outputs = [spec.drive(exercise_id, answer, verdict.clone(case)) for case in cases]
        for case, output in zip(cases, outputs):
            verdict.judge(exercise_id, case, output)
    except Wrong as wrong:
        same = verdict.equals(exercise_id, cases, outputs)
        return f"{wrong}" + (f"\nequals {same}" if same else "")
    except NotImplementedError as error:
        return f"not started: {error}"
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return "right"


def table(exercise_id: str, seed) -> bool:
    """Print every answer's verdict; whether all are as they must be."""
    exercise, good = spec.get(exercise_id), True
    entry = lambda path: getattr(spec.load_module(path), exercise.entry)
    rows = [("fresh", "fresh", entry(spec.file_of(exercise_id, "fresh")))]
    rows.append(("reference", "reference", spec.reference(exercise_id)))
    for kind in ("wrong", "right"):
        rows += [(kind, n, a) for n, a in spec.variants(exercise_id, kind).items()]
    for kind, name, answer in rows:
        text = run(exercise_id, answer, seed)
        fine = (text == "right") == (kind in ("reference", "right"))
        if kind == "wrong":
            fine = fine and f"equals {name}" in text
        good = good and fine
        print(f"{'ok ' if fine else 'BAD'} {exercise_id} {kind:<9} {name:<28} {text}", flush=True)
    return good


if __name__ == "__main__":
    ids = sys.argv[1:] or spec.all_ids()
    results = [table(i, seed) for i in ids for seed in ("", "1", "student-2")]
    sys.exit(not all(results))
