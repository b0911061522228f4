"""Kernel exercises: runs the learner's Triton kernel in the CPU interpreter, and judges it.

A kernel exercise's answer is a launcher: it gets tensors, among them the outputs (the check's
EXERCISE.edits), and starts the learner's kernel on them. Its check has a plain `twin` of the same
signature. Tensors lie between guard zones of NaN (bounds.py).
"""

from __future__ import annotations

import importlib.util
import os
import sys

from exercises.grading.bounds import MASK, Bounds, Guarded, guarded, unlikely
from exercises.grading.judge import TOLERANCES, Wrong, compare
from exercises.grading.limits import Limits

LIMITS = Limits(cpu_s=60.0, wall_s=180.0)  # the interpreter is a thousand times slower than a GPU
# What a launcher may ask of torch: room and views. The kernel computes.
ROOM = (
    "empty", "empty_like", "new_empty", "empty_strided", "view", "_unsafe_view", "reshape",
    "as_strided", "t", "transpose", "permute", "expand", "unsqueeze", "squeeze", "slice", "select",
    "detach", "alias", "unflatten", "flatten", "lift_fresh",
)  # fmt: skip
NOT_TORCH = ("numpy", "__array__", "tolist", "item", "__dlpack__", "__setitem__")


def available() -> bool:
    """Whether this machine has Triton at all (there is none for macOS and Windows)."""
    return importlib.util.find_spec("triton") is not None


def interpreter():
    """Triton's interpreter, imported with TRITON_INTERPRET=1 -> its module.

    RuntimeError if this process has imported Triton without it: it is read at the import.
    """
    if "triton" in sys.modules and os.environ.get("TRITON_INTERPRET") != "1":
        raise RuntimeError(
            "Triton is imported without its interpreter here: restart the kernel, and set "
            'os.environ["TRITON_INTERPRET"] = "1" before the first import of triton'
        )
    os.environ["TRITON_INTERPRET"] = "1"
    import triton.language  # noqa: F401
    from triton.runtime import interpreter as module

    return module


def drive(answer, case: dict, outputs: tuple[str, ...]) -> dict:
    """Call a launcher (or a plain twin) on guarded copies -> what it wrote, and what it did.

    The case's own tensors get what the answer left in them, so that a changed input is seen.
    """
    regions = guarded({k: v for k, v in case.items() if hasattr(v, "data_ptr")})
    arguments = {k: regions[k].view if k in regions else v for k, v in case.items()}
    with Bounds(list(regions.values())) as bounds:
        answer(**arguments)
    marks = dict(bounds.marks)
    for name, region in regions.items():
        case[name].copy_(region.view)
        if _broken(region):
            marks.setdefault(f"writes outside {name}", f"it wrote outside of {name}. {MASK}")
        if name in outputs and bounds.launches:
            left = int((region.writer[region.ours] < 0).sum())
            if left:
                text = f"{left} of {int(region.ours.sum())} elements of {name} were written by no "
                text += "program: is the grid too small, or a mask too tight?"
                marks[f"leaves parts of {name}"] = text
    return {
        "out": {name: regions[name].view.clone() for name in outputs},
        "marks": sorted(marks),
        "said": [marks[mark] for mark in sorted(marks)],
        "launches": bounds.launches,
        "programs": bounds.programs,
    }


def _broken(region: Guarded) -> bool:
    """Whether the guard zones are not what they were."""
    import torch

    guards = region.room[torch.from_numpy(~region.ours)]
    kept = guards.isnan() if guards.is_floating_point() else guards == unlikely(guards.dtype)
    return not bool(kept.all())


def judge(output, want: dict, tolerance: str, least: int = 1) -> None:
    """Raise Wrong unless a kernel ran, kept to its tensors, and wrote what the twin writes.

    least: programs that the largest launch must have at least.
    """
    if not output["launches"]:
        raise Wrong("kernel.launch", "no kernel was launched: write kernel[grid](arguments)")
    if output["marks"]:
        kinds = [_kind(mark) for mark in output["marks"]]
        kind = min(kinds, key=("outside", "two", "leaves").index)  # the cause before what it does
        raise Wrong(f"kernel.{kind}", output["said"][kinds.index(kind)])
    for name, expected in want["out"].items():
        compare(output["out"][name], expected, TOLERANCES[tolerance], name)
    if output["programs"] < least:
        text = f"{output['programs']} programs do all the work, at least {least} were asked for: "
        raise Wrong("kernel.programs", text + "on a GPU the rest of it would have nothing to do")


def _kind(mark: str) -> str:
    return "outside" if "outside" in mark else mark.split()[0]


def alike(one: dict, other: dict, tolerance: str) -> bool:
    """Whether two outputs of `drive` show the same mistake."""
    if one["marks"] != other["marks"] or bool(one["launches"]) != bool(other["launches"]):
        return False
    try:
        compare(one["out"], other["out"], max(1e-6, TOLERANCES[tolerance]))
    except Wrong:
        return False
    return True
