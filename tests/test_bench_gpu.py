"""The gpu suite without a GPU: its logic on a device that calls the twins; its figures never."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from itertools import islice

import pytest
import torch

from minillm import bench_gpu
from minillm.bench_gpu_cases import timed_cases
from minillm.bench_gpu_show import render
from minillm.kernel_cases import TWINS, small_cases


class Fake:
    """A device whose kernels are the twins, those in `broken` spoiled."""

    name, capability = "cpu", 75

    def __init__(self, broken=()):
        self.broken, self.order = broken, []

    def facts(self):
        return {"name": "a fake", "capability": 75}

    def dtypes(self):
        return (torch.float32, torch.float16)

    def bandwidth(self):
        return {"bytes_per_second": 1e9}

    def outside(self, count):
        return count > 1e6

    def kernel(self, case):
        twin = TWINS[case.kernel]
        if case.kernel in self.broken:
            return lambda *args: twin(*args) * 1.1
        return twin

    def timer(self, work):
        number = len(self.order)
        self.order.append([])

        def sample():
            self.order[number].append(sum(map(len, self.order)))
            start = time.perf_counter()
            work()
            return time.perf_counter() - start

        return sample


def suite(device, plan=None, **options):
    checks = list(islice(small_cases(), 30))
    options = {"checks": checks, "cases": timed_cases(device, True)} | options
    plan = plan or bench_gpu.GpuPlan(pairs=6)
    return bench_gpu.gpu_suite(plan, device=device, **options)


def text(report) -> str:
    from rich.console import Console

    console = Console(width=240, record=True, file=open(os.devnull, "w"))
    console.print(render(report))
    return console.export_text()


@pytest.fixture(scope="module")
def report():
    return suite(Fake())


@pytest.fixture(scope="module", autouse=True)
def no_engine():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(bench_gpu, "engine_check", lambda device: None)
        yield


def test_every_kernel_is_checked_then_timed_beside_its_bound(report):
    assert not report["failed"] and not report["not_tried"] and len(report["checks"]) == 30
    assert {e["kernel"] for e in report["kernels"]} == set(TWINS)
    for entry in report["kernels"]:
        assert entry["right"] and entry["bound_s"] == entry["bytes"] / 1e9
        assert entry["times"]["ours"]["count"] == 6 and len(entry["samples"]) == 6
        assert ("torch" in entry["times"]) == ("rival" in entry) == (entry["ratio"] is not None)
    json.dumps(report, allow_nan=False)
    assert {"python", "torch", "triton"} <= set(report["versions"]) and report["date"]


def test_bytes_are_those_of_the_tensors(report):
    """By hand: 16,384 tokens become 8 here; fp16, 8 heads of 128; K and V read and written."""
    stores = [e for e in report["kernels"] if e["kernel"] == "kv_store"]
    assert stores[0]["bytes"] == 2 * 8 * 8 * 128 * (2 + 2)
    assert stores[1]["bytes"] == 2 * 8 * 8 * 128 * (2 + 1) + 2 * 8 * 8 * 4  # int8 and its scales
    paged = report["kernels"][0]
    assert paged["bytes"] == 2 * 2 * 40 * 8 * 128 * 2 + 2 * 2 * 32 * 128 * 2


def test_pairs_are_interleaved_in_turned_order():
    device = Fake()
    suite(device, checks=[], cases=timed_cases(device, True)[:1])
    ours, theirs = device.order
    first = [a < b for a, b in zip(ours, theirs)]
    assert first == [True, False] * 3


def test_a_wrong_kernel_is_named_and_never_timed():
    report = suite(Fake(broken=("rms_norm",)))
    wrong = [e for e in report["checks"] + report["kernels"] if not e["right"]]
    assert report["failed"] and wrong and all("rms_norm" in e["case"] for e in wrong)
    assert all("times" not in e for e in report["kernels"] if not e["right"])
    said = text(report)
    assert "WRONG, so not timed: rms_norm" in said
    assert all(e["right"] for e in report["kernels"] if e["kernel"] == "rope")


def test_a_kernel_that_raises_is_a_finding():
    class Raises(Fake):
        def kernel(self, case):
            def fails(*args):
                raise RuntimeError("out of resource: shared memory")

            return fails

    report = suite(Raises(), checks=[])
    assert report["failed"] and "out of resource" in text(report)


def test_nothing_is_printed_that_was_not_measured(report):
    said = text(report)
    assert "of the bound" in said and "not measured" in said  # int8 stores have no rival
    empty = suite(Fake(), plan=bench_gpu.GpuPlan(seconds=-1.0))
    assert len(empty["not_tried"]) == 30 + 16 and not empty["kernels"]
    assert "bound" not in text(empty) and "x [" not in text(empty)
    quick = suite(Fake(), plan=bench_gpu.GpuPlan().quick())
    assert "not claimed" in text(quick) and "no ratio is claimed" in text(quick)
    assert all(e["ratio"] is None for e in quick["kernels"])


def test_too_little_memory_for_one_case_leaves_the_others():
    def fails():
        raise RuntimeError("CUDA out of memory")

    device = Fake()
    report = suite(device, checks=[], cases=[fails, timed_cases(device, True)[-1]])
    assert "out of memory" in report["not_tried"][0] and len(report["kernels"]) == 1


def test_ctrl_c_keeps_what_was_measured():
    def stop():
        raise KeyboardInterrupt

    device = Fake()
    report = suite(device, checks=[], cases=[timed_cases(device, True)[-1], stop])
    assert report["interrupted"] and len(report["kernels"]) == 1


def test_the_engine_check_compares_texts_and_reports_faults(monkeypatch):
    from test_graphs import eager

    from minillm.bench_gpu_cases import engine_check
    from minillm.engine import graphs, runner

    assert "needs a GPU" in engine_check(Fake(), new_tokens=2)["fault"]

    def fake(model, cache, config):
        if config.cuda_graphs:
            return graphs.DecodeGraphs(model, cache, config.max_num_seqs, 64, eager)

    monkeypatch.setattr(runner, "decode_graphs", fake)
    found = engine_check(Fake(), new_tokens=2)
    assert found["fault"] is None and found["texts"] == 16 and found["graphs_tokens_per_s"] > 0
    assert found["same_texts"] >= 15, "fp16: a tie may go either way"


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a GPU here")
def test_without_a_gpu_one_line_says_what_is_missing():
    command = [sys.executable, "-m", "minillm", "bench", "--suite", "gpu"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert done.returncode == 2 and not done.stdout
    assert done.stderr.count("\n") == 1 and "needs an NVIDIA GPU" in done.stderr
