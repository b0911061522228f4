"""Chapter 05: its exercises and pictures agree with the engine, step by step and on paper time."""

import random

import pytest
import torch

from exercises.grading import spec, verdict
from exercises.grading.judge import Wrong
from minillm import EngineConfig, SamplingParams, load
from minillm.clock import Device, VirtualClock, step_cost, step_seconds
from minillm.config import ModelConfig
from minillm.engine.llm import LLM
from minillm.engine.metrics import percentile
from minillm.engine.on_paper import PaperJob, serve_on_paper
from minillm.show import batches, latency
from minillm.show.batching import seat_rows

QWEN = ModelConfig(  # Qwen/Qwen3-0.6B, from its config.json
    family="qwen3", num_layers=28, width=1024, mlp_width=3072, num_heads=16, num_kv_heads=8,
    vocab_size=151936, head_size=128, max_len=40960, tie_embeddings=True, qk_norm=True,
)  # fmt: skip
LENGTHS = [3, 9, 1, 4, 4, 12, 2, 1, 6, 5, 1]


@pytest.fixture(scope="module")
def tiny():
    return load("tiny", dtype="fp32")[0]


def engine_steps(model, lengths, seats, policy="continuous"):
    """Which requests wrote a token in each step of the real engine."""
    llm = LLM(model, None, EngineConfig(max_num_seqs=seats, num_blocks=64, policy=policy))
    for i, length in enumerate(lengths):
        llm.add([i + 1] * (1 + i % 5), SamplingParams(max_tokens=length, ignore_eos=True))
    steps = []
    while llm.unfinished:
        steps.append([event.request.id for event in llm.step()])
        llm.check()
    assert llm.metrics.steps == len(steps)
    return steps


@pytest.mark.parametrize("seats", [1, 3, 4, 16])
def test_the_continuous_timeline_is_the_engines(tiny, seats):
    timeline = spec.reference("5.2")(LENGTHS, seats)
    rows = seat_rows(engine_steps(tiny, LENGTHS, seats), seats)
    assert rows == [list(row) for row in zip(*timeline)]


@pytest.mark.parametrize("seats", [1, 3, 4, 16])
def test_static_steps_and_idle_seats_are_the_engines(tiny, seats):
    steps, idle = spec.reference("5.1")(LENGTHS, seats)
    rows = seat_rows(engine_steps(tiny, LENGTHS, seats, "static"), seats)
    assert steps == len(rows[0])
    assert idle == sum(row.count(None) for row in rows)


@pytest.mark.parametrize("student", ["", "kim", "lee", "park"])
def test_the_gain_is_that_of_the_two_timelines(student):
    case = spec.cases("5.4", student)[0]
    found = spec.reference("5.4")(**case)
    for name, lengths in case["traces"].items():
        static, _ = spec.reference("5.1")(lengths, case["seats"])
        assert found[name] == static / len(spec.reference("5.2")(lengths, case["seats"]))
        guess = static / (sum(lengths) / case["seats"])
        assert guess / found[name] < 1.2, "the guess that the text proposes lies in the band"
    assert found["equal"] == 1 and sorted(case["traces"]["sorted"]) == sorted(
        case["traces"]["skewed"]
    )
    assert found["sorted"] < 1.35 < found["skewed"]


def test_a_wrong_gain_names_every_entry_and_a_ratio_upside_down():
    case = spec.cases("5.4", "kim")[0]
    want = spec.reference("5.4")(**case)
    with pytest.raises(Wrong) as caught:
        verdict.judge("5.4", case, want | {"equal": 3.0, "sorted": 2.0})
    assert "'equal'" in str(caught.value) and "'sorted'" in str(caught.value)
    assert "'skewed'" not in str(caught.value) and "Asked is" not in str(caught.value)
    with pytest.raises(Wrong, match="Asked is static / continuous"):
        verdict.judge("5.4", case, {name: round(1 / gain, 1) for name, gain in want.items()})
    with pytest.raises(Wrong, match="must be a number"):
        verdict.judge("5.4", case, want | {"sorted": "little"})
    verdict.judge("5.4", case, {name: 1.1 * gain for name, gain in want.items()})


def test_summary_is_what_the_engine_says_of_itself(tiny):
    clock = VirtualClock()
    llm = LLM(tiny, None, EngineConfig(max_num_seqs=3, num_blocks=64, clock=clock))
    rng, arrivals = random.Random(5), []
    for length in LENGTHS:
        arrivals.append((arrivals or [0.0])[-1] + rng.random() * 0.004)
        params = SamplingParams(max_tokens=length, ignore_eos=True)
        llm.add([1, 2, 3], params, arrival=arrivals[-1])
    events, metrics = [], []
    while llm.unfinished:
        for event in llm.step():
            events.append((llm.now(), event.request.id))
            metrics += [event.completion.metrics] if event.completion else []
    found = spec.reference("5.3")(arrivals, events)
    ttft = [m.ttft for m in metrics]
    tpot = [m.tpot for m in metrics if m.tpot is not None]
    for name, values in (("ttft", ttft), ("tpot", tpot)):
        for p in (50, 95):
            assert found[f"{name}_p{p}"] == pytest.approx(percentile(values, p / 100))
    assert found["throughput"] == pytest.approx(sum(LENGTHS) / (events[-1][0] - arrivals[0]))


def paper_jobs(count, prompt, answer, gap):
    return [PaperJob(gap * i, prompt + i % 7, answer + i % 3) for i in range(count)]


@pytest.mark.parametrize("policy", ["continuous", "static"])
@pytest.mark.parametrize("blocks", [200, 9])
def test_paper_times_are_those_of_the_real_engine(tiny, policy, blocks):
    """Without a model the times are the same to the last digit; 9 blocks: with preemptions."""
    device = Device(bandwidth=3e8, peak=6e10, memory=1e9, launch=1e-5)
    jobs = paper_jobs(12, 40, 18, 0.05)
    settings = dict(max_num_seqs=4, max_batch_tokens=32, num_blocks=blocks, policy=policy)
    config = EngineConfig(clock=VirtualClock(device), **settings)
    paper = serve_on_paper(tiny.config, jobs, config, weight_bytes=4, kv_bytes=4)
    config = EngineConfig(clock=VirtualClock(device), prefix_caching=False, **settings)
    llm, real = LLM(tiny, None, config), {}
    for job in jobs:
        params = SamplingParams(max_tokens=job.answer, ignore_eos=True)
        llm.add([7] * job.prompt, params, arrival=job.arrival)
    while llm.unfinished:
        for event in llm.step():
            if event.completion:
                real[event.request.id] = event.completion.metrics
    for number, times in enumerate(paper):
        one = real[number]
        assert times.token_times == one.token_times and times.finished == one.finished
        assert (times.arrival, times.started) == (one.arrival, one.started)
        assert times.preemptions == one.preemptions
    assert any(times.preemptions for times in paper) == (blocks == 9)


def test_the_paper_pool_is_what_the_device_holds():
    """Requests that do not fit together wait or step back; one that never fits is refused."""
    small = Device(bandwidth=3e11, peak=6e13, memory=1.3e9, launch=1e-5)
    jobs = paper_jobs(6, 300, 40, 0.0)
    one = EngineConfig(clock=VirtualClock(small))
    times = serve_on_paper(QWEN, jobs, one)
    assert [len(t.token_times) for t in times] == [job.answer for job in jobs]
    assert one.clock.now == max(t.finished for t in times)
    wide = serve_on_paper(QWEN, jobs, EngineConfig(clock=VirtualClock()))
    assert max(t.ttft for t in times) > 2 * max(t.ttft for t in wide), "they wait for the pool"
    with pytest.raises(ValueError, match="the pool has"):
        serve_on_paper(QWEN, [PaperJob(0.0, 3000, 9)], EngineConfig(clock=VirtualClock(small)))


@pytest.mark.parametrize("question", spec.check_of("5.5").QUESTIONS)
def test_seats_on_the_paper_gpu(question):
    """The two sums of 5.5 name exactly the number of seats that the clock finds."""
    check, found, bells = spec.check_of("5.5"), [], 2
    burst, answer, interval, limit = question
    for seats in (2, 8, 32, 128):
        jobs = [PaperJob(interval * b, check.PROMPT, answer) for b in range(bells)] * burst
        jobs.sort(key=lambda job: job.arrival)
        times = serve_on_paper(QWEN, jobs, EngineConfig(max_num_seqs=seats, clock=VirtualClock()))
        tpot = 1e3 * percentile([t.tpot for t in times], 0.95)
        last = [max(t.finished for t in times if t.arrival == interval * b) for b in range(bells)]
        late = [end - interval * b for b, end in enumerate(last)]
        assert (late[0] > interval) == (late[1] > late[0] + 1e-6), "the line grows"
        assert not 0.9 < tpot / limit < 1.1 and not 0.9 < late[0] / interval < 1.1, "no toss-up"
        if tpot <= limit and late[0] <= interval:
            found.append(str(seats))
    assert tuple(found) == spec.reference("5.5")(*question) and len(found) == 1


def test_the_step_of_5_5_is_the_clocks():
    """5.4 ms and 0.16 ms a request, as its text says: decode of 300 + answer/2 tokens."""
    step = lambda rows: 1e3 * step_seconds(step_cost(QWEN, rows, 400, 2, 2))
    assert step(1) == pytest.approx(5.4 + 0.16, rel=0.03)
    for rows in (8, 32, 128):
        assert step(rows) == pytest.approx(5.4 + 0.16 * rows, rel=0.06)


def test_rectangle_of_5_7_is_a_right_memory():
    """Without padding it is one text after another: the check's own memory is no second fault."""
    check = spec.check_of("5.7")
    case = check.make(random.Random(1), (5, 5))
    check.judge(case, check.drive(spec.reference("5.7"), case))
    wrong = check.drive(spec.variants("5.7", "wrong")["one_too_far"], case)
    with pytest.raises(Exception, match="other logits"):
        check.judge(case, wrong)


def test_seats_are_kept_and_never_shared():
    assert seat_rows([[0, 1], [1], [2, 1], [3, 2]], 2) == [[0, None, 2, 2], [1, 1, 1, 3]]
    assert seat_rows([[0], [1], [0]], 2) == [[0, 0, 0], [None, 1, None]], "0 sits between, too"
    with pytest.raises(ValueError, match="no seat of 1"):
        seat_rows([[0, 1]], 1)


def test_pictures_say_what_was_given():
    made = batches({"static": [[0, 1], [1]], "continuous": [[0, 1]]}, 2)
    assert "static: 2 steps, 25% of the cells idle" in made.alt and "continuous: 1" in made.alt
    made = latency([1, 4], {"p95": [8.0, 0.5]}, {"p95": [0.01, 0.02]}, "seats", (3, None))
    assert "TTFT, s p95: 8 at 1 to 0.5 at 4" in made.alt
    assert "TPOT, ms p95: 10 at 1 to 20 at 4" in made.alt
    dashed = [line for a in made.figure.axes for line in a.lines if line.get_linestyle() == "--"]
    assert len(dashed) == 1 and list(dashed[0].get_ydata()) == [3, 3]


def test_on_paper_needs_no_torch():
    import subprocess
    import sys

    code = "import sys, minillm.engine.on_paper; assert 'torch' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_fresh_hunts_of_5_6_are_right_alone():
    """The report of the users is true: the fault needs a neighbour."""
    check = spec.check_of("5.6")
    for path in sorted(spec.file_of("5.6", "fresh").parent.glob("ex6*.py")):
        answer = spec.load_module(path).next_tokens
        for temperatures in ((0.0,), (0.0, 0.0, 0.0)):
            case = check.make(random.Random(3), 7, temperatures)
            check.judge(case, answer(**case))
        mixed = check.make(random.Random(3), 7, (0.0, 1.0) * 8)
        assert not torch.equal(answer(**mixed), spec.reference("5.6")(**mixed))
