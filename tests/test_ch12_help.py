"""Chapter 12: what the grader says of the mistakes that learners really make."""

import random

import pytest
import torch

from exercises.grading import runner, spec
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


def two_of_four(**methods):
    """Our class of 12.4 with other methods."""
    return type("TwoOfFour", (spec.reference("12.4"),), methods)


def unwritten(*_):
    raise NotImplementedError


def test_a_width_that_is_refused_in_another_way_is_told_what_is_asked_for():
    case = {"weight_NK": torch.ones(2, 6)}
    answer = two_of_four(pack=lambda self, weight_NK: weight_NK.view(2, -1, 4))
    with pytest.raises(Wrong, match="pack: K = 6 is no multiple of 4.* Yours raised RuntimeError"):
        spec.check_of("12.4").judge(case, spec.drive("12.4", answer, case))
    answer = two_of_four(pack=lambda self, weight_NK: weight_NK)
    with pytest.raises(Wrong, match="Yours raised nothing"):
        spec.check_of("12.4").judge(case, spec.drive("12.4", answer, case))


def test_keep_is_judged_while_pack_is_still_to_be_written():
    check, cases = spec.check_of("12.4"), spec.cases("12.4", "unwritten", None)
    begun = two_of_four(pack=unwritten, unpack=unwritten)
    for case in cases:
        if case["weight_NK"].shape[1] % 4 == 0:
            with pytest.raises(Wrong, match="keep: right .* yet: pack and unpack") as caught:
                check.judge(case, check.drive(begun, case))
            assert caught.value.id.endswith(".unwritten")
        else:
            assert check.judge(case, check.drive(begun, case)) is None
    wrong = two_of_four(keep=lambda self, w: torch.ones_like(w, dtype=bool), pack=unwritten)
    with pytest.raises(Wrong, match="exactly two"):
        check.judge(cases[0], check.drive(wrong, cases[0]))
    for case in cases:  # nothing written at all is no answer
        with pytest.raises(NotImplementedError):
            check.drive(two_of_four(keep=unwritten, pack=unwritten, unpack=unwritten), case)


def begun_text() -> str:
    """keep of 12.4 alone."""
    text = spec.file_of("12.4", "reference").read_text(encoding="utf-8")
    keep = text[text.index("class TwoOfFour") : text.index("    def pack")].strip()
    rest = spec.fresh_text("12.4").partition("    def pack")
    return f"import torch\nfrom torch import Tensor\n\n\n{keep}\n\n" + "".join(rest[1:])


def test_a_third_of_the_work_is_no_try_and_not_right(tmp_path):
    path = tmp_path / "answer.py"
    path.write_text(begun_text(), encoding="utf-8")
    report = runner.grade("12.4", path)
    assert report.status == "not started" and "keep: right in all cases" in report.message
    path.write_text(begun_text().replace("[..., :2]", "[..., 2:]"), encoding="utf-8")
    report = runner.grade("12.4", path)
    assert report.status == "wrong" and "keep has the right shape" in report.message


def test_explain_of_a_third_of_the_work_says_what_check_says(tmp_path, monkeypatch):
    from exercises.desk import shrink

    path = tmp_path / "answer.py"
    path.write_text(begun_text(), encoding="utf-8")
    run = runner.run_answer("12.4", path)
    with pytest.raises(shrink.NothingToExplain, match="the rest is still to be written"):
        shrink.first("12.4", run, "", None)
