"""The fuzz of the engine: a short one always, ten thousand requests in `make test-full`."""

from __future__ import annotations

import random
import sys

import fuzz_engine
import pytest


def fuzz(requests: int, seed: int):
    print(f"seed {seed}")
    totals = fuzz_engine.run(requests, seed)
    assert totals.requests >= requests and set(totals.reasons) == {"stop", "length", "abort"}
    assert totals.preemptions > requests // 100 and totals.cached > requests
    return totals


def test_eight_hundred_random_requests_write_what_they_write_alone():
    fuzz(800, 5)


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_ten_thousand_random_requests_write_what_they_write_alone():
    """Another seed every time, printed if it fails."""
    fuzz(10_000, random.SystemRandom().randrange(10**6))


def test_the_command_prints_its_seed_and_what_it_saw(monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["fuzz_engine", "--requests", "30", "--seed", "3"])
    monkeypatch.setattr(fuzz_engine.torch, "set_num_threads", lambda count: None)
    assert fuzz_engine.main() == 0
    out = capsys.readouterr().out
    assert out.startswith("seed 3\n") and "no wrong token, no leaked block" in out
