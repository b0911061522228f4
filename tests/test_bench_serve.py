"""The serve suite: what it compares, what it counts, and its structure; never its times."""

from __future__ import annotations

import io
import json
from dataclasses import replace

import pytest

import minillm
from minillm import bench_serve, bench_serve_parts
from minillm.bench_engines import model_folder
from minillm.bench_serve import ServePlan, serve_suite, skewed_jobs
from minillm.bench_serve_engines import (
    BLOCK,
    CONTINUOUS,
    PEERS,
    STATIC,
    Engine,
    engines_for,
)
from minillm.bench_serve_show import render
from minillm.generate import generate
from minillm.sampling import SamplingParams
from minillm.workload import Job


@pytest.fixture(scope="module")
def model():
    return minillm.load("tiny", dtype="fp32", device="cpu")[0]


@pytest.fixture(scope="module")
def report():
    return serve_suite(ServePlan().quick())


def text_of(report) -> str:
    from rich.console import Console

    console = Console(width=160, record=True, file=io.StringIO())
    console.print(render(report))
    return console.export_text()


def test_every_way_of_serving_writes_what_each_job_writes_alone(model):
    jobs = [Job((5, 6, 7), 9), Job((9, 8, 7, 6, 5), 2), Job((300,), 5)]
    want = [
        tuple(generate(model, j.prompt, SamplingParams(max_tokens=j.answer, ignore_eos=True)))
        for j in jobs
    ]
    runs = engines_for(model, model_folder("tiny", None), PEERS)
    assert list(runs) == [CONTINUOUS, STATIC, *PEERS]
    for name, run in runs.items():
        served = run(jobs, 2)
        assert list(served.tokens) == want, name
        assert served.seconds > 0
    assert Engine(model, STATIC).run(jobs, 2).steps == 9 + 5
    assert Engine(model, CONTINUOUS).run(jobs, 2).steps == 9


def test_skewed_jobs_are_the_same_every_time_and_one_in_eight_is_long():
    jobs = skewed_jobs(100, 64)
    assert jobs == skewed_jobs(100, 64) and len(jobs) == 64
    for first in range(0, 64, 8):
        assert sum(job.answer > 16 for job in jobs[first : first + 8]) == 1
    assert all(4 <= j.answer <= 16 or 192 <= j.answer <= 256 for j in jobs)


def test_the_waste_of_reserve_max_and_of_pages_by_hand(model):
    """Each step the pool holds, for a running request, one block of 1,024 or pages of 16."""
    found = bench_serve_parts.waste(model, 3, lambda: None)
    jobs = bench_serve_parts.waste_trace(model.config.vocab_size, 3)
    assert found["mean_length"] == sum(len(j.prompt) + j.answer for j in jobs) / 3
    for name, size in (("reserve-max", 1024), ("paged", BLOCK)):
        tokens = slots = 0
        for job in jobs:  # after its n-th step a running request holds prompt + n - 1 tokens
            for held in range(len(job.prompt), len(job.prompt) + job.answer - 1):
                tokens, slots = tokens + held, slots + size * -(-held // size)
        assert abs(found[name]["waste"] - (1 - tokens / slots)) < 0.02, name


def test_the_report_has_every_part_and_claims_nothing_in_fast_mode(report):
    assert report["suite"] == "serve" and not report["interrupted"]
    (load,) = report["loads"]
    assert set(load["samples"][0]) == {CONTINUOUS, STATIC, *PEERS} and len(load["samples"]) == 2
    for same in load["same"].values():
        assert sum(same.values()) == 4 and not same["different"]
    assert load["ratio"] == {} and "ratio" not in report["parts"]["ttft"]
    assert set(report["parts"]) >= {"scheduler", "waiting", "block", "step", "ttft", "waste"}
    json.dumps(report)
    text = text_of(report)
    assert "no ratio is claimed" in text and "x [" not in text.replace("x [too few]", "")


def test_ctrl_c_keeps_what_was_measured(monkeypatch):
    def interrupted(*_args):
        raise KeyboardInterrupt

    monkeypatch.setattr(bench_serve, "_serve", interrupted)
    plan = ServePlan(pairs=2, peers=False, fast=True)
    report = serve_suite(plan)
    assert report["interrupted"] and report["parts"]["scheduler"]["count"] == 2
    assert "interrupted" in text_of(report)


def test_a_wrong_answer_is_counted_as_different(model):
    jobs = [Job((5, 6, 7), 4), Job((9, 8), 3)]
    served = Engine(model, CONTINUOUS).run(jobs, 2)
    wrong = ((999, *served.tokens[0][1:]), served.tokens[1])
    found = {CONTINUOUS: served, "x": replace(served, tokens=wrong)}
    assert bench_serve.same_tokens(model, jobs, found, "x") == {
        "equal": 1, "ties": 0, "different": 1
    }  # fmt: skip
