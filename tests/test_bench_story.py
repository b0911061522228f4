"""The story in fast mode: what each row holds and keeps, what its tables say; never its times."""

import io
import json
import re
from dataclasses import replace

import pytest
import torch

import minillm
from minillm import bench_story, bench_story_llama, bench_story_show, bench_story_sides
from minillm.bench_story import StoryPlan, faster, story_suite
from minillm.bench_story_rows import ALL, FLOAT, STEPS, int8_alone, pool, room, weight_bytes
from minillm.bench_story_runs import alone, read_bytes, timed, together
from minillm.blank import blank_model
from minillm.cli import run
from minillm.scoreboard_engines import STRIP, PagedAlone
from minillm.scoreboard_quality import read_through
from minillm.show.story import story_bars
from minillm.workload import COUNT, Job, workload

NAMES = [step.name for step in STEPS]


@pytest.fixture(scope="module")
def report():
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("MINILLM_FAST", "1")
        return story_suite(StoryPlan().quick())


@pytest.fixture(scope="module")
def blank():
    return blank_model(1024, size=20_000_000)


def text_of(report: dict, width: int = 160) -> str:
    from rich.console import Console

    console = Console(width=width, record=True, file=io.StringIO())
    console.print(bench_story_show.render(report))
    return console.export_text()


def test_every_step_has_a_row_and_the_report_is_plain(report):
    assert json.loads(json.dumps(report)) and not report["interrupted"]
    assert [row["name"] for row in report["rows"]] == NAMES
    assert NAMES[0] == "no cache" and NAMES[-1] == ALL and len(NAMES) == 12
    peers = [row["name"] for row in report["peers"]]
    assert peers[-2:] == [bench_story_sides.PADDED, bench_story_sides.MANAGER]
    assert [len(row["runs"]) for row in report["rows"]] == [1] * 11 + [2]  # fast: one row again
    missing = any(line.startswith("llama.cpp") for line in report["not_tried"])
    assert missing or peers[:-2] == [f"llama.cpp, {kind}" for kind in bench_story_llama.FILES]


def test_every_row_keeps_the_same_budget_and_fewer_weight_bytes_become_blocks(report):
    rows = {row["name"]: row for row in report["rows"]}
    for row in rows.values():
        assert row["weight_bytes"] + row["cache_bytes"] <= report["budget"], row["name"]
        wanted = sum(job.answer for job in workload(1024, row["requests"]))
        assert row["written"] == wanted
    dense = rows[FLOAT]
    assert rows["paged"]["blocks"] == dense["blocks"] < rows["int8 K/V"]["blocks"]
    for lighter in ("int8", "int4", "w8a8", "pruned", ALL):
        assert rows[lighter]["weight_bytes"] < dense["weight_bytes"]
        assert rows[lighter]["blocks"] > dense["blocks"]
    assert rows["int4"]["weight_bytes"] < rows["int8"]["weight_bytes"]
    assert rows[ALL]["weight_bytes"] < rows["w8a8"]["weight_bytes"]
    assert rows["static batch"]["block_size"] == STRIP and rows["static batch"]["blocks"] == 2
    assert rows["static batch"]["at_once"] == 2 < rows["paged"]["at_once"]


def test_quality_is_that_of_the_row_s_own_memory_and_weights(report):
    found = {row["name"]: row["perplexity"] for row in report["rows"]}
    assert found["paged"] == found["continuous"] == found[FLOAT]
    assert abs(found["no cache"] - found["paged"]) < 1e-4
    different = [found[n] for n in (FLOAT, "int8", "int4", "w8a8", "int8 K/V", "pruned", ALL)]
    assert len(set(different)) == len(different)


def test_int8_k_v_is_really_read_for_quality():
    model, tokenizer = minillm.load("tiny", dtype="fp32", device="cpu")
    tokens = tokenizer.encode("Once upon a time there was a small fox")
    with torch.inference_mode():
        exact, rounded = (
            read_through(model, memory(model, len(tokens)), tokens, 2)
            for memory in (PagedAlone, int8_alone)
        )
    error = float((exact - rounded).abs().max() / exact.abs().max())
    assert 0 < error < 0.1
    held = int8_alone(model, 20).cache
    assert held.kv.dtype == torch.int8 and held.kv.shape == PagedAlone(model, 20).cache.kv.shape


def test_engines_count_what_they_hold_by_hand(blank):
    """Two requests at once, then one; the second has the first one's 32 tokens in its prompt."""
    shared = tuple(range(1, 33))
    jobs = [Job((*shared, 40), 3), Job((*shared, 50, 51), 5)]
    config = pool(prefix_caching=True)(blank, weight_bytes(blank) + 2_000_000)
    assert config.num_blocks == 2_000_000 // (16 * blank.config.kv_bytes_per_token(4))
    many = timed(together(config, Job(shared, 1)), blank, jobs)
    assert many["written"] == 8 and many["at_once"] == 2 and many["steps"] == 5
    assert many["cached_tokens"] == 64 and many["prompt_tokens"] == 67  # the one before: not told
    one = timed(alone(PagedAlone), blank, jobs)
    assert one["written"] == 8 and one["at_once"] == 1 and one["blocks"] is None
    assert many["ttft_p50"] > 0 and many["tokens_per_s"] == 8 / many["seconds"]


def test_the_clock_starts_when_the_engine_is_ready(blank, monkeypatch):
    from minillm import bench_story_runs

    ticks = iter([0.0, 100.0, 101.0, 103.0, 103.0])  # begin, ready, two tokens, end
    monkeypatch.setattr(bench_story_runs.time, "perf_counter", lambda: next(ticks))
    jobs = [Job((1,), 1), Job((2,), 1)]
    found = timed(lambda *_: iter([None, 0, 1]), blank, jobs)
    assert found["seconds"] == 3.0 and found["ttft_p50"] == 2.0


def test_an_engine_that_writes_too_little_is_caught(blank):
    with pytest.raises(AssertionError, match="1 tokens written, 2 were asked for"):
        timed(lambda *_: iter([0]), blank, [Job((1,), 2)])


def test_bytes_read_a_step_leave_out_an_embedding_that_is_not_the_head(blank):
    from minillm.compress.quant import quantize

    assert read_bytes(blank) == weight_bytes(blank)
    packed = quantize(blank, "int8", head="int8")
    assert read_bytes(packed) == weight_bytes(packed) - packed.embedding.weight.nbytes


def test_no_room_for_one_block_is_said(blank):
    with pytest.raises(ValueError, match="no block of 352 tokens fits"):
        room(blank, weight_bytes(blank) + 1000, STRIP)


def test_of_two_runs_the_faster_counts_and_both_are_kept():
    slow = {"tokens_per_s": 5.0, "one_user": 9.0, "reading": 1.0, "steps": 1, "runs": [5.0]}
    fast = {"tokens_per_s": 8.0, "one_user": 7.0, "reading": 2.0, "steps": 2, "runs": [8.0]}
    best = {"tokens_per_s": 8.0, "one_user": 9.0, "reading": 2.0, "steps": 2}
    assert faster(slow, fast) == best | {"runs": [5.0, 8.0]}
    assert faster(fast, slow) == best | {"runs": [8.0, 5.0]}


def test_the_comparisons_change_one_thing_only(report):
    prefix, blocks = (side["runs"] for side in report["sides"])
    assert [run["cached_tokens"] > 0 for run in prefix] == [False, True]
    assert prefix[0]["prompt_tokens"] == prefix[1]["prompt_tokens"]
    assert prefix[0]["blocks"] == prefix[1]["blocks"]
    assert blocks[0]["blocks"] < blocks[1]["blocks"]
    assert blocks[0]["written"] == blocks[1]["written"]


def test_w_over_again_has_the_same_lengths_and_other_tokens():
    first, second = (bench_story_sides.other_tokens(turn) for turn in (0, 1))
    assert len(first) == COUNT and [j.answer for j in first] == [j.answer for j in second]
    for a, b in zip(first, second):
        assert len(a.prompt) == len(b.prompt) and a.prompt[:16] != b.prompt[:16]
    assert all(1 <= token < 1024 for job in second for token in job.prompt)


def test_tables_hold_every_row_and_fast_mode_claims_no_ratio(report):
    text = text_of(report)
    assert "no ratio is claimed" in text and not re.search(r"\d\.\d\dx", text)
    for step in STEPS:
        assert f"{step.name} (chapter {step.chapter}): " in text
    narrow = text_of(report, 80)
    for name in (*NAMES, bench_story_sides.PADDED, bench_story_sides.MANAGER):
        assert name in narrow  # no name is cut


def test_ratios_are_to_the_row_before_the_first_and_the_one_it_starts_from(report):
    made = json.loads(json.dumps(report)) | {"fast": False}
    for number, row in enumerate(made["rows"]):
        row["tokens_per_s"], row["runs"] = 2.0**number, [2.0**number]
    made["rows"][-1]["runs"] = [1024.0, 2048.0]
    lines = [" ".join(line.split()) for line in text_of(made).splitlines()]
    assert f"no cache {made['rows'][0]['requests']} of 32 1.0 " in " ".join(lines)
    assert any(line.startswith("int8 3 of 32 64.0 2.00x 64.00x 2.00x ") for line in lines)
    assert any(line.startswith("w8a8 3 of 32 256.0 2.00x 256.00x 8.00x ") for line in lines)
    assert any(line.startswith(f"{ALL} 3 of 32 2048.0 50% 2.00x ") for line in lines)


def test_ctrl_c_keeps_the_rows_measured_until_then(report, monkeypatch):
    rows = {row["name"]: row for row in report["rows"]}

    def measure(step, *_):
        if step.name == "static batch":
            raise KeyboardInterrupt
        return rows[step.name]

    monkeypatch.setattr(bench_story, "measure", measure)
    monkeypatch.setattr(bench_story, "quality", lambda *_: {"perplexity": 1.5, "accuracy": 1.0})
    stopped = story_suite(StoryPlan().quick())
    assert stopped["interrupted"]
    assert [row["name"] for row in stopped["rows"]] == ["no cache", "KV cache"]
    assert "interrupted" in text_of(stopped)


def test_what_can_be_left_out_is_when_time_is_over(report, monkeypatch):
    rows = {row["name"]: row for row in report["rows"]}
    monkeypatch.setattr(bench_story, "measure", lambda step, *_: rows[step.name])
    monkeypatch.setattr(bench_story, "quality", lambda *_: {"perplexity": 1.5, "accuracy": 1.0})
    found = story_suite(replace(StoryPlan().quick(), seconds=0.0))
    assert len(found["rows"]) == len(STEPS) and found["sides"] == found["peers"] == []
    assert len(found["not_tried"]) == 2 and "seconds were over" in found["not_tried"][0]


def test_peers_that_are_not_asked_for_are_said(blank):
    made = {"not_tried": [], "peers": [], "device": "cpu"}
    bench_story_sides.peers(StoryPlan(peers=False), blank, made, lambda *_: None)
    assert made["peers"] == [] and len(made["not_tried"]) == 2
    assert all("--no-peers" in line for line in made["not_tried"])


def test_the_picture_shows_every_row_under_the_budget(report):
    picture = story_bars(report["rows"], report["budget"], report["peers"])
    speed, held, quality = picture.figure.axes
    count = len(report["rows"])
    assert len(speed.patches) == count + len(report["peers"])
    widths = [bar.get_width() for bar in speed.patches]
    assert widths == [row["tokens_per_s"] for row in (*report["rows"], *report["peers"])]
    ends = [bar.get_x() + bar.get_width() for bar in held.patches[count:]]
    assert max(ends) <= report["budget"] / 1e6
    assert list(quality.lines[0].get_xdata()) == [row["perplexity"] for row in report["rows"]]
    assert ALL in picture.alt and len(picture.png()) < 60_000


def test_the_command_writes_report_and_picture(report, tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("MINILLM_FAST", "1")
    monkeypatch.setattr(bench_story, "story_suite", lambda *_: report)
    path, other = tmp_path / "story.json", tmp_path / "other.png"
    assert run(["bench", "--suite", "story", "--json", str(path)]) == 0
    assert json.loads(path.read_text())["suite"] == "story"
    assert (tmp_path / "story.png").read_bytes()[:4] == b"\x89PNG"
    assert run(["bench", "--suite", "story", "--picture", str(other)]) == 0
    assert other.read_bytes()[:4] == b"\x89PNG"
    assert run(["bench", "--suite", "decode", "--picture", str(other)]) == 2
    assert run(["bench", "--suite", "story", "--picture", str(tmp_path / "no" / "x.png")]) == 2
    assert "--picture" in capsys.readouterr().err
