"""What the judge says of two values: numbers of NumPy count, no message contradicts itself."""

from types import SimpleNamespace

import numpy
import pytest
import torch

from exercises.grading import messages, spec, verdict
from exercises.grading.judge import Wrong, compare, number, within


@pytest.mark.parametrize("kind", [numpy.int64, numpy.int32, numpy.float32, numpy.float64])
def test_a_number_of_numpy_is_a_number(kind):
    assert number(kind(3)) == 3.0 and type(number(kind(3))) is float
    assert number(numpy.array([3], dtype=kind)) == 3.0
    compare(kind(3), 3.0)
    if kind is numpy.int64:
        compare(kind(3), 3)
    for other in (kind(4), numpy.bool_(True)):
        with pytest.raises(Wrong):
            compare(other, 3)


def test_a_float_is_no_int_and_is_shown_as_what_it_is():
    for got in (9.0, numpy.float64(9.0)):
        with pytest.raises(Wrong, match=r"must be an int, yours is float\w*: .*9\.0"):
            compare(got, 9)


@pytest.mark.parametrize("want", [3, "a", [1], {"a": 1}, torch.zeros(2)])
def test_none_asks_for_the_return(want):
    with pytest.raises(Wrong, match="yours is None: is a `return` missing"):
        compare(None, want)


def test_two_numbers_that_differ_are_never_shown_alike():
    one, other = 1.9124703407287598, 1.9124655723571777
    said = str(Wrong("value", "differs", None, one, other))
    assert repr(one) in said and repr(other) in said
    assert "expected 1.5, got 2" in str(Wrong("value", "differs", None, 1.5, 2.0))


def test_what_is_not_expected_is_not_said():
    with pytest.raises(Wrong) as caught:
        verdict.judge("1.5", spec.cases("1.5", "")[0], "Fixed")
    assert "None" not in str(caught.value) and "got 'Fixed'" in str(caught.value)


@pytest.mark.parametrize(
    ("got", "said"),
    [
        (3.99, "is between 1.2 and 10 times too large; 25% off is allowed"),
        (0.26, "is between 1.3 and 10 times too small; 25% off is allowed"),
        (1.3e9, "is about 10^9 times too large: look at the units"),
        (8e-4, "is about 10^3 times too small: look at the units"),
        (11, "is about 10 times too large: look at the units"),
        (0, "is too small; 25% off is allowed"),
        (-5, "is too small; 25% off is allowed"),
    ],
)
def test_a_prediction_is_told_no_factor_to_divide_by(got, said):
    for scale in (1.0, 37.0, 1e290):
        with pytest.raises(Wrong) as caught:
            within(got * scale, scale, 0.25)
        assert str(caught.value) == f"the answer {said}"


def test_a_prediction_of_nothing():
    within(0, 0, 0.25)
    with pytest.raises(Wrong, match="too large; 25% off"):
        within(0.1, 0, 0.25)


def test_dust_counts_in_judging_and_not_in_naming():
    """Where 0 is meant two runs leave other noise: a mistake keeps its name, no answer gains."""
    dust, other = torch.tensor([1e-15, 3e-16]).double(), torch.tensor([4e-16, 0.0]).double()
    for got, want in ((dust, other), (1e-15, 4e-16), ({"a": [dust]}, {"a": [other]})):
        compare(got, want, 1e-6, floor=verdict.NOISE)
        with pytest.raises(Wrong):
            compare(got, want, 1e-6)
    with pytest.raises(Wrong):
        compare(dust + 1e-9, other, 1e-6, floor=verdict.NOISE)


def test_a_long_list_is_told_by_its_length_in_words():
    """[7] would read as a list that holds a 7."""
    case = {"prompt": [5] * 7, "steps": [3, 4], "jobs": [("A", 1)], "budget": 4, "q": torch.ones(2)}
    answers = SimpleNamespace(cases=[SimpleNamespace(case=case)])
    said = messages.of_case(answers, 0)
    told = "prompt: 7 entries, steps: [3, 4], jobs: 1 entry, budget 4, q [2]"
    assert said == f"case 1 of 1 ({told})"


def test_one_number_has_no_place_and_a_mask_has_no_numbers():
    with pytest.raises(Wrong) as caught:
        compare(torch.tensor(0.5), torch.tensor(0.25), 1e-6, "the loss")
    assert str(caught.value) == "the loss is another number\nexpected 0.25, got 0.5"
    with pytest.raises(Wrong) as caught:
        compare(torch.tensor(float("nan")), torch.tensor(0.25), 1e-6, "the loss")
    assert "first difference" not in str(caught.value)
    with pytest.raises(Wrong, match="1 of 2 entries differ\nfirst difference at .1.\n"):
        compare(torch.tensor([True, True]), torch.tensor([True, False]))


def test_what_a_named_mistake_does_is_told_whole():
    """The grader prints the first line of its text."""
    for exercise_id in spec.all_ids():
        for name, answer in spec.variants(exercise_id, "wrong").items():
            first, _, rest = (answer.__doc__ or name).strip().partition("\n")
            assert not rest.partition("\n")[0].strip(), (exercise_id, name, first)
