"""Chapter 13: a wrong choice of channels or heads is told by their numbers, not by weights."""

import pytest
import torch

from exercises.grading import spec
from exercises.grading.judge import Wrong


def said(exercise_id: str, name: str) -> list[Wrong]:
    """What the check says of one wrong answer, case by case."""
    check, found = spec.check_of(exercise_id), []
    answer = spec.variants(exercise_id, "wrong")[name]
    for case in spec.cases(exercise_id, "messages", None):
        try:
            check.judge(case, check.drive(answer, case))
        except Wrong as wrong:
            found.append(wrong)
    return found


@pytest.mark.parametrize("name", ["smallest_kept", "mean_size_times_norm", "without_down"])
def test_other_channels_are_named(name):
    found = said("13.1", name)
    assert found and {wrong.id for wrong in found} == {"13.1.others"}
    assert all(len(w.got) == len(w.expected) and w.got != w.expected for w in found)
    assert all("must go" in str(w) for w in found)


def test_the_right_channels_in_another_order():
    found = said("13.1", "in_order_of_importance")
    assert found and {wrong.id for wrong in found} == {"13.1.order"}


@pytest.mark.parametrize("name", ["best_head_speaks", "worst_kept", "in_order_of_importance"])
def test_other_heads_are_named(name):
    found = said("13.2", name)
    assert found and {wrong.id for wrong in found} == {"13.2.heads"}
    assert all(sorted(w.expected) == w.expected != w.got for w in found)


def test_why_numbers_cannot_remain():
    """6 query heads of 2 KV heads: 3 each, where a group has 2."""
    text = " ".join(str(wrong) for wrong in said("13.2", "too_many_allowed"))
    assert "3 for each KV head, and each has 2" in text


def test_the_scale_of_the_old_model_stays():
    """13.6: head_size ** -0.5 is wrong where a model has a scale of its own."""
    check = spec.check_of("13.6")
    for case in spec.cases("13.6", "scale", None):
        config = check._config(case)
        assert config.attention_scale != config.head_size**-0.5
    assert said("13.6", "a_scale_made_anew")


def test_an_unstable_loss_is_told_why_it_is_no_number():
    """13.4: p * log(p / q) from softmax, as the formula stands in the text."""
    check = spec.check_of("13.4")

    def as_it_stands(student_TV, teacher_TV, right_T, wanted_T, temperature, mix):
        p, q = ((x[wanted_T] / temperature).softmax(-1) for x in (teacher_TV, student_TV))
        hard = torch.nn.functional.cross_entropy(student_TV[wanted_T], right_T[wanted_T])
        return mix * temperature**2 * (p * (p / q).log()).sum(-1).mean() + (1 - mix) * hard

    found = []
    for case in spec.cases("13.4", "unstable", None):
        try:
            check.judge(case, check.drive(as_it_stands, case))
        except Wrong as wrong:
            found.append(wrong)
    assert found and {wrong.id for wrong in found} == {"13.4.infinite"}
    assert all("log p without softmax" in str(wrong) for wrong in found)


def test_both_parts_of_a_prediction_are_told_at_once():
    check, case = spec.check_of("13.5"), spec.cases("13.5", "")[0]
    want = spec.reference("13.5")(**case)
    other = next(layer for layer in case["right"] if layer != want["layer"])
    slip = spec.variants("13.5", "wrong").values()
    slip = next(n for one in slip if (n := one(**case)["speedup"]) != want["speedup"])
    for speedup in (slip, 50.0):
        with pytest.raises(Wrong, match=f"speedup.*Without layer {other} the model still"):
            check.judge(case, {"layer": other, "speedup": speedup})
        with pytest.raises(Wrong) as caught:
            check.judge(case, want | {"speedup": speedup})
        assert "Without layer" not in str(caught.value)


def test_a_memory_that_counts_nothing_is_told_beside_the_logits():
    check, case = spec.check_of("13.6"), spec.cases("13.6", "held", None)[0]
    output = check.drive(spec.reference("13.6"), case)
    with pytest.raises(Wrong, match="counts 0 of .* tokens as held"):
        check.judge(case, output | {"logits": output["logits"] + 1, "held": 0})
    with pytest.raises(Wrong) as caught:
        check.judge(case, output | {"logits": output["logits"] + 1})
    assert "as held" not in str(caught.value)
