"""Chapter 14 but for the capstone: the planner, the five situations, and a queue of one's own."""

import random

import pytest

from exercises.ch14_choice import serving, situations, traces
from exercises.grading import spec, verdict
from exercises.grading.judge import Wrong
from minillm import EngineConfig, SamplingParams, load, quantize
from minillm.engine.llm import LLM

STUDENTS = [f"student-{i}" for i in range(12)]


def test_the_planner_agrees_with_the_engine():
    model, _ = load("tiny", dtype="fp16")
    c = model.config
    case = {"bits": 4, "group": 64, "layers": c.num_layers, "kv_heads": c.num_kv_heads,
            "head_size": c.head_size, "kv_bytes": 2}  # fmt: skip
    linear = sum(quantize(model, "int4").weight_bytes()["linear"].values())
    count = 6 * (256 * 384 + 256 * 256 + 3 * 256 * 512)
    plan = spec.reference("14.1")(count=count, context=40, block_size=16, memory=10**7, **case)
    assert plan["weights"] == linear and plan["token"] == serving.kv_bytes("fp16")
    llm = LLM(model, None, EngineConfig(num_blocks=7))
    assert llm.cache.nbytes == 7 * 16 * plan["token"]


@pytest.mark.parametrize("student", ["", *STUDENTS])
def test_one_change_wins_every_situation_clearly(student):
    case = spec.cases("14.3", student)[0]
    kinds = [one["kind"] for one in case["asked"]]
    assert len(set(kinds)) == 5 and "document" in kinds
    for one in case["asked"]:
        first, second, *_ = sorted(situations.gains(one).values(), reverse=True)
        if situations.winner(one) == situations.NONE:
            assert first < 1.02
        else:
            assert first > 1.15 * max(second, 1.0)
    right = spec.reference("14.3")(**case)
    verdict.judge("14.3", case, right)
    for name, answer in spec.variants("14.3", "wrong").items():
        with pytest.raises(Wrong, match="situation"):
            verdict.judge("14.3", case, answer(**case)), name


def test_every_change_of_14_3_wins_somewhere():
    rng = random.Random(3)
    won = {situations.winner(situations.situation(rng, kind)) for kind in situations.KINDS}
    assert won == {*situations.CHANGES, situations.NONE}


@pytest.mark.parametrize("exercise", ["14.2", "14.3", "14.4"])
def test_the_tracked_file_asks_the_first_question(exercise):
    text = spec.fresh_text(exercise, "")
    assert "{{" not in text and text.endswith("answer = None\n")
    assert all(len(line) <= 100 for line in text.split("\n"))
    for student in STUDENTS:
        assert all(len(line) <= 100 for line in spec.fresh_text(exercise, student).split("\n"))
    kept = spec.learner_file(exercise).read_text("utf-8")
    if kept.endswith("answer = None\n"):  # nobody has answered it here
        assert kept == text


@pytest.mark.parametrize("trace", spec.check_of("14.5").SEEDS)
def test_shortest_first_starves_somebody_and_waiting_mends_it(trace):
    check = spec.check_of("14.5")
    fair = traces.first_come(trace)
    for kind in ("right", "wrong"):
        for policy in spec.variants("14.5", kind).values():
            output = check.drive(policy, {"trace": trace})
            if kind == "right":
                check.judge({"trace": trace}, output)
            else:
                with pytest.raises(Wrong):
                    check.judge({"trace": trace}, output)
    shortest = spec.variants("14.5", "wrong")["shortest_answer"]
    p95, longest = traces.figures([m.ttft for m in traces.serve(trace, shortest)])
    assert p95 < 0.8 * fair[0] and longest > 1.35 * fair[1]


@pytest.mark.parametrize(
    "change, said",
    [(0, "what in your number changes"), (-1, "but too little"), (100, "Which sign"),
     (-50, "but too little"), (-4000, "nearly first come, first served")],
)  # fmt: skip
def test_what_waiting_does_in_a_rule_decides_what_is_said(change, said):
    """And a rule is right on all traces or not at all: 50 tokens a second are too few on two."""
    check = spec.check_of("14.5")
    rule = lambda request, now: request["answer"] + change * (now - request["arrival"])
    cases = [check.cases(seed) for seed in ("a", "b")]
    assert cases[0] == cases[1] and len(cases[0]) == len(check.SEEDS)
    with pytest.raises(Wrong, match=said):
        for case in cases[0]:
            check.judge(case, check.drive(rule, case))


def test_the_commonest_slips_of_14_2_are_named_and_14_3_reads_loose_letters():
    case = spec.cases("14.2", "")[0]
    right = spec.reference("14.2")(**case)
    for key, factor, said in (("cache_gb", 1 / case["requests"], "of one request"),
                              ("cache_gb", 0.5, "half of it"), ("step_ms", 1e-3, "in seconds"),
                              ("cache_gb", 0.2, "too small")):  # fmt: skip
        with pytest.raises(Wrong, match=said):
            verdict.judge("14.2", case, right | {key: right[key] * factor})
    case = spec.cases("14.3", "")[0]
    verdict.judge("14.3", case, ", ".join(spec.reference("14.3")(**case)).lower())


def test_the_orders_that_were_noted_give_the_same_times_and_no_others():
    """14.5 is judged by them: what ran beside the answer may have been changed by it."""
    trace, orders = 24, []
    policy = next(iter(spec.variants("14.5", "right").values()))
    times = traces.serve(trace, policy, orders)
    assert [m.ttft for m in traces.replay(trace, orders)] == [m.ttft for m in times]
    check, last = spec.check_of("14.5"), len(orders[-1])
    for wrong in (
        orders[:-1],
        [],
        None,
        [[*o, 99] for o in orders],
        [*orders[:-1], [0] * (last + 1)],
    ):
        with pytest.raises(Wrong, match="another way than its rules"):
            check.judge({"trace": trace}, {"orders": wrong})


def test_an_order_of_ones_own_changes_times_and_no_token():
    """The same hook in the engine: Scheduler.order."""
    model, _ = load("tiny", dtype="fp32")
    prompts, lengths = [[5 + i, 9, 2] for i in range(5)], [9, 2, 7, 1, 4]

    def run(order):
        llm = LLM(model, None, EngineConfig(max_num_seqs=1, num_blocks=16))
        llm.scheduler.order, ended, texts = order, [], {}
        for prompt, length in zip(prompts, lengths):
            llm.add(prompt, SamplingParams(max_tokens=length, ignore_eos=True))
        while llm.unfinished:
            for event in llm.step():
                if event.completion:
                    ended.append(event.request.id)
                    texts[event.request.id] = event.completion.tokens
            llm.check()
        return ended, texts

    plain, texts = run(None)
    assert plain == [0, 1, 2, 3, 4]
    shortest, same = run(lambda waiting: sorted(waiting, key=lambda r: r.max_tokens))
    assert shortest == [3, 1, 4, 2, 0] and same == texts


def test_an_order_that_loses_a_request_is_found():
    model, _ = load("tiny", dtype="fp32")
    llm = LLM(model, None, EngineConfig(num_blocks=16))
    llm.scheduler.order = lambda waiting: waiting[1:]
    llm.add([1, 2], SamplingParams(max_tokens=2))
    with pytest.raises(AssertionError, match="exactly the requests"):
        llm.step()


@pytest.mark.parametrize("value, said", [(None, "returned None"), ((1, 2), "returned tuple"),
                                         (float("nan"), "nan, which is no number")])  # fmt: skip
def test_a_rule_that_gives_no_number_is_told_so(value, said):
    with pytest.raises((TypeError, ValueError), match=said):
        spec.check_of("14.5").drive(lambda request, now: value, {"trace": 24})


def test_the_explanation_of_a_queue_names_requests_and_not_orders():
    check, case = spec.check_of("14.5"), {"trace": 24}
    policy = spec.variants("14.5", "wrong")["hardly_aging"]
    output = check.drive(policy, case)
    ttft = [m.ttft for m in traces.serve(24, policy)]
    first = check.told(case, output).splitlines()[1]
    assert f"request {ttft.index(max(ttft))}:" in first and f"{max(ttft):.2f} s" in first
    made = {}
    lines = check.calls(case, "policy")
    exec("\n".join(lines[:-2]), {"policy": policy}, made)  # what is printed comes after
    assert made["ttft"] == ttft
