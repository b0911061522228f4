"""The statistics of a benchmark by hand and by property; the suite's structure, never its times."""

from __future__ import annotations

import json
import math
import random
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from minillm import bench
from minillm.bench_engines import OURS, PEER, Ours, Peer
from minillm.bench_memory import measure_in_child, peak_bytes
from minillm.bench_show import render
from minillm.bench_stats import median, median_interval, summary, turn
from minillm.config import ModelConfig

numbers = st.lists(st.floats(1e-6, 1e6), min_size=1, max_size=40)


def small_config(**fields) -> ModelConfig:
    base = ModelConfig(
        family="llama", vocab_size=96, width=32, mlp_width=48, num_layers=2, num_heads=4,
        num_kv_heads=2, head_size=8, max_len=128, tie_embeddings=True, eos_token_ids=(3,),
    )  # fmt: skip
    return replace(base, **fields)


def small_folder(folder, **fields):
    """A random model, saved in Hugging Face's layout, without a tokenizer."""
    import torch

    from minillm.model import Transformer
    from minillm.save import save

    torch.manual_seed(0)
    model = Transformer(small_config(**fields))
    with torch.no_grad():
        for parameter in model.parameters():
            if parameter.dim() == 2:
                parameter.normal_(std=0.3)
    save(model, None, folder)
    return folder


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return small_folder(tmp_path_factory.mktemp("bench") / "model")


@pytest.fixture(scope="module")
def report(folder):
    plan = bench.Plan((str(folder),), required=True, pairs=6, prompt_tokens=7, new_tokens=5)
    return bench.decode_suite(plan)


def test_median_by_hand():
    assert median([3.0, 1.0, 2.0]) == 2.0
    assert median([4.0, 1.0, 3.0, 2.0]) == 2.5
    with pytest.raises(ValueError, match="nothing"):
        median([])


def test_nobody_always_goes_first():
    assert [turn({"a": 1, "b": 2}, i) for i in range(3)] == [["a", "b"], ["b", "a"], ["a", "b"]]


def test_interval_of_fifteen_by_hand():
    """Binomial(15, 1/2): P(X <= 3) = (1+15+105+455)/32768 = 0.01758, P(X <= 4) = 0.0592.

    So the 4th smallest and 4th largest cover 1 - 2 * 0.01758 = 96.5%, the 5th only 88.2%.
    """
    values = [float(v) for v in range(1, 16)]
    random.Random(1).shuffle(values)
    assert median_interval(values) == (4.0, 12.0)
    assert median_interval(values, 0.88) == (5.0, 11.0)


def test_interval_needs_six_values():
    assert median_interval([1.0, 2.0, 3.0, 4.0, 5.0]) is None  # 1 - 2/32 = 93.75%
    assert median_interval([1.0, 2.0, 3.0, 4.0, 5.0, 6.0]) == (1.0, 6.0)  # 1 - 2/64 = 96.9%
    assert summary([2.0]) == {
        "median": 2.0, "low": None, "high": None, "least": 2.0, "most": 2.0, "count": 1
    }  # fmt: skip


@given(numbers, st.randoms())
def test_median_and_interval_are_of_the_values_whatever_their_order(values, rng):
    found = median_interval(values)
    shuffled = list(values)
    rng.shuffle(shuffled)
    assert (median(shuffled), median_interval(shuffled)) == (median(values), found)
    assert sum(v < median(values) for v in values) <= len(values) / 2
    assert sum(v > median(values) for v in values) <= len(values) / 2
    if found:
        low, high = found
        assert low in values and high in values and low <= median(values) <= high


@given(numbers, st.floats(1e-3, 1e3))
def test_scaled_values_have_a_scaled_interval(values, factor):
    found = median_interval(values)
    scaled = median_interval([factor * v for v in values])
    assert scaled == (found and tuple(factor * v for v in found))


@settings(max_examples=30)
@given(st.integers(6, 40))
def test_interval_covers_the_median_that_surely(count):
    """Coverage recomputed from scratch: sum of the binomial's terms between the two ranks."""
    low, high = median_interval(list(range(count)))
    rank = low + 1
    covered = sum(math.comb(count, i) for i in range(rank, count - rank + 1)) / 2**count
    narrower = sum(math.comb(count, i) for i in range(rank + 1, count - rank)) / 2**count
    assert high == count - 1 - low
    assert covered >= 0.95 > narrower


def test_interval_really_covers_in_simulation():
    """400 draws of 15 from a skewed distribution of known median: at least 93% are covered."""
    rng = random.Random(5)
    hits = 0
    for _ in range(400):
        low, high = median_interval([rng.expovariate(1.0) for _ in range(15)])
        hits += low <= math.log(2) <= high
    assert hits >= 0.93 * 400


def test_both_engines_write_the_same_number_of_tokens_and_the_same_ones(folder):
    prompt = [5, 6, 7, 8]
    ours, peer = Ours(folder).run(prompt, 9), Peer(folder).run(prompt, 9)
    assert len(ours.tokens) == len(peer.tokens) == 9
    assert ours.tokens == peer.tokens
    for run in (ours, peer):
        assert 0 < run.first_s < run.total_s
        assert run.per_token_s == (run.total_s - run.first_s) / 8


def test_neither_engine_stops_at_the_end_of_text(tmp_path):
    """Every token ends the text of this model: both must go on all the same."""
    folder = small_folder(tmp_path / "m", eos_token_ids=tuple(range(96)))
    assert len(Ours(folder).run([5, 6], 6).tokens) == 6
    assert len(Peer(folder).run([5, 6], 6).tokens) == 6


@pytest.mark.parametrize("tied", [True, False])
def test_bytes_per_token_by_hand(tmp_path, tied):
    ours = Ours(small_folder(tmp_path / "m", tie_embeddings=tied))
    layer = 2 * 32 * 32 + 2 * 32 * 16 + 3 * 32 * 48 + 2 * 32  # q o, k v, MLP, two norms
    head, row = 96 * 32, 0 if tied else 32
    assert ours.bytes_per_token() == 4 * (2 * layer + head + 32 + row)


def test_report_has_samples_ratios_and_circumstances(report):
    json.dumps(report, allow_nan=False)
    assert report["machine"]["threads"] >= 1 and report["versions"]["torch"]
    assert report["read_bandwidth"]["bytes_per_second"] > 0
    (entry,) = report["models"]
    assert len(entry["samples"]) == 6 and set(entry["engines"]) == {OURS, PEER}
    assert entry["new_tokens"] == 5 and entry["prompt_tokens"] == 7
    assert entry["tokens"] == {"equal": 5, "of": 5, "gap": None, "tie": False}
    for engine in (OURS, PEER):
        found, memory = entry["engines"][engine], entry["memory"][engine]
        times = sorted(s[engine]["per_token_s"] for s in entry["samples"])
        assert found["per_token_s"]["median"] == pytest.approx((times[2] + times[3]) / 2)
        assert found["tokens_per_s"] == pytest.approx(1 / found["per_token_s"]["median"])
        share = entry["bytes_per_token"] * found["tokens_per_s"]
        assert found["share_of_bandwidth"] == pytest.approx(
            share / report["read_bandwidth"]["bytes_per_second"]
        )
        assert memory["peak_bytes"] >= memory["imported_bytes"] > 0
    ratios = sorted(s[PEER]["per_token_s"] / s[OURS]["per_token_s"] for s in entry["samples"])
    assert entry["ratio"]["decode"]["median"] == pytest.approx((ratios[2] + ratios[3]) / 2)
    assert entry["ratio"]["decode"]["least"] == ratios[0]


def shown(report) -> str:
    from rich.console import Console

    console = Console(width=200, record=True, file=open("/dev/null", "w"))
    console.print(render(report))
    return console.export_text()


def test_table_shows_what_was_measured(report):
    text = shown(report)
    ratio = report["models"][0]["ratio"]["decode"]
    assert f"{ratio['median']:.2f}x [{ratio['low']:.2f}, {ratio['high']:.2f}]" in text
    assert "6 (few)" in text and "all 5" in text


def test_fast_mode_and_no_peers_claim_nothing(folder, monkeypatch):
    plan = bench.Plan((str(folder),), required=True, peers=False, memory=False).quick()
    assert plan.pairs == 2 and plan.fast
    report = bench.decode_suite(plan)
    (entry,) = report["models"]
    assert entry["ratio"] is None and set(entry["engines"]) == {OURS} and entry["memory"] == {}
    text = shown(report)
    assert "no ratio is claimed" in text and "x [" not in text and "not measured" in text


def test_fast_mode_is_also_the_courses_switch(monkeypatch):
    monkeypatch.delenv("MINILLM_FAST", raising=False)
    assert not bench.is_fast(False)
    monkeypatch.setenv("MINILLM_FAST", "1")
    assert bench.is_fast(False)


def test_interrupted_suite_keeps_the_pairs_it_has(folder):
    def progress(what, done, total):
        if "pairs" in what and done == 2:
            raise KeyboardInterrupt

    plan = bench.Plan((str(folder),), required=True, pairs=9, new_tokens=4, memory=False)
    report = bench.decode_suite(plan, progress)
    assert report["interrupted"] and len(report["models"][0]["samples"]) == 2
    assert "interrupted" in shown(report) and "[too few]" in shown(report)


def test_interrupted_before_the_first_pair_shows_no_figure(folder):
    def progress(what, done, total):
        raise KeyboardInterrupt

    report = bench.decode_suite(bench.Plan((str(folder),), memory=False), progress)
    assert report["interrupted"] and report["models"] == []
    assert "tokens/s" not in shown(report)


def test_missing_model_is_a_line_or_an_error(tmp_path):
    missing = str(tmp_path / "nowhere")
    report = bench.decode_suite(bench.Plan((missing,)))
    assert report["models"] == [] and missing in report["not_tried"][0]
    assert "not tried: " in shown(report)
    with pytest.raises((ValueError, OSError), match="nowhere"):
        bench.decode_suite(bench.Plan((missing,), required=True))


def test_different_tokens_are_told_from_ties(folder):
    model = Ours(folder).model
    prompt = [5, 6, 7]
    mine = Ours(folder).run(prompt, 4).tokens
    other = (*mine[:2], (mine[2] + 1) % 96, mine[3])
    found = bench.compare_tokens(model, prompt, mine, other)
    assert found["equal"] == 2 and found["of"] == 4 and found["gap"] > 1e-4 and not found["tie"]
    import torch

    with torch.no_grad():  # two equal rows of the head: an exact tie between two tokens
        model.embedding.weight[(mine[2] + 1) % 96] = model.embedding.weight[mine[2]]
    found = bench.compare_tokens(model, prompt, mine, other)
    assert found["gap"] == 0 and found["tie"]


def test_peak_of_a_child_is_its_own_not_its_parents(folder):
    """The parent holds 300 MB more than the child needs: it must not show in the child's peak."""
    import torch

    ballast = torch.ones(300 * 2**18)  # 300 MiB
    parent = peak_bytes()
    child = measure_in_child(OURS, folder, [5, 6], 4)
    assert ballast[0] == 1 and child["peak_bytes"] < parent - 150 * 2**20
    with pytest.raises(RuntimeError, match="nowhere"):
        measure_in_child(OURS, folder / "nowhere", [5, 6], 4)
