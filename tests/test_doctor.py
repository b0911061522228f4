"""The doctor: every field there, plain JSON, honest bandwidths, and no exception on any machine."""

import builtins
import io
import json
import os
import subprocess
import sys
from types import SimpleNamespace

import pytest
import torch
from rich.console import Console

from minillm import doctor, machine

SHORT = 0.05  # seconds a measurement may take here; the doctor itself takes more


@pytest.fixture(scope="module")
def facts():
    return doctor.report()


def text_of(facts):
    console = Console(width=200, record=True, file=io.StringIO())
    console.print(doctor.render(facts))
    return console.export_text()


def test_report_is_plain_json(facts):
    assert json.loads(json.dumps(facts, allow_nan=False)) == facts


def test_report_has_every_field(facts):
    assert set(facts) == {
        *("python", "system", "minillm", "torch", "triton", "cpu", "memory", "gpus", "device"),
        *("bandwidth", "capabilities"),
    }
    assert facts["torch"]["version"] == torch.__version__
    assert facts["torch"]["threads"] == torch.get_num_threads()
    assert set(facts["cpu"]["features"]) == set(machine.FEATURES)
    assert facts["device"] == ("cuda" if torch.cuda.is_available() else "cpu")


def test_every_capability_has_a_reason(facts):
    what = [line["what"] for line in facts["capabilities"]]
    for word in ("Triton", "bf16", "int4", "2:4", "transformers", "gemma3-270m", "llama.cpp"):
        assert any(word in w for w in what), f"no line about {word}"
    for line in facts["capabilities"]:
        assert type(line["works"]) is bool and len(line["why"]) > 5, line


def test_render_shows_facts_and_reasons(facts):
    text = text_of(facts)
    assert torch.__version__ in text and facts["cpu"]["model"] in text
    for line in facts["capabilities"]:
        assert line["what"] in text and line["why"] in text
    assert "copy bandwidth" in text and "read + bytes written" in text


@pytest.mark.parametrize("width", [30, 50, 80])
def test_a_narrow_terminal_cuts_nothing(facts, width):
    console = Console(width=width, record=True, file=io.StringIO())
    console.print(doctor.render(facts))
    text = console.export_text()
    assert "…" not in text
    for line in facts["capabilities"]:
        assert all(word[:8] in text for word in line["why"].split())


def test_report_takes_under_five_seconds():
    """Seconds of work, not of waiting: the tests beside this one must not decide it."""
    code = (
        "import time; from minillm import doctor; doctor.report(); print(time.process_time(), "
        "'transformers' in __import__('sys').modules)"
    )
    one_thread = {**os.environ, "OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env=one_thread
    )
    assert done.returncode == 0, done.stderr
    seconds, transformers = done.stdout.split()
    assert float(seconds) < 5 and transformers == "False"


def test_features_are_what_the_kernel_says(tmp_path, monkeypatch):
    fake = {"/proc/cpuinfo": "model name\t: Paper CPU\nflags\t\t: fpu avx2 avx512_vnni amx_tile\n"}
    monkeypatch.setattr(machine, "_read", lambda path: fake.get(str(path), ""))
    assert machine.cpu_model() == "Paper CPU"
    assert machine.cpu_features() == {
        "avx2": True,
        "avx512f": False,
        "avx512_vnni": True,
        "avx512_bf16": False,
        "amx": True,
    }


def cache_folder(folder, *caches):
    for i, (kind, size) in enumerate(caches):
        (folder / f"index{i}").mkdir()
        (folder / f"index{i}" / "type").write_text(f"{kind}\n")
        (folder / f"index{i}" / "size").write_text(f"{size}\n")
    return folder


def test_last_level_cache_is_the_largest(tmp_path, monkeypatch):
    caches = [("Data", "32K"), ("Instruction", "64M"), ("Unified", "1024K"), ("Unified", "36M")]
    monkeypatch.setattr(machine, "CACHES", cache_folder(tmp_path, *caches))
    assert machine.last_level_cache() == 36 * 2**20


def test_unreadable_cache_is_unknown(tmp_path, monkeypatch):
    monkeypatch.setattr(machine, "_sysctl", lambda name: "")
    monkeypatch.setattr(machine, "CACHES", tmp_path / "absent")
    assert machine.last_level_cache() is None
    monkeypatch.setattr(machine, "CACHES", cache_folder(tmp_path, ("Unified", "a lot")))
    assert machine.last_level_cache() is None


def test_buffers_lie_outside_the_cache(monkeypatch):
    monkeypatch.setattr(machine, "last_level_cache", lambda: 48 * 2**20)
    monkeypatch.setattr(machine, "memory", lambda: (2**34, 2**33))
    assert machine.buffer_size() == (4 * 48 * 2**20, True)
    monkeypatch.setattr(machine, "memory", lambda: (2**30, 2**29))
    size, outside = machine.buffer_size()
    assert size <= 2**29 // 8 and not outside, "too little memory must be said, not hidden"


@pytest.mark.parametrize("measure", [machine.copy_bandwidth, machine.read_bandwidth])
def test_bandwidth_is_plausible(measure):
    found = measure(budget_s=SHORT)
    assert 5e8 < found.bytes_per_second < 2e12, found
    cache = machine.last_level_cache() or machine.ASSUMED_CACHE
    assert found.outside_cache is (found.buffer_bytes >= 4 * cache)
    assert found.tries >= 3


def test_what_is_read_has_been_written(monkeypatch):
    """Pages that nobody wrote are all one page of zeros: reading them would be fast for nothing."""
    seen = []
    best = machine._best_seconds
    watch = lambda work, *more: seen.append(float(work.__self__.min())) or best(work, *more)
    monkeypatch.setattr(machine, "_best_seconds", watch)
    machine.read_bandwidth(budget_s=SHORT)
    assert seen == [1.0, 1.0]


def test_bandwidth_counts_the_bytes_it_names(monkeypatch):
    """With a clock that says one second for everything, the figure is the bytes themselves."""
    monkeypatch.setattr(machine, "_best_seconds", lambda work, device, budget_s: (1.0, 3))
    monkeypatch.setattr(machine, "buffer_size", lambda device: (2**22, True))
    assert machine.copy_bandwidth().bytes_per_second == 2 * 2**22
    assert machine.read_bandwidth().bytes_per_second == 2**22


def test_a_bare_machine_never_raises(tmp_path, monkeypatch):
    """No /proc, /sys, psutil, triton, sched_getaffinity, capability: unknown is a value."""
    real_import = builtins.__import__

    def no_import(name, *args, **kwargs):
        if name.split(".")[0] in ("psutil", "triton"):
            raise ImportError(f"no {name} here")
        return real_import(name, *args, **kwargs)

    for name in [m for m in sys.modules if m.split(".")[0] in ("triton", "psutil")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setattr(builtins, "__import__", no_import)
    monkeypatch.setattr(doctor.importlib, "import_module", lambda name: no_import(name))
    monkeypatch.setattr(machine, "_read", lambda path: "")
    monkeypatch.setattr(machine, "CACHES", tmp_path / "absent")
    monkeypatch.setattr(machine.sys, "platform", "plan9")
    monkeypatch.delattr(machine.os, "sched_getaffinity", raising=False)
    monkeypatch.delattr(torch.backends.cpu, "get_cpu_capability")
    facts = doctor.report()
    assert facts["cpu"]["features"]["avx2"] == "unknown"
    assert facts["memory"] == {"total_bytes": 0, "available_bytes": 0}
    assert facts["triton"]["importable"] is False and facts["triton"]["error"]
    assert "unknown" in text_of(json.loads(json.dumps(facts)))


@pytest.mark.parametrize(
    ("capability", "expected"),
    [((7, 5), (True, False, False)), ((8, 0), (True, True, True)), ((9, 0), (True, True, True))],
)
def test_gpus_are_judged_by_capability(monkeypatch, capability, expected):
    """A T4 says that it supports bf16; only its compute capability tells the truth."""
    gpu = SimpleNamespace(
        name="Paper GPU", major=capability[0], minor=capability[1], total_memory=16 * 2**30
    )
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 1)
    monkeypatch.setattr(torch.cuda, "is_bf16_supported", lambda *a, **k: True)
    monkeypatch.setattr(torch.cuda, "get_device_properties", lambda i: gpu)
    monkeypatch.setattr(torch.cuda, "mem_get_info", lambda i: (15 * 2**30, 16 * 2**30))
    lines = doctor._gpu_lines(doctor.gpu_facts(), {"importable": True})
    assert tuple(works for _, works, _ in lines) == expected
    assert f"sm_{capability[0]}{capability[1]}" in lines[1][2]


def test_a_broken_driver_is_a_finding(monkeypatch):
    def broken():
        raise RuntimeError("driver too old")

    monkeypatch.setattr(torch.cuda, "is_available", broken)
    assert "driver too old" in doctor.gpu_facts()[0]["name"]
    lines = doctor._gpu_lines(doctor.gpu_facts(), {"importable": True})
    assert not any(works for _, works, _ in lines)


def test_measuring_out_of_memory_is_a_finding(facts, monkeypatch):
    def full(device):
        raise RuntimeError("not enough memory")

    monkeypatch.setattr(machine, "copy_bandwidth", full)
    found = doctor.bandwidths([])
    assert found == {"cpu": {"error": "not enough memory"}}
    assert "not measured: not enough memory" in text_of({**facts, "bandwidth": found})
