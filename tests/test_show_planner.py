"""The seats picture of a plan: what is drawn is what the plan counts."""

import pytest
from matplotlib.colors import to_hex

from minillm import show
from minillm.budget import Question, plan
from minillm.budget_devices import Gpu, find_gpu
from minillm.budget_formats import Format
from minillm.budget_models import find_model, of_count

H100 = find_gpu("H100")
SEVENTY = of_count(70_553_706_496)
FORMATS = {
    "fp16": Question(SEVENTY, H100, Format("fp16")),
    "int8": Question(SEVENTY, H100, Format("int8")),
    "int4": Question(SEVENTY, H100, Format("int4", 32)),
}


def bars(picture, color: str) -> list[tuple[float, float]]:
    """(left end, right end) of all bars of a colour, GB."""
    found = [
        p for p in picture.figure.axes[0].patches if to_hex(p.get_facecolor()) == color.lower()
    ]
    return [(p.get_x(), p.get_x() + p.get_width()) for p in found]


@pytest.mark.parametrize("name, seats", [("fp16", 0), ("int8", 1), ("int4", 24)])
def test_seats_of_a_bare_number_of_weights(name, seats):
    """All 70e9 coded: fp16 overflows, int8 leaves one seat, int4 in groups of 32 leaves 24."""
    made = plan(FORMATS[name])
    picture = show.plan_bar(made)
    tiles = bars(picture, show.SERIES[0])
    assert made.largest == seats == len(tiles)
    assert str(seats) in [t.get_text() for t in picture.figure.axes[0].texts]
    over = bars(picture, show.PALETTE["vermilion"])
    title = picture.figure.axes[0].get_title(loc="right")
    if seats:
        left = (made.weights.total + made.slack) / 1e9
        assert tiles[0][0] == pytest.approx(left) and tiles[-1][1] <= 80 and not over
        assert title.endswith("tokens/s") and f"{seats} at once" in picture.alt
    else:
        assert over == [(80, pytest.approx((made.weights.total + made.slack) / 1e9))]
        assert title == " " and "GB are missing" in picture.alt


def test_a_device_of_unknown_speed():
    made = plan(Question(find_model("llama-3-8b"), Gpu("a", 80e9)))
    assert show.plan_bar(made).figure.axes[0].get_title(loc="right") == "? tokens/s"


def test_thousands_of_seats_are_one_bar():
    made = plan(Question(find_model("tiny"), H100))
    (tile,) = bars(show.plan_bar(made), show.SERIES[0])
    assert tile[1] - tile[0] == pytest.approx(made.largest * made.kv_request / 1e9)


def test_the_slider_has_one_scale_and_a_twin():
    slider = show.plan_slider(FORMATS, "format")
    assert slider.values == slider.static == ("fp16", "int8", "int4")
    ends = {slider.picture(name).figure.axes[0].get_xlim() for name in FORMATS}
    assert len(ends) == 1
    png, words = slider.twin()
    assert png.startswith(b"\x89PNG") and "format = int4" in words and "24 requests" in words
    assert slider.live().children[0].options == ("fp16", "int8", "int4")


def test_the_table_has_the_plans_figures():
    questions = FORMATS | {"phone": Question(find_model("tiny"), find_gpu("phone"))}
    table = show.plans_table(questions)
    cells = {row[0]: row for row, _ in table.rows}
    made = plan(FORMATS["int4"])
    assert cells["int4"][1] == f"{made.weights.total / 1e9:.2f}" and cells["int4"][3] == "24"
    assert cells["int4"][4] == f"{made.speed.one_user:,.1f}"
    assert cells["fp16"][3:6] == ("0", "", "") and cells["phone"][6] == ""
    priced = Question(find_model("tiny"), H100, price_per_hour=2.0)
    (row,) = show.plans_table({"a": priced}).rows
    assert row[0][7] == f"{plan(priced).money.per_million:.3g}"
