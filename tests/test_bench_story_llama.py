"""llama.cpp beside the story: the file it reads, and the order in which requests are served."""

import io

import pytest
import torch
from rich.console import Console

import minillm
from minillm.bench_story import StoryPlan
from minillm.bench_story_llama import FILES, STEP, first_token, llama_rows, serve
from minillm.bench_story_show import render
from minillm.blank import blank_model
from minillm.gguf_file import GGUFFile
from minillm.gguf_model import hf_config, hf_tensors
from minillm.gguf_write import write_gguf
from minillm.hf_config import from_hf
from minillm.weights import hf_tensors as our_tensors
from minillm.workload import Job
from tests.zoo import random_model

# Half a step of a block's largest number (Q4_0 has no code for minus the largest: a whole one),
# and the rounding of the block's scale to float16.
APART = {"F32": 0.0, "Q8_0": 1 / 254 + 2**-11, "Q4_0": 1 / 8 + 2**-11}


@pytest.fixture(scope="module")
def blank():
    return blank_model(256, size=3_000_000)


@pytest.mark.parametrize("kind", FILES)
def test_the_file_holds_the_same_model(blank, kind, tmp_path):
    write_gguf(blank, tmp_path / "blank.gguf", kind)
    file = GGUFFile(tmp_path / "blank.gguf")
    config = hf_config(file)
    got, want = from_hf(config), blank.config
    for name in ("width", "mlp_width", "num_layers", "num_heads", "num_kv_heads", "head_size",
                 "vocab_size", "tie_embeddings", "max_len"):  # fmt: skip
        assert getattr(got, name) == getattr(want, name), name
    assert [(r.kind, r.theta) for r in got.ropes] == [(r.kind, r.theta) for r in want.ropes]
    assert got.norm_eps == pytest.approx(want.norm_eps, rel=1e-7)  # the file has it in float32
    found = dict(hf_tensors(file, config))
    expected = our_tensors(blank)
    assert found.keys() == expected.keys()
    for name, weight in expected.items():
        if weight.dim() == 1:
            assert torch.equal(found[name], weight)
            continue
        largest = weight.view(-1, 32).abs().amax(-1, keepdim=True)
        apart = (found[name] - weight).view(-1, 32).abs()
        assert bool((apart <= largest * APART[kind]).all()), name


def test_other_models_are_refused_before_anything_is_written(blank, tmp_path):
    models = {
        "qwen3": random_model("qwen3"), "biases": random_model("llama all biases"),
        "packed": minillm.quantize(blank, "int8"), "stretched": random_model("llama yarn"),
        "gelu": random_model("llama gelu"),
    }  # fmt: skip
    for name, model in models.items():
        with pytest.raises(ValueError, match="no GGUF file is written"):
            write_gguf(model, tmp_path / name)
    assert not list(tmp_path.iterdir())


def test_requests_are_served_like_each_of_them_alone():
    """A step's rows are checked as llama.cpp needs them, and each text is kept by its sequence."""
    model = random_model("llama 5:1")
    jobs = [Job((3, 1, 4, 1, 5), 7), Job((9,), 1), Job(tuple(range(1, 30)), 4), Job((2, 6), 12)]
    texts, widest = {}, 0

    def step(rows):
        nonlocal widest
        widest, best = max(widest, len(rows)), []
        for token, position, sequence, wanted in rows:
            text = texts[sequence] = [] if position == 0 else texts[sequence]
            assert position == len(text)
            text.append(token)
            if wanted:
                best.append(int(model(torch.tensor(text))[-1].argmax()))
        return best

    answers = serve(jobs, step)
    assert widest == sum(len(job.prompt) for job in jobs)
    for job, answer in zip(jobs, answers):
        text = list(job.prompt)
        for _ in range(job.answer):
            text.append(int(model(torch.tensor(text))[-1].argmax()))
        assert answer == text[len(job.prompt) :]
    assert [first_token(model, job) for job in jobs] == [answer[0] for answer in answers]


def test_the_first_token_is_timed_apart_from_the_whole(monkeypatch):
    from types import SimpleNamespace

    from minillm import bench_story_llama

    ticks = iter(range(100))
    monkeypatch.setattr(bench_story_llama.time, "perf_counter", lambda: next(ticks))
    engine = SimpleNamespace(step=lambda rows: [7 for row in rows if row[3]])
    answers, first, whole = bench_story_llama._timed(engine, [Job((1, 2), 4)])
    assert (answers, first, whole) == ([[7] * 4], 1, 5)


def test_prompts_wait_for_room_in_a_step_and_one_too_long_is_refused():
    sizes = []
    step = lambda rows: sizes.append(len(rows)) or [7 for row in rows if row[3]]
    jobs = [Job((1,) * 300, 2), Job((1,) * 300, 2), Job((1,) * 212, 1)]
    assert serve(jobs, step) == [[7, 7], [7, 7], [7]]
    assert sizes == [300, 301, 213]
    with pytest.raises(ValueError, match=f"{STEP} at most"):
        serve([Job((1,) * (STEP + 1), 1)], step)


def test_why_it_is_not_there_is_said(blank, monkeypatch):
    from minillm import bench_story_llama

    monkeypatch.setattr(bench_story_llama, "version_of", lambda name: None)
    for plan, device, why in (
        (StoryPlan(), "cpu", "llama-cpp-python is not installed"),
        (StoryPlan(peers=False), "cpu", "--no-peers"),
    ):
        report = {"device": device, "not_tried": [], "peers": []}
        llama_rows(plan, blank, report, lambda *_: None)
        assert report["peers"] == [] and why in report["not_tried"][0]
    monkeypatch.setattr(bench_story_llama, "version_of", lambda name: "1.0")
    report = {"device": "cuda", "not_tried": [], "peers": []}
    llama_rows(StoryPlan(), blank, report, lambda *_: None)
    assert "on a CPU only" in report["not_tried"][0]


def test_a_llama_cpp_that_fails_costs_its_rows_only(blank, monkeypatch):
    from minillm import bench_story_llama

    def no_engine(*_):
        raise AttributeError("no llama_get_memory")

    monkeypatch.setattr(bench_story_llama, "version_of", lambda name: "0.3.0")
    monkeypatch.setattr(bench_story_llama, "LlamaCpp", no_engine)
    monkeypatch.setattr(bench_story_llama, "first_token", lambda *_: 0)
    report = {"device": "cpu", "machine": {"threads": 1}, "not_tried": [], "peers": []}
    llama_rows(StoryPlan(requests=2), blank, report, lambda *_: None)
    assert report["peers"] == [] and len(report["not_tried"]) == len(FILES)
    assert "Q8_0: no llama_get_memory" in report["not_tried"][1]


def test_a_row_of_its_own_and_a_line_about_what_it_is():
    peer = {
        "name": "llama.cpp, Q8_0", "requests": 32, "at_once": 32, "one_user": 123.4,
        "reading": 901.2, "written": 862, "seconds": 2.0, "tokens_per_s": 431.0,
        "same_first": 31, "file_bytes": 116_508_000,
    }  # fmt: skip
    row = {"name": "no cache", "requests": 2, "tokens_per_s": 10.0, "one_user": 12.0, "bound": 60.0}
    row |= {"reading": 600.0, "weight_bytes": 1, "cache_bytes": 1, "blocks": None, "at_once": 1}
    row |= {"ttft_p50": 1.0, "perplexity": 1.3, "accuracy": 1.0, "runs": [10.0]}
    report = {
        "machine": {"cpu": "x", "threads": 2}, "versions": {"torch": "2"}, "dtype": "float32",
        "plan": {"tales": 1, "items": 1, "prompt": 128}, "model": {"bytes": 4}, "budget": 9,
        "rows": [row], "peers": [peer], "sides": [], "not_tried": [], "interrupted": False,
        "fast": False,
    }  # fmt: skip
    console = Console(width=220, record=True, file=io.StringIO())
    console.print(render(report))
    text = console.export_text()
    (line,) = [line for line in text.splitlines() if line.strip().startswith("llama.cpp, Q8_0  ")]
    assert "431.0" in line and "43.10x" in line and "123.4" in line and "901" in line
    assert "116.5 MB" in text and "for 31 of 32 requests" in text
    assert "transformers" not in text
