"""What `minillm bench --suite NAME` runs."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path

from minillm.cli_exit import UsageError


def choose(suite: str, model: list[str] | None, pairs: int, peers: bool, fast: bool, report=None):
    """-> (what runs it, its plan, what shows its report).

    report: the file that it will be written to. An interrupted quality run that lies there goes on.
    """
    from minillm.bench import Plan, decode_suite, is_fast

    if suite == "serve":
        from minillm.bench_serve import ServePlan, serve_suite
        from minillm.bench_serve_show import render

        run, plan = serve_suite, ServePlan(pairs=pairs, peers=peers)
    elif suite == "quant":
        from minillm.bench_quant import QuantPlan, quant_suite
        from minillm.bench_quant_show import render

        run, plan = quant_suite, QuantPlan(pairs=pairs, peers=peers)
    elif suite == "quality":
        from minillm.bench_quality import QualityPlan, quality_suite
        from minillm.bench_quality_show import render

        run, plan = partial(quality_suite, earlier=read_report(report)), QualityPlan()
    elif suite == "prune":
        from minillm.bench_prune import PrunePlan, prune_suite
        from minillm.bench_prune_show import render

        plan = PrunePlan(pairs=pairs)
        run = partial(prune_suite, earlier=read_report(report))
    elif suite == "story":
        from minillm.bench_story import StoryPlan, story_suite
        from minillm.bench_story_show import render

        run, plan = story_suite, StoryPlan(peers=peers)
    elif suite == "gpu":
        from minillm.bench_gpu_device import missing

        if why := missing():
            raise ValueError(why)
        from minillm.bench_gpu import GpuPlan, gpu_suite
        from minillm.bench_gpu_show import render

        run, plan = gpu_suite, GpuPlan(pairs=pairs, peers=peers)
    else:
        from minillm.bench_show import render

        run, plan = decode_suite, Plan(pairs=pairs, peers=peers)
        if model:
            plan = Plan(tuple(model), required=True, pairs=pairs, peers=peers)
    return run, plan.quick() if is_fast(fast) else plan, render


def check_picture(suite: str, picture: str | None) -> None:
    """Refuse a picture that nobody draws or that has no folder, before minutes are spent."""
    if picture is not None and suite != "story":
        raise UsageError(f"--picture: the {suite} suite draws none, only the story does")
    if picture is not None and not Path(picture).absolute().parent.is_dir():
        raise UsageError(f"--picture: the folder of {picture} does not exist")
    if picture is not None and Path(picture).is_dir():
        raise UsageError(f"--picture: {picture} is a folder, not a file")


def draw_picture(suite: str, report: dict, picture: str | None, as_json: str | None) -> None:
    """The story's picture, where it was asked for or beside the report."""
    if suite != "story" or picture is None and as_json in (None, "-"):
        return
    from minillm.bench_story_show import draw

    draw(report, Path(picture) if picture else Path(as_json).with_suffix(".png"))


def read_report(path: str | None):
    """The report in a file, or None."""
    try:
        return json.loads(Path(path).read_text(encoding="utf-8")) if path else None
    except (OSError, ValueError):
        return None
