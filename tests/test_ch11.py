"""Chapter 11: references agree with the package, and the recorded curve with the shipped model."""

import itertools
import random

import pytest
import torch

from exercises.grading import spec
from exercises.grading.judge import Wrong, normal
from minillm import corpus
from minillm.cache.simple import NoCache
from minillm.compress import awq, formats
from minillm.compress.calibrate import Inputs
from minillm.compress.compare import distance, flips
from minillm.compress.evaluate import _is_right, perplexity, tasks
from minillm.compress.gptq import gptq, inverse_factor
from minillm.load import load
from tools import record_fragility as record


def inputs_of(x_TK) -> Inputs:
    """What calibration would have summed up."""
    found = Inputs.empty(x_TK.shape[1])
    found.add(x_TK)
    return found


@pytest.fixture(scope="module")
def tiny():
    return load("tiny", dtype="fp32")


def test_the_mended_weight_is_what_gptq_rounds_next():
    """11.1: the package's second column, before it is rounded, is our mended weight."""
    mend = spec.reference("11.1")
    for case in spec.cases("11.1", 3):
        gram_22 = case["x_T2"].T @ case["x_T2"]
        upper_22 = inverse_factor(gram_22, damp=0.0)
        seen = []

        def round_column(column_N, k, step=case["step"], seen=seen):
            seen.append(column_N.clone())
            return (column_N / step).round() * step

        spec.reference("11.2")(case["w_2"][None], upper_22, round_column)
        mended_2, before, after = mend(**case)
        torch.testing.assert_close(seen[1][0], mended_2[1])
        assert 0 < after < before
        off_T = case["x_T2"] @ (case["w_2"] - mended_2)
        assert abs(float(off_T @ off_T) - after) < 1e-9 * before


@pytest.mark.parametrize("rows, columns, group", [(3, 12, None), (5, 33, 8)])
def test_the_column_loop_is_the_packages(rows, columns, group):
    """11.2 against gptq() with blocks of one column and static scales (act-order undone)."""
    rng = random.Random(f"{rows}/{columns}")
    weight_NK = normal(rng, rows, columns, dtype=torch.float64)
    x_TK = normal(rng, 80, columns, dtype=torch.float64) @ normal(rng, columns, columns).double()
    gram_KK = x_TK.T @ x_TK
    coded = gptq(weight_NK, gram_KK, 4, group, act_order=True, block=1)
    order = gram_KK.diagonal().argsort(descending=True, stable=True)
    scale_NK = formats.spread(coded.scale_NG, coded.group, columns)[:, order]
    round_column = lambda c, k: (c / scale_NK[:, k]).round().clamp(-8, 7) * scale_NK[:, k]
    upper_KK = inverse_factor(gram_KK[order][:, order])
    got_NK = spec.reference("11.2")(weight_NK[:, order], upper_KK, round_column)
    torch.testing.assert_close(got_NK, coded.dequantize()[:, order])
    nearest_NK = torch.stack([round_column(c, k) for k, c in enumerate(weight_NK[:, order].T)], 1)
    assert not torch.allclose(got_NK, nearest_NK)


@pytest.mark.parametrize("dead", [0, 3])
def test_the_scale_search_is_the_packages(dead):
    """11.3 with the package's 20 alphas and its rounding finds the same factors."""
    rng = random.Random(dead)
    x_TK = normal(rng, 60, 24, dtype=torch.float64) * torch.exp(1.5 * normal(rng, 24).double())
    x_TK[:, :dead] = 0
    weight_NK = normal(rng, 8, 24, dtype=torch.float64)
    coder = lambda w: formats.symmetric(w, 3, 8)
    want_K = awq.best_scale(weight_NK, inputs_of(x_TK), coder)
    alphas = [i / awq.RATIOS for i in range(awq.RATIOS)]
    alpha, coded_NK, norm_K = spec.reference("11.3")(
        weight_NK, x_TK, torch.ones(24, dtype=torch.float64), alphas,
        lambda w: coder(w).dequantize(),
    )  # fmt: skip
    assert alpha > 0
    torch.testing.assert_close(1 / norm_K, want_K)
    torch.testing.assert_close(coded_NK * norm_K, awq.scaled(weight_NK, want_K, coder))


@pytest.mark.parametrize("window, stride", [(32, 16), (32, 31), (17, 5), (500, 250)])
def test_perplexity_with_a_stride_is_the_packages(tiny, window, stride):
    model, tokenizer = tiny
    tokens = list(itertools.chain(*record.tales(model, tokenizer)))[:101]

    def surprises(part):
        with torch.inference_mode():
            logits = model(torch.tensor(part), memory=NoCache(model.config)).log_softmax(-1)
        return [-float(row[token]) for row, token in zip(logits, part[1:])]

    got = spec.reference("11.4")(tokens, window, stride, surprises)
    assert got == pytest.approx(perplexity(model, tokens, window, stride), rel=1e-4)


def test_flips_are_the_packages(tiny):
    """At 2 bits answers are lost; the other way round they are won."""
    model, tokenizer = tiny
    poor = record.rounded(model, tokenizer, "rtn", 2)
    for pair in ((model, poor), (poor, model)):
        found = flips(*pair, tokenizer, count=10)
        assert sum(f.flipped for f in found.values()) > 1
        for task, want in found.items():
            items = corpus.test_items(task, 10, 0)
            said = [["y" if _is_right(m, tokenizer, i) else "n" for i in items] for m in pair]
            got = spec.reference("11.7")(["y"] * 10, *said)
            assert got[:3] == pytest.approx((want.before, want.after, want.flipped))


def rows() -> dict:
    return {(r["method"], r["bits"]): r for r in spec.check_of("11.5").RECORD["rows"]}


def test_the_record_is_of_the_shipped_model():
    """After a retraining: python -m tools.record_fragility, then the fresh texts of 11.5, 11.6."""
    found = spec.check_of("11.5").RECORD
    assert found["weights_sha256"] == record.weights_sha(), record.COMMAND
    assert set(rows()) == set(record.ROWS)
    assert (found["count"], found["group"]) == (record.COUNT, record.GROUP)


@pytest.mark.parametrize("method, bits", [("rtn", 2), ("gptq", 2)])
def test_the_record_can_be_measured_again(tiny, method, bits):
    """Another machine sums in another order: a few items in 200 may turn over."""
    model, tokenizer = tiny
    new = record.rounded(model, tokenizer, method, bits)
    row = rows()[method, bits]
    got = tasks(new, tokenizer, record.COUNT)
    assert got == pytest.approx(row["tasks"], abs=0.03)
    some = record.tales(model, tokenizer)[:60]
    assert distance(model, new, some).top1 == pytest.approx(row["same_token"], abs=0.05)


def test_which_task_falls_first_has_room_for_noise():
    """11.5: the fall is no matter of a few items, nor is the order that is graded."""
    check = spec.check_of("11.5")
    case = check.make(random.Random(1))
    want = spec.reference("11.5")(**case)
    losses = {b: max(case["before"][t] - s[t] for t in s) for b, s in case["curve"].items()}
    assert all(loss < 0.06 or loss > 0.15 for loss in losses.values()), losses
    turned, apart = check.turned_pairs(case["curve"][want["bits"]], want)
    assert turned == 0 and apart >= 8
    orders = itertools.permutations(case["before"])
    passing = 0
    for order in orders:
        try:
            check.judge(case, {"bits": want["bits"]} | {t: i for i, t in enumerate(order, 1)})
            passing += 1
        except Wrong:
            pass
    assert 0 < passing <= 30  # of 120: a blind guess is seldom right


def test_every_question_about_three_products_has_one_answer():
    """11.6: floors hold by a margin, and every misconception has an option of its own."""
    check, wrong = spec.check_of("11.6"), spec.variants("11.6", "wrong")
    table = check.table()
    for low, middle, high in itertools.product(range(2), repeat=3):
        case = check.question(random.Random(f"{low}{middle}{high}"), low, middle, high)
        (right,) = spec.reference("11.6")(**case)
        wanted = {c: bits for c, bits, _ in (check.KINDS[low], check.KINDS[2 + middle])}
        wanted |= {check.KINDS[4 + high][0]: check.KINDS[4 + high][1]}
        assert case["choices"][right] == tuple(wanted[c] for c, _ in case["products"])
        for columns, floor in case["products"]:
            gap = min(abs(min(row[c] for c in columns) - floor) for row in table.values())
            assert gap > (0.009 if columns == ("same",) else 0.02), (columns, floor)
        given = [answer(**case) for answer in wrong.values()]
        assert right not in given and None not in given and len(set(given)) == len(given)
        for letter in case["choices"]:
            if letter != right:
                with pytest.raises(Wrong, match="product"):
                    check.judge(case, letter)
        check.judge(case, right)


@pytest.mark.parametrize("exercise", ["11.5", "11.6"])
def test_the_tracked_file_asks_about_the_record(exercise):
    assert spec.learner_file(exercise).name.startswith(f"ex{exercise[3:]}_")
    text = spec.fresh_text(exercise, "")
    assert "{{" not in text and text.endswith("answer = None\n")
    kept = spec.learner_file(exercise).read_text("utf-8")
    if kept.endswith("answer = None\n"):  # nobody has answered it here
        assert kept == text
