"""Beside the story: two comparisons in which a step shows what W cannot show, and the peers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

from minillm.bench_story_llama import llama_rows
from minillm.bench_story_rows import ALL, BLOCK, STEPS, all_of_blank, pool, room
from minillm.bench_story_runs import VOCABULARY, timed, together
from minillm.doctor import version_of
from minillm.workload import COUNT, Job, workload

SHARING = 8  # requests whose prompts begin alike
PADDED, MANAGER = "transformers, padded", "transformers, continuous"
SEATS = 8  # of a padded batch


def sides(plan, model, report: dict, progress: Callable) -> None:
    """Shared prompts for the prefix cache; more requests than fit for the freed memory."""
    step = next(step for step in STEPS if step.name == ALL)
    budget, every = report["budget"], (shared_prompts, more_blocks)
    for number, side in enumerate(every):
        progress(side.__name__.replace("_", " "), number, len(every))
        report["sides"].append(side(plan, model, budget, step))


def shared_prompts(plan, model, budget: int, _step) -> dict:
    """The prefix cache off and on, where all prompts begin with the same tokens, seen before."""
    start = tuple(1 + 7 * i % (VOCABULARY - 1) for i in range(plan.shared))
    count = min(SHARING, plan.requests or SHARING)
    jobs = [Job(start + job.prompt, job.answer) for job in workload(VOCABULARY, count)]
    runs = []
    for name, on in (("off", False), ("on", True)):
        config = pool(prefix_caching=on)(model, budget)
        runs.append({"name": name} | timed(together(config, Job(start, 1)), model, jobs))
    what = f"{count} requests of W behind {plan.shared} tokens that all share"
    return {"name": "prefix cache", "what": what, "runs": runs}


def more_blocks(plan, model, budget: int, step) -> dict:
    """The same small model with the blocks that dense weights leave, and with all it has room for.

    Weights, K/V format and requests are the same in both runs: only the number of blocks differs.
    """
    jobs = [job for turn in range(plan.times) for job in other_tokens(turn)]
    jobs = jobs[: plan.requests] if plan.requests else jobs
    few, small = room(model, budget, BLOCK), all_of_blank(model)
    config, runs = step.config_of(small, budget), []
    for count in (few, config.num_blocks):
        engine = together(replace(config, num_blocks=count))
        runs.append({"name": f"{count} blocks"} | timed(engine, small, jobs))
    what = f"{len(jobs)} requests (W {plan.times} times over), {ALL}; dense weights leave {few}"
    return {"name": "more blocks", "what": what, "runs": runs}


def other_tokens(turn: int) -> list[Job]:
    """W with the same lengths and other tokens, so that no prompt is met twice."""
    move = lambda token: 1 + (token + turn) % (VOCABULARY - 1)
    return [Job(tuple(map(move, job.prompt)), job.answer) for job in workload(VOCABULARY, COUNT)]


def peers(plan, model, report: dict, progress: Callable) -> None:
    """llama.cpp and transformers on the same model and requests, in the memory that they want."""
    llama_rows(plan, model, report, progress)
    if why := no_transformers(plan, report):
        report["not_tried"].append(f"transformers: {why}")
        return
    from minillm.bench_serve_engines import Transformers
    from minillm.save import save

    with TemporaryDirectory(prefix="minillm-bench-") as scratch:
        progress("transformers: loading", 0, 3)
        save(model, None, Path(scratch) / "blank")
        theirs = Transformers(Path(scratch) / "blank")
        jobs = workload(VOCABULARY, plan.peer_requests)
        ways = ((PADDED, theirs.padded_batches, SEATS), (MANAGER, theirs.own_continuous, len(jobs)))
        theirs.padded_batches([Job(jobs[0].prompt, 2)], 1)  # the first call is slow
        for number, (name, serve, seats) in enumerate(ways, 1):
            progress(name, number, 3)
            served = serve(jobs, seats)
            written = sum(map(len, served.tokens))
            row = {"name": name, "requests": len(jobs), "at_once": seats, "written": written}
            row |= {"seconds": served.seconds, "tokens_per_s": written / served.seconds}
            report["peers"].append(row)


def no_transformers(plan, report: dict) -> str | None:
    """Why transformers is not run; None: it is."""
    if not plan.peers:
        return "not asked for (--no-peers)"
    if version_of("transformers") is None:
        return "not installed"
    return None if report["device"] == "cpu" else "compared on a CPU only, in float32"
