"""Chapter 12: what the grader says of the mistakes that learners really make."""

import random

import pytest
import torch

from exercises.grading import spec
from exercises.grading.judge import Wrong

CHECK = spec.check_of("12.3")


@pytest.mark.parametrize("case", CHECK.QUESTIONS, ids=str)
def test_a_number_tells_its_reason_beside_another_wrong_one(case):
    """12.3: 0.5 for time and for even, both at once; the right numbers are never a slip."""
    check, case = CHECK, dict(zip(CHECK.NAMES, case))
    want = spec.reference("12.3")(**case)
    with pytest.raises(Wrong, match=r"answer\['time'\]: 0.5 .* does not look"):
        check.judge(case, want | {"time": 0.5, "even": 0.5})
    with pytest.raises(Wrong, match=r"answer\['even'\]: 0.5 .* its column"):
        check.judge(case, want | {"even": 0.5})
    with pytest.raises(Wrong, match="csr.* 32"):
        check.judge(case, want | {"csr": 1.0})
    for key, slips in check.SLIPS.items():
        assert all(abs(at - want[key]) > 0.05 * want[key] for at, _ in slips)


def test_a_wrong_error_is_seen_before_the_matrix_that_it_spoils():
    """12.5: trace goes through the reference's variables in the order of their names here."""
    code = spec.reference("12.5").__code__
    assert code.co_varnames[code.co_argcount :][:3] == ("cost_N", "error_N", "new_NK")


def test_a_single_group_of_four_shows_a_tie():
    """12.4: the smallest input of `equal` has a tie on the border, which topk does not keep."""
    make, keep = spec.check_of("12.4").make, spec.reference("12.4")().keep
    spoilt = spec.variants("12.4", "wrong")["largest_by_topk"]().keep
    differ = 0
    for seed in range(8):
        weight_NK = make(random.Random(seed), 1, 4, equal=1)["weight_NK"]
        sizes = sorted(weight_NK.abs()[0].tolist())
        assert sizes[0] == 0 < sizes[1] == sizes[2] < sizes[3]
        differ += not torch.equal(spoilt(weight_NK), keep(weight_NK))
    assert differ
