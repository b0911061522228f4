"""Measuring the kernels on a GPU: first that each equals its twin, then its time beside its bound.

The bound of every kernel here is memory: bytes that must move / bandwidth measured just before. A
kernel that is wrong is not timed, and what was not measured is not in the report.
"""

from __future__ import annotations

import platform
import time
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass, replace
from datetime import datetime, timezone

from minillm.bench_gpu_cases import Timed, engine_check, timed_cases
from minillm.bench_gpu_device import Cuda
from minillm.bench_stats import ENOUGH, summary, turn
from minillm.doctor import version_of
from minillm.kernel_cases import Case, judge, small_cases


@dataclass(frozen=True)
class GpuPlan:
    """What the gpu suite measures."""

    pairs: int = ENOUGH
    seconds: float = 300.0  # nothing new is begun after them
    peers: bool = True  # also torch's own operator
    fast: bool = False  # a check that everything works; no ratio is claimed

    def quick(self) -> GpuPlan:
        """The same with two pairs."""
        return replace(self, pairs=min(self.pairs, 2), fast=True)


def gpu_suite(plan: GpuPlan, progress: Callable[[str, int, int], None] = lambda *_: None,
              device=None, checks: Iterable[Case] | None = None,
              cases: Iterable[Callable[[], Timed]] | None = None) -> dict:  # fmt: skip
    """Run the suite -> a report of plain values (seconds, bytes), raw samples included.

    progress: called with (what, done, total). Ctrl-C or the end of plan.seconds ends it early: the
    report holds what was measured until then. device, checks, cases: for tests.
    """
    device = device or Cuda()
    began = time.monotonic()
    report = {"suite": "gpu", "interrupted": False, "fast": plan.fast, "plan": asdict(plan)}
    report |= _circumstances(device) | {"checks": [], "kernels": [], "engine": None}
    report["not_tried"] = []
    if checks is None:
        checks = small_cases(device.name, device.dtypes())
    if cases is None:
        cases = timed_cases(device)
    work = [(_check, list(checks)), (_time, list(cases))]
    total = sum(len(items) for _, items in work) + 1
    done = 0
    try:
        report["bandwidth"] = device.bandwidth()
        for do, items in work:
            for item in items:
                progress("checking" if do is _check else "timing", done, total)
                done += 1
                if time.monotonic() - began > plan.seconds:
                    report["not_tried"].append(f"{item}: out of time")
                else:
                    do(device, item, plan, report)
        progress("the engine", done, total)
        report["engine"] = engine_check(device)
    except KeyboardInterrupt:
        report["interrupted"] = True
    report["seconds"] = time.monotonic() - began
    judged = report["checks"] + report["kernels"]
    report["failed"] = any(not entry["right"] for entry in judged)
    report["failed"] |= bool(report["engine"] and report["engine"]["fault"])
    return report


def _circumstances(device) -> dict:
    names = ("minillm-course", "torch", "triton")
    return {
        "date": datetime.now(timezone.utc).isoformat(timespec="seconds"),
        "device": device.facts(),
        "system": platform.platform(),
        "versions": {"python": platform.python_version()} | {n: version_of(n) for n in names},
        "bandwidth": None,
    }


def _verdict(device, case: Case) -> dict:
    """-> {"right", "error", "allowed", "fault"}; a kernel that does not run is a finding."""
    try:
        found = judge(case, device.kernel(case))
    except Exception as error:
        return {"right": False, "error": None, "allowed": None, "fault": repr(error)[:500]}
    error = found.error if found.error == found.error else None
    return {"right": found.right, "error": error, "allowed": found.allowed, "fault": None}


def _check(device, case: Case, plan: GpuPlan, report: dict) -> None:
    report["checks"].append({"case": str(case)} | _verdict(device, case))


def _time(device, make: Callable[[], Timed], plan: GpuPlan, report: dict) -> None:
    """Judge a large case, then time kernel and rival in turns."""
    try:
        timed = make()
    except Exception as error:  # too little memory, mostly
        report["not_tried"].append(f"{getattr(make, 'name', make)}: {error!r:.200}")
        return
    entry = {"case": str(timed.case), "kernel": timed.case.kernel, "bytes": timed.bytes_moved}
    entry |= _verdict(device, timed.case) | {"outside_cache": device.outside(timed.bytes_moved)}
    report["kernels"].append(entry)
    if not entry["right"]:
        return
    kernel, args = device.kernel(timed.case), timed.case.args
    runs = {"ours": device.timer(lambda: kernel(*args))}
    if plan.peers and timed.rival is not None:
        runs["torch"] = device.timer(timed.rival)
        entry["rival"] = timed.rival_name
    samples = []
    for pair in range(plan.pairs):
        order = turn(runs, pair)
        samples.append({name: runs[name]() for name in order})
    _summarise(entry, samples, report, plan)


def _summarise(entry: dict, samples: list[dict], report: dict, plan: GpuPlan) -> None:
    entry["samples"] = samples
    entry["times"] = {name: summary([s[name] for s in samples]) for name in samples[0]}
    entry["bound_s"] = entry["bytes"] / report["bandwidth"]["bytes_per_second"]
    entry["share_of_bound"] = entry["bound_s"] / entry["times"]["ours"]["median"]
    entry["ratio"] = None
    if "torch" in samples[0] and not plan.fast:
        entry["ratio"] = summary([s["torch"] / s["ours"] for s in samples])
