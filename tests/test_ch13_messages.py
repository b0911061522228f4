"""Chapter 13: a wrong choice of channels or heads is told by their numbers, not by weights."""

import pytest

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
