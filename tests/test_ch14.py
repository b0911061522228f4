"""Chapter 14: the capstone has its winners and tempting losers, and its bytes are the engine's."""

import itertools
from collections import Counter
from dataclasses import replace

import pytest
import torch

from exercises.ch14_choice import serving, workload
from exercises.grading import spec, verdict
from exercises.grading.judge import Wrong
from minillm import EngineConfig, quantize
from minillm.clock import num_parameters
from minillm.compress.sparse import sparse_bytes
from minillm.engine.llm import LLM
from tools import record_capstone as record
from tools.record_fragility import weights_sha

STUDENTS = [f"student-{i}" for i in range(8)]


def case_of(student: str, product: str | None = None) -> dict:
    """The question of 14.4, of any product."""
    return asked(workload.draw(student, product))


def asked(drawn: dict) -> dict:
    """The question of 14.4 about a workload."""
    check = spec.check_of("14.4")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(check.workload, "draw", lambda student: drawn)
        return check.cases("")[0]


def all_cases(product: str) -> list[dict]:
    """All that anybody can be asked: whoever the student is, it is one of these."""
    traces = workload.PRODUCTS[product]["traces"]
    assert len(set(traces)) == workload.COPIES
    return [asked(workload.trace(product, number)) for number in traces]


def answer_of(kind: str, name: str, case: dict) -> dict:
    found = {"answer": spec.reference("14.4")} if kind == "reference" else None
    return (found or spec.variants("14.4", kind))[name](**case)


def broken(case: dict, answer: dict) -> list[str]:
    """Names of the limits that a configuration breaks."""
    outcome = serving.serve(case, answer, text=False)
    return [name for name, _ in spec.check_of("14.4").limits(case, answer, outcome)]


def test_students_get_all_three_products():
    drawn = Counter(workload.draw(f"s{i}")["product"] for i in range(60))
    assert set(drawn) == set(workload.KINDS) and min(drawn.values()) >= 8
    assert workload.draw("student-0")["jobs"] != workload.draw("student-1")["jobs"]
    for student in STUDENTS:
        case = workload.draw(student)
        assert len(case["jobs"]) == workload.COUNT
        assert set(Counter(job[1] for job in case["jobs"])) == set(case["floors"])
        assert case == workload.draw(student)


@pytest.mark.parametrize("product", workload.KINDS)
def test_ours_and_other_right_answers_hold_for_every_student(product):
    """Ours is the last hint with its blank filled."""
    hint = spec.get("14.4").hints[2]
    for number, case in enumerate(all_cases(product)):
        ours = answer_of("reference", "answer", case)
        for key in ("max_num_seqs", "max_batch_tokens", "block_size", "prefix_caching", "kv_dtype"):
            assert f'"{key}": {ours[key]!r}'.replace("'", '"') in hint
        assert broken(case, ours) == [], number
        for name in spec.variants("14.4", "right"):
            assert broken(case, answer_of("right", name, case)) == [], (number, name)


@pytest.mark.parametrize("product", workload.KINDS)
def test_what_one_starts_with_fails_for_every_student(product):
    """The template with the right bytes: too many seats and tokens a step; 16 seats are too few."""
    for number, case in enumerate(all_cases(product)):
        ours = answer_of("reference", "answer", case)
        for tokens in (256, 512):
            many = ours | {"max_num_seqs": 64, "max_batch_tokens": tokens}
            assert "TPOT" in broken(case, many), (number, tokens)
        assert broken(case, ours | {"max_num_seqs": 16}), number


@pytest.mark.parametrize("product", workload.KINDS)
def test_every_named_mistake_breaks_what_it_should(product):
    """Three bits and the smallest batch are the tempting ones."""
    breaks = {
        "one_step_too_small": "quality", "three_bits_and_zeros": "quality",
        "smallest_batch": "TTFT", "seats_as_they_come": "TPOT", "sixteen_bit": "bytes",
        "weights_forgotten": "bytes", "cache_in_16_bit": "TTFT", "prefix_computed_again": "TTFT",
    }  # fmt: skip
    assert set(breaks) == set(spec.variants("14.4", "wrong"))
    for student in STUDENTS[:3]:
        case = case_of(student, product)
        for name, limit in breaks.items():
            assert limit in broken(case, answer_of("wrong", name, case)), (student, name)


def grid(case: dict, weights: str, pruning) -> list[dict]:
    """What a patient learner tries with some weights: the rest of the budget is blocks."""
    room = case["budget"] - case["bytes"][workload.name_of(weights, pruning)]
    found = []
    for kv in serving.KV:
        blocks = room // (16 * case["kv_token"][kv])
        for seats, tokens in ((8, 256), (16, 128), (24, 128), (28, 256), (64, 512)):
            setting = {"weights": weights, "pruning": pruning, "kv_dtype": kv, "block_size": 16}
            setting |= {"num_blocks": blocks, "max_num_seqs": seats, "max_batch_tokens": tokens}
            found += [setting | {"prefix_caching": True}] if blocks > 15 else []
    return found


def holds(case: dict, one: dict) -> bool:
    """Whether no task is under its floor; asked first, since it takes no run."""
    shares = workload.quality(case["product"], one["weights"], one["pruning"], one["kv_dtype"])
    return all(shares[task] >= floor for task, floor in case["floors"].items())


def test_three_different_weights_win():
    """Of everything tried, only one kind of weights holds all limits, another one each time."""
    winners = {}
    for product in workload.KINDS:
        case = case_of("kim", product)
        tried = [
            (serving.serve(case, one, text=False).score, one["weights"], one["pruning"])
            for pruning in serving.PRUNING
            for weights in serving.BITS
            for one in grid(case, weights, pruning)
            if holds(case, one) and not broken(case, one)
        ]
        assert len({one[1:] for one in tried}) == 1, tried
        winners[product] = max(tried)[1]
    assert sorted(winners.values()) == ["int3", "int4", "int8"], winners


def test_three_bits_would_win_but_for_one_task():
    """The tutor: 3 bits hold every other limit, with a better score."""
    case = case_of("kim", "tutor")
    ours = answer_of("reference", "answer", case)
    three = answer_of("wrong", "one_step_too_small", case)
    assert three["weights"] == "int3" and broken(case, three) == ["quality"]
    score = lambda answer: serving.serve(case, answer, text=False).score
    assert score(three) > 1.05 * score(ours)


def test_messages_name_every_broken_limit_and_where_to_look():
    case = case_of("kim", "tutor")
    answer = answer_of("reference", "answer", case) | {"weights": "int3", "prefix_caching": False}
    with pytest.raises(Wrong) as caught:
        verdict.judge("14.4", case, answer)
    text = str(caught.value)
    assert "code: 8" in text and "under its floor of 89.5%" in text
    assert "times the limit of 450 ms" in text and "computed each time" in text
    assert "tokens/s, 460 are wanted" in text and "MB over" not in text
    with pytest.raises(Wrong, match="All 1 seats were taken"):
        verdict.judge("14.4", case, answer_of("wrong", "smallest_batch", case))
    with pytest.raises(Wrong, match="the blocks ran out"):
        verdict.judge("14.4", case, answer_of("wrong", "cache_in_16_bit", case))
    for bad, said in (
        ({"weights": "int5"}, "weights must be one of"), ({"num_blocks": 9.0}, "num_blocks must"),
        ({"prefix_caching": 1}, "prefix_caching must"), ({"more": 1}, "unknown key: 'more'"),
        ({"num_blocks": None}, "num_blocks is still None"),
        ({"num_blocks": 3}, "the engine refuses"), ({"num_blocks": 10**5}, "MB over the budget"),
        ({"max_batch_tokens": 8, "prefix_caching": True}, "read 8 tokens a step"),
    ):  # fmt: skip
        with pytest.raises(Wrong, match=said):
            verdict.judge("14.4", case, answer | bad)


def test_the_reason_for_a_missed_speed_or_tpot_fits_what_holds():
    """TTFT holds: nobody waits. Prompts computed again: not the seats are the reason for TPOT."""
    case, check = case_of("kim", "tutor"), spec.check_of("14.4")
    answer = answer_of("reference", "answer", case) | {"weights": "int3", "kv_dtype": "fp16"}
    served = serving.serve(case, answer, text=False)
    slow = replace(served, ttft=case["ttft"], seconds=2 * served.seconds)
    said = dict(check.limits(case, answer, slow))
    assert "TTFT" not in said and "Nobody waits too long" in said["speed"]
    assert "(with K and V in fp16)" in said["quality"]
    said = dict(check.limits(case, answer, replace(slow, ttft=2 * case["ttft"])))
    assert "What makes people wait" in said["speed"]
    answer = answer_of("wrong", "prefix_computed_again", case)
    late = replace(serving.serve(case, answer, text=False), tpot=2 * case["tpot"], preemptions=0)
    said = dict(check.limits(case, answer, late))
    assert "what they share is read each time" in said["TPOT"] and "TTFT" in said


@pytest.mark.parametrize("scheme", ["int8", "int4"])
def test_counted_bytes_are_those_of_packed_layers(scheme):
    model, _ = serving.tiny()
    held = quantize(model, scheme).weight_bytes()
    assert serving.bytes_of(scheme, None) == sum(sum(part.values()) for part in held.values())
    assert serving.bytes_of("fp16", None) == 2 * num_parameters(model.config)


def test_counted_bytes_of_2_of_4_are_the_packages():
    assert serving.matrix_bytes(6, 64, "fp16", "2:4") == sparse_bytes(6, 64, 0.5, "2:4", 2)
    assert serving.matrix_bytes(6, 64, "int3", None) == 6 * 64 * 3 / 8 + 6 * 2
    pruned = serving.model_of("int8", "2:4").layers[0].attention
    layer = next(m for m in pruned.modules() if isinstance(m, serving.Counted))
    assert ((layer.weight.view(layer.weight.shape[0], -1, 4) != 0).sum(-1) <= 2).all()


@pytest.mark.parametrize("scheme", ["int8", "int4"])
def test_the_served_values_are_those_of_packed_layers(scheme):
    """And so are the paper's seconds: the clock is charged the packed bytes."""
    model, tokenizer = serving.tiny()
    packed = quantize(model, scheme)
    mine = serving.model_of(scheme, None)
    tokens_T = torch.tensor(tokenizer.encode("sort: 5291="))
    with torch.inference_mode():
        torch.testing.assert_close(mine(tokens_T), packed(tokens_T), rtol=0, atol=0)
    costs = [LLM(m, None, EngineConfig(num_blocks=4)).runner._bytes_per_weight
             for m in (mine, packed)]  # fmt: skip
    assert costs[0] == costs[1]


def test_times_do_not_depend_on_the_words():
    """The quick pass of the grader is the run with the model, as far as time goes."""
    case = case_of("kim", "finder")
    case |= {"jobs": case["jobs"][:25]}
    answer = answer_of("reference", "answer", case)
    quick, real = serving.serve(case, answer, text=False), serving.serve(case, answer)
    assert quick.times == real.times and quick.seconds == real.seconds
    assert (quick.weights, quick.pool) == (real.weights, real.pool)
    assert quick.pool == answer["num_blocks"] * 16 * serving.kv_bytes("int8")
    assert quick.right is None and min(real.right.values()) > 0.8


def test_the_record_is_of_the_shipped_model():
    found = workload.record()
    assert found["weights_sha256"] == weights_sha(), record.COMMAND
    assert (found["count"], found["seed"]) == (record.COUNT, record.SEED)
    assert found["weights"] == {
        workload.name_of(w, p): serving.bytes_of(w, p)
        for p in serving.PRUNING for w in serving.BITS
    }  # fmt: skip
    assert found["kv_token"] == {kv: serving.kv_bytes(kv) for kv in serving.KV}
    assert len(found["rows"]) == 3 * 2 * 4 * 2


def test_the_record_can_be_measured_again():
    """A part of one row; 40 items, so a few may differ by chance and by the machine."""
    got = record.measure("tutor", "int3", None, "int8", count=40, stories=4)
    want = workload.quality("tutor", "int3", None, "int8")
    assert got == pytest.approx(want, abs=0.1)
    assert got["code"] < 0.97


def test_floors_lie_well_between_what_holds_and_what_does_not():
    """A few items in 300 may turn over on another machine: no verdict may hang on them."""
    for product, (pruning, weights, kv) in itertools.product(
        workload.KINDS, itertools.product(serving.PRUNING, serving.BITS, serving.KV)
    ):
        shares = workload.quality(product, weights, pruning, kv)
        floors = workload.PRODUCTS[product]["floors"]
        worst = min(shares[task] - floors[task] for task in floors)
        assert worst > 0.01 or worst < -0.02, (product, weights, pruning, shares)
