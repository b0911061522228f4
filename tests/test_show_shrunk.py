"""Pictures of a shrunk model: what is drawn as cut is what shrink() cuts; who is on the front."""

import pytest
import torch
from matplotlib.colors import to_hex

from minillm import load, show
from minillm.compress.shrink import choose, cut
from minillm.show import shrunk


@pytest.fixture(scope="module")
def tiny():
    return load("tiny", device="cpu")[0]


def drawn(picture, color: str) -> list:
    """The boxes of one colour."""
    boxes = picture.figure.axes[0].patches
    return [p for p in boxes if to_hex(p.get_facecolor()) == color.lower()]


@pytest.mark.parametrize(
    "wanted", [{}, {"layers": [0, 2, 5]}, {"heads": 6, "channels": 384}, {"kv_heads": 1}]
)
def test_coloured_boxes_are_as_wide_as_the_weights_that_stay(tiny, wanted):
    kept = choose(tiny, **wanted)
    picture = show.remaining(tiny.config, kept)
    small = cut(tiny, kept)
    weights = sum(p.numel() for p in small.layers.parameters() if p.dim() == 2)
    colors = (shrunk.GROUP, shrunk.QUERY, shrunk.CHANNELS)
    assert sum(p.get_width() for c in colors for p in drawn(picture, c)) == weights
    whole = sum(p.numel() for p in tiny.layers.parameters() if p.dim() == 2)
    assert sum(p.get_width() for p in drawn(picture, "#ffffff")) == whole - weights
    c = small.config
    assert f"{c.num_heads} of 8 query heads, {c.num_kv_heads} of 2 KV heads" in picture.alt
    assert f"{weights / whole:.0%} of them all" in picture.alt


def test_a_cut_query_head_is_hatched_in_its_own_place(tiny):
    """Groups are drawn side by side: KV head 0, its query heads 0 to 3, KV head 1, and so on."""
    kept = choose(tiny, heads=[0, 2, 3, 4, 5, 7])
    picture = show.remaining(tiny.config, kept)
    each = 2 * 32 * 256
    starts = {round(p.get_x() / each) for p in drawn(picture, "#ffffff")}
    assert starts == {2, 8}  # box 0 is KV head 0, box 2 query head 1, box 8 query head 6
    assert {round(p.get_x() / each) for p in drawn(picture, shrunk.GROUP)} == {0, 5}


def test_the_layer_with_the_longest_bar_is_marked():
    made = show.by_layer({"a": [1, 3, 2], "b": torch.tensor([100.0, 1, 10])}, log=("b",))
    for axis, top in zip(made.figure.axes, (1, 0)):
        marked = [i for i, p in enumerate(axis.patches)
                  if to_hex(p.get_facecolor()) == show.PALETTE["vermilion"].lower()]  # fmt: skip
        assert marked == [top]
    assert [axis.get_yscale() for axis in made.figure.axes] == ["linear", "log"]
    assert "a: layer 0 1, layer 1 3, layer 2 2; largest at layer 1" in made.alt


def test_recovery_has_a_mark_for_every_task_and_stage():
    stages = {"whole": {"add": 1.0, "copy": 0.9}, "cut": {"copy": 0.2, "add": 0.0}}
    made = show.recovery(stages)
    axis = made.figure.axes[0]
    assert [t.get_text() for t in axis.get_yticklabels()] == ["add", "copy"]
    dots = [[(x, round(y)) for x, y in c.get_offsets().tolist()] for c in axis.collections]
    assert dots == [[(100, 0), (90, 1)], [(0, 0), (20, 1)]], "by name, not by order"
    heights = [c.get_offsets()[0][1] for c in axis.collections]
    assert heights[0] < heights[1] < heights[0] + 0.5, "equal shares do not hide each other"
    assert "cut: copy 20%, add 0%" in made.alt


def test_the_front_holds_what_nothing_beats():
    """b costs more than a and is no better; c equals d; e is the best and the dearest."""
    points = {"a": (1, 5), "b": (2, 5), "c": (2, 6), "d": (2, 6), "e": (9, 7), "f": (9, 6)}
    assert show.front(points) == ["a", "c", "e"]
    assert show.front({}) == []


@pytest.mark.parametrize("seed", range(5))
def test_the_front_is_that_of_the_definition(seed):
    drawn_nk = torch.randint(6, (12, 2), generator=torch.Generator().manual_seed(seed)).tolist()
    points = {str(i): (x, y) for i, (x, y) in enumerate(drawn_nk)}
    beats = lambda p, q: p[0] <= q[0] and p[1] >= q[1] and p != q
    best = {p for p in points.values() if not any(beats(q, p) for q in points.values())}
    names = show.front(points)
    assert {points[n] for n in names} == best and len(names) == len(best)


def test_points_off_the_front_are_hollow_and_my_own_are_stars():
    made = show.pareto({"a": (1, 5), "b": (2, 4), "c": (3, 9)}, "MB", "% right", mine=("c",))
    dots = made.figure.axes[0].collections
    fills = [to_hex(d.get_facecolor()[0]) for d in dots]
    assert fills == [show.SERIES[0].lower(), "#ffffff", show.SERIES[0].lower()]
    assert [len(d.get_paths()[0].vertices) for d in dots][2] != len(dots[0].get_paths()[0].vertices)
    assert "On the front: a, c." in made.alt


def test_a_logarithmic_cost_has_round_ticks():
    made = show.pareto({"a": (2.4, 5), "b": (14, 6)}, "MB", "% right", log=True)
    axis = made.figure.axes[0]
    assert axis.get_xscale() == "log"
    assert [t.get_text() for t in axis.get_xticklabels()] == ["2", "3", "5", "7", "10", "20"]


def combined(name, start, packed, held, mean):
    sizes = {"bytes": held, "flops": 8.5e6, "kv_bytes": 3072.0, "recovery_s": 0.0}
    return {"name": name, "start": start, "packed": packed, "mean": mean, "tales": 1.5} | sizes


def test_the_table_of_combinations_finds_the_speed_of_what_was_treated_alike():
    speed = lambda name, seconds: {"name": name, "per_token_s": {"median": seconds}}
    report = {
        "combinations": [
            combined("dense", "dense", None, 14e6, 0.99),
            combined("dense, int8", "dense", "int8", 4e6, 0.99),
            combined("2:4", "2:4", None, 9e6, 0.5),
            combined("shrunk, trained again, int8", "shrunk, trained again", "int8", 3e6, 0.96),
        ],
        "speed": {"rows": [speed("dense", 0.5), speed("int8", 0.25), speed("shrunk, int8", 0.1)]},
    }
    rows = [cells for cells, _ in show.combinations_table(report, "here").rows]
    assert [row[0] for row in rows] == [
        "1: dense", "2: dense, int8 *", "3: 2:4", "4: shrunk, trained again, int8 *",
    ]  # fmt: skip
    assert [row[4] for row in rows] == ["2.0", "4.0", "", "10.0"]
    assert rows[0][1:4] == ("14.00", "8.50", "3,072") and rows[0][5:] == ("1.500", "99.0%", "")


def test_without_a_report_the_table_of_combinations_says_why():
    table = show.combinations_table(None, "not recorded yet")
    assert table.rows == () and table.note == "not recorded yet"
