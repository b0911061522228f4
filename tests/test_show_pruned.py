"""Pictures of pruning: what is drawn as kept is kept, and every number stands where it belongs."""

import pytest
import torch
from matplotlib.colors import to_hex

from minillm import show
from minillm.show.pruned import crossing

DENSE = {"method": "dense", "sparsity": 0, "perplexity": 1.25, "accuracy": 0.95}


def written(axis) -> list[str]:
    return [t.get_text() for t in axis.texts]


def test_a_kept_weight_is_blue_and_a_dropped_one_pale():
    mask = [[True, False, False], [True, True, False]]
    made = show.kept_maps({"a": mask, "b": torch.tensor(mask).logical_not().tolist()})
    left, right = made.figure.axes
    pixels = lambda axis: axis.images[0].to_rgba(axis.images[0].get_array())
    assert to_hex(pixels(left)[1][1]) == show.PALETTE["blue"].lower()
    assert to_hex(pixels(left)[1][2]) == show.PALETTE["pale"].lower()
    assert (pixels(left)[0][0] == pixels(right)[0][1]).all()
    assert "a: 50% stay, 0% to 100% of a column; b: 50% stay" in made.alt


def test_the_strip_stands_above_its_own_panel():
    mask = [[True, False]]
    made = show.kept_maps({"a": mask, "b": mask}, {"a": [1, 2], "b": [3, 4]})
    strips, maps = made.figure.axes[:2], made.figure.axes[2:]
    assert [[p.get_height() for p in s.patches] for s in strips] == [[1, 2], [3, 4]]
    assert [s.get_title() for s in strips] == ["a", "b"] and all(m.images for m in maps)


def test_where_a_line_meets_a_level():
    assert crossing([0, 0.5, 1], [3, 1.5, 0], 1) == pytest.approx(2 / 3)
    assert crossing([0, 1], [3, 1], 1) == pytest.approx(1)
    assert crossing([0, 1], [0.2, 0.1], 1) is None
    assert crossing([0, 1, 2], [1, 1, 0], 1) == pytest.approx(1), "a flat part has no end"


def test_the_ring_stands_where_a_form_begins_to_be_smaller():
    shares = [0, 0.5, 0.75, 1]
    forms = {"CSR": [3 * (1 - s) for s in shares], "2:4": [None, 0.5625, None, None]}
    made = show.format_bytes(shares, forms)
    (axis,) = made.figure.axes
    assert written(axis) == ["67%"]
    lines = {line.get_label(): line for line in axis.lines}
    assert list(lines["2:4"].get_xdata()) == [0.5] and list(lines["CSR"].get_ydata())[1] == 1.5
    assert "CSR: 0% zeros 3, 50% zeros 1.5" in made.alt and "as large as dense at 67%" in made.alt
    assert "2:4: 50% zeros 0.562" in made.alt


def test_two_of_every_four_are_stored_with_their_places():
    made = show.two_of_four([0.3, -1.2, 0.1, 0.9, 0, 0, 0, 0])
    texts = written(made.figure.axes[0])
    assert [t for t in texts if len(t) == 2] == ["01", "11", "10", "11"]
    assert "-1.2 and +0.9 at 1 and 3; +0.0 and +0.0 at 2 and 3" in made.alt
    blue = [p for p in made.figure.axes[0].patches
            if to_hex(p.get_facecolor()) == show.PALETTE["blue"].lower()]  # fmt: skip
    assert len(blue) == 8, "four kept ones above, the same below"
    with pytest.raises(ValueError, match="got 6"):
        show.two_of_four([0.0] * 6)


def test_a_group_lacks_the_bar_that_it_has_no_value_for():
    made = show.grouped({"50%": {"a": 4.0, "b": 2.0}, "2:4": {"b": 8.0}}, "error", bound=3)
    (axis,) = made.figure.axes
    assert sorted(p.get_height() for p in axis.patches) == [2, 4, 8]
    assert sorted(written(axis)) == ["2", "4", "8"]
    centre = {p.get_height(): p.get_x() + p.get_width() / 2 for p in axis.patches}
    assert centre[4] < centre[2] < 0.5 < centre[8] and centre[8] - centre[2] == pytest.approx(1)
    assert made.alt == "error. 50%: a 4, b 2; 2:4: b 8."


def test_survival_draws_a_line_a_method_and_the_dense_model_beside():
    rows = [DENSE] + [
        {"method": m, "sparsity": s, "perplexity": p, "accuracy": a}
        for m, s, p, a in (("Wanda", 0.5, 2.0, 0.5), ("Wanda", 0.3, 1.5, 0.75), ("x", 0.3, 3, 0.1))
    ]
    made = show.survival(rows)
    left, right = made.figure.axes
    lines = {line.get_label(): line for line in right.lines}
    assert list(lines["Wanda"].get_xdata()) == [30, 50]
    assert list(lines["Wanda"].get_ydata()) == [75, 50]
    dashed = [line for line in left.lines if list(line.get_ydata()) == [1.25, 1.25]]
    assert len(dashed) == 1 and [t.get_text() for t in left.get_xticklabels()] == ["30", "50"]
    assert "perplexity, Wanda: 30% zeros 1.5, 50% zeros 2; " in made.alt
    assert "accuracy, x: 30% zeros 10" in made.alt


def test_recorded_rows_become_lines_and_a_pattern_has_no_place_on_the_axis():
    kept = [("dense", 0.0, 1.3, 0.9), ("wanda", 0.5, 1.5, 0.8), ("wanda", "2:4", 2.0, 0.5)]
    rows = [dict(method=m, sparsity=s, tales=t, mean=a, tasks={}) for m, s, t, a in kept]
    assert show.by_sparsity(rows) == [
        {"method": "dense", "sparsity": 0.0, "perplexity": 1.3, "accuracy": 0.9},
        {"method": "wanda", "sparsity": 0.5, "perplexity": 1.5, "accuracy": 0.8},
    ]


def test_the_table_of_the_real_model_stands_beside_dense():
    far = {"kl": 0.25, "top1": 0.625, "logit_error": 0.1, "tokens": 4096}
    rows = [{"name": "dense", "perplexity": 20.0}, {"name": "Wanda, 50%", "perplexity": 50.0} | far]
    table = show.pruned_table({"real": {"model": "m", "tokens": 21000, "rows": rows}}, "here")
    assert [cells for cells, _ in table.rows] == [
        ("dense", "20.00", "1.00x", "", ""),
        ("Wanda, 50%", "50.00", "2.50x", "0.2500", "37.5%"),
    ]
    assert table.note == "m, 21,000 tokens; here"
    for report in (None, {"real": None}, {"real": {"model": "m", "tokens": 1, "rows": []}}):
        empty = show.pruned_table(report, "not recorded yet")
        assert empty.rows == () and empty.note == "not recorded yet"
