"""The pictures: what they say is what was given, they can be read in grey, and they stay small."""

import math
import subprocess
import sys
from pathlib import Path

import nbformat
import numpy as np
import pytest
import torch

from minillm import show
from minillm.blank import blank_config
from minillm.budget import Question, plan
from minillm.budget_devices import find_gpu
from minillm.budget_models import find_model
from minillm.clock import PAPER_GPU, Cost, step_cost
from minillm.compress.shrink import Kept
from minillm.engine.metrics import RequestMetrics
from minillm.show import canvas, memory, speed

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tools"))
import build_notebooks as builder  # noqa: E402

CONFIG = blank_config(size=100_000_000)
DECODE = step_cost(CONFIG, 4, 256, 2, 2)
RUNS = [
    [[0, 0, None, None, 2], [1, 1, 1, 1, None]],
    [[0, 0, 2], [1, 1, 1, 1]],
]
BLOCKS = [
    show.Block(0, 16, 16, references=2),
    show.Block(0, 3, 16),
    show.Block(9, 16, 16),
    show.Block(None, 0, 16),
]
PLANS = [
    show.Planned(((0, 9, True), (1, 7, False))),
    show.Planned(((0, 1, True), (1, 3, True))),
    show.Planned(((0, 1, True),), preempted=(1,)),
]
SHARES = [
    {"method": method, "bits": bits, "tasks": {"copy": 1.0, "sort": bits / 8}}
    for method, bits in (("fp32", 32), ("rtn", 8), ("rtn", 2), ("awq", 2))
]
PRUNED = [
    {"method": method, "sparsity": zeros, "perplexity": 1 + zeros, "accuracy": 1 - zeros}
    for method, zeros in (("dense", 0), ("a", 0.3), ("a", 0.7), ("b", 0.5))
]
KEPT = Kept((0, 2), ((0, 1),) * 2, ((0,),) * 2, (tuple(range(500)),) * 2)
SERVED = [RequestMetrics(0, start, [start + 1, start + 2], start + 3) for start in (0, 0, 3)]
GALLERY = {
    "tokens": lambda: show.next_token_bars([[("9", 0.9), (" $a$", 0.1)]], ["...+5="]),
    "heatmap": lambda: show.heatmap([[1, 0], [0.4, 0.6]], "ab", "ab", [[0, 1], [0, 0]]),
    "roofline": lambda: show.roofline(PAPER_GPU, {"a": DECODE.linears}),
    "dots": lambda: show.step_roofline(CONFIG, 16),
    "scaling": lambda: show.scaling([show.Panel([1, 2, 4], {"a": [1, 4, 16]}, "n", "ms")]),
    "lines": lambda: show.lines([1, 2], {"a": [1, 2], "b": [2, 1]}, "n", "ms", "xy", bound=3),
    "bars": lambda: show.bars({"a": 1.0, "b": 2.0}, "GB/s", bound=3.0),
    "stack": lambda: show.stack({"S": dict.fromkeys("abcdefg", 1.0)}, "ms"),
    "timelines": lambda: show.timelines(RUNS),
    "batches": lambda: show.batches({"a": [[0, 1], [1], [2, 1]], "b": [[0, 1], [2, 1]]}, 2),
    "latency": lambda: show.latency([1, 2], {"p50": [1, 2]}, {"p95": [0.1, 0.2]}, "S", (3, None)),
    "blocks": lambda: show.block_map(BLOCKS, columns=2),
    "pool": lambda: show.pool_map(BLOCKS, columns=32),
    "seats": lambda: show.seats(80e9, [show.Load("fp16", 140e9, 4e9, 1e9)]),
    "layers": lambda: show.layer_map(CONFIG),
    "programs": lambda: show.programs([[0] * 4 + [1] * 4], [[False] * 7 + [True]], "i"),
    "sectors": lambda: show.sectors({"a": range(8), "b": range(0, 64, 8)}, 64),
    "tree": lambda: show.tree([1, 2, 3, 4]),
    "steps": lambda: show.step_tokens({"a": PLANS, "b": PLANS[:1]}, budget=16),
    "lives": lambda: show.life_lines(PLANS),
    "prefixes": lambda: show.prefix_tree({0: [3, 7, 1], 1: [3, 7, 4, 9], 8: [5]}),
    "fragility": lambda: show.fragility(show.by_method(SHARES), floor=0.9),
    "channels": lambda: show.channels([3, 9, 1, 2], marked=1),
    "valley": lambda: show.valley([[1, 0.9], [0.9, 1]], (1.4, 2.4), {"a": (1, 2)}),
    "columns": lambda: show.column_errors({"RTN": [1, 2], "GPTQ": [2, 1]}),
    "bits": lambda: show.float_bits(0.1),
    "number line": lambda: show.number_line({"a": [-1, 0, 0.5], "b": range(-2, 3)}, span=1),
    "nibbles": lambda: show.nibbles([0, -8, 7, 3, -1, 5, -4, 2]),
    "seat bar": lambda: show.seat_bar(80e9, show.Load("fp16", 140e9, 4e9, 1e9)),
    "plan": lambda: show.plan_bar(plan(Question(find_model("qwen3-0.6b"), find_gpu("T4")))),
    "served": lambda: show.served(SERVED),
    "weights": lambda: show.weight_row(torch.linspace(-1, 1, 100) ** 3 * 5, span=4),
    "kept": lambda: show.kept_maps({"a": [[True, False]]}, {"a": [1, 2]}),
    "forms": lambda: show.format_bytes([0, 0.5, 1], {"a": [3, 1.5, 0], "b": [None, 0.6, None]}),
    "two of four": lambda: show.two_of_four([0.3, -1.2, 0.1, 0.9]),
    "grouped": lambda: show.grouped({"g": {"a": 1, "b": 20}, "h": {"b": 3}}, "ms", True, bound=2),
    "survival": lambda: show.survival(PRUNED),
    "remaining": lambda: show.remaining(CONFIG, KEPT),
    "layer bars": lambda: show.by_layer({"a": [1, 20], "b": [3, 2]}, log=("a",)),
    "recovery": lambda: show.recovery({"whole": {"add": 1.0}, "cut": {"add": 0.2}}),
    "pareto": lambda: show.pareto({"a": (1, 5), "b": (2, 4)}, "MB", "% right", mine=("b",)),
    "calibration": lambda: show.calibration_plot([("1.3", 30, 24, 0.3), ("1.6", 1, 9, 3.2)]),
    "no predictions": lambda: show.calibration_plot([]),
}


@pytest.fixture(params=GALLERY, ids=lambda name: name.replace(" ", "-"))
def picture(request):
    return GALLERY[request.param]()


def texts(picture) -> list[str]:
    """Everything written inside a picture."""
    from matplotlib.text import Text

    return [t.get_text() for t in picture.figure.findobj(Text) if t.get_text()]


def points(picture) -> dict[str, tuple[float, float]]:
    """Where the labelled dots of a roofline lie."""
    from matplotlib.text import Annotation

    return {a.get_text(): a.xy for a in picture.figure.findobj(Annotation)}


def test_matplotlib_waits_for_the_first_picture():
    code = "import sys; from minillm import show; assert 'matplotlib' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_every_picture_is_in_the_gallery():
    made = {n for n in show.__all__ if n.islower()}
    others = {"moving_dots", "widget", "slope", "visible", "scoreboard"}  # tested by themselves
    others |= {"blocks_of", "block_size_slider"}  # in test_ch06.py
    others |= {"planned", "plans_of"}  # in test_ch07.py
    others |= {"microscope"}  # in test_show_numbers.py
    others |= {"seats_filling"}  # in test_show_packed.py
    others |= {"plan_slider", "plans_table"}  # in test_show_planner.py
    others |= {"moved_sectors"}  # in test_cha1.py
    others |= {"by_sparsity", "pruned_table"}  # in test_show_pruned.py
    others |= {"by_task", "quality_table"}  # in test_show_quality.py
    others |= {"combinations_table", "front"}  # in test_show_shrunk.py
    names = {n for make in GALLERY.values() for n in make.__code__.co_names}
    assert made - others <= names


def test_a_picture_is_small_and_carries_its_alt_text(picture):
    data, metadata = picture._repr_mimebundle_()
    assert len(picture.png()) < 40_000 and len(picture.alt) > 20
    assert metadata["image/png"]["alt"] == data["text/plain"] == picture.alt
    assert 100 < metadata["image/png"]["width"] <= 800, "it fits beside a notebook's margin"
    output = nbformat.v4.new_output("display_data", data=data, metadata=metadata)
    cell = nbformat.v4.new_code_cell("show", outputs=[output])
    nbformat.validate(nbformat.v4.new_notebook(cells=[cell]))


def test_a_page_made_from_a_notebook_has_the_alt_text():
    from nbconvert import HTMLExporter

    data, metadata = GALLERY["bars"]()._repr_mimebundle_()
    output = nbformat.v4.new_output("display_data", data=data, metadata=metadata)
    cell = nbformat.v4.new_code_cell("show", outputs=[output])
    page, _ = HTMLExporter(template_name="classic").from_notebook_node(
        nbformat.v4.new_notebook(cells=[cell])
    )
    assert 'alt="GB/s: a 1, b 2, bound 3."' in page


def test_inside_a_picture_only_what_every_font_has(picture):
    for text in texts(picture):
        assert all(ord(c) < 0x250 or c in "␣↵×−" for c in text), text


def test_nothing_is_left_with_pyplot(picture):
    picture.png()
    pyplot = sys.modules.get("matplotlib.pyplot")
    assert pyplot is None or pyplot.get_fignums() == []


def test_neighbours_can_be_told_apart_in_grey():
    """Seven pieces side by side, drawn, turned to grey, and looked at."""
    made = show.stack({"S": dict.fromkeys("abcdefg", 1.0)}, "ms")
    grey = made.pixels() @ np.array([0.299, 0.587, 0.114]) / 255
    axis = made.figure.axes[0]
    # near the upper edge of each piece: its number stands in the middle
    places = [axis.transData.transform((i + 0.5, -0.25)) for i in range(7)]
    found = [grey[grey.shape[0] - int(y), int(x)] for x, y in places]
    assert all(abs(a - b) > 0.18 for a, b in zip(found, found[1:])), found
    assert all(value < 0.9 for value in found), "apart from the white paper too"
    three = found[:3]
    assert min(abs(a - b) for a in three for b in three if a is not b) > 0.25


def test_numbers_can_be_read_on_every_colour():
    for name, color in show.PALETTE.items():
        paper = canvas.grey_of(color)
        assert abs(canvas.grey_of(canvas.ink(color)) - paper) > 0.4, name


@pytest.mark.parametrize(
    "value, text",
    [
        (0, "0"),
        (1024, "1024"),
        (12345, "12.3k"),
        (3e11, "300G"),
        (0.0521, "0.0521"),
        (1e-6, "1e-06"),
    ],
)
def test_short_numbers(value, text):
    assert canvas.short(value) == text


def test_a_token_is_made_visible():
    assert show.visible(" a\n") == "␣a↵" and show.visible("각") == "U+AC01"
    assert show.visible("a각") == "U+0061 U+AC01", "one character without a font is enough"
    assert "$a$" in "".join(texts(GALLERY["tokens"]()))


def test_a_masked_cell_has_no_number():
    made = show.heatmap([[1.0, 99.0], [0.25, 0.75]], masked=[[False, True], [False, False]])
    said = texts(made)
    assert "×" in said and "0.25" in said and not any("99" in t for t in said)
    assert "1 cells are masked" in made.alt and "to 1.00" in made.alt


def test_dots_lie_on_the_roof_and_measured_ones_where_they_were():
    cost = Cost(flops=4e9, bytes=1e9, launches=1)
    much = Cost(flops=1e12, bytes=1e9, launches=1)
    found = points(show.roofline(PAPER_GPU, {"a": cost, "b": (cost, 0.01), "c": much}))
    assert found["a"] == pytest.approx((4, 4 * 300e9))
    assert found["b"] == pytest.approx((4, 4e11))
    assert found["c"] == pytest.approx((1000, 60e12))


def test_only_the_linears_of_decode_move_with_the_rows():
    few, many = (points(show.step_roofline(CONFIG, rows)) for rows in (1, 64))
    assert many["a"][0] == pytest.approx(64 * few["a"][0])
    assert many["b"] == few["b"] and many["c"] == pytest.approx(few["c"])
    assert few["b"][1] == PAPER_GPU.peak, "prefill of 512 tokens is bound by arithmetic"


def test_slope_is_the_power():
    x = [16, 64, 128, 512]
    assert show.slope(x, [3 * v**1.5 for v in x]) == pytest.approx(1.5)
    assert show.slope(x, [1, 1e9, 7, 7], tail=2) == pytest.approx(0)
    made = show.scaling([show.Panel(x, {"a": [v**2 for v in x]}, "n", "ms")])
    assert "a ms grows as n to the power 2.0" in made.alt
    assert any("2.0" in t for t in texts(made))


def test_idle_cells_are_counted_until_each_run_ends():
    made = show.timelines(RUNS, ["a", "b"])
    assert "30%" in texts(made) and "12%" in texts(made)  # 3 of 10, 1 of 8
    assert made.alt.endswith(
        "a: 5 steps, 30% of the cells idle; b: 4 steps, 12% of the cells idle."
    )
    assert "1 timelines" in show.timelines([[[None, None]]]).alt, "nothing but idle seats"


def test_the_block_map_counts_its_waste():
    made = show.block_map(BLOCKS)
    assert any("35 / 48" in t and "27%" in t for t in texts(made))
    assert "A2" in texts(made) and "J" in texts(made)
    assert "3 in use" in made.alt and "1 blocks are shared" in made.alt


def test_seats_that_fit():
    load = lambda weights: show.Load("x", weights, 5.0, 10.0)
    assert [memory.seats_of(100, load(w)) for w in (0, 75, 85, 86, 95, 140)] == [9, 2, 1, 0, 0, 0]
    made = show.seats(
        100e9, [show.Load("int4", 60e9, 5e9, 10e9), show.Load("fp16", 140e9, 5e9, 10e9)]
    )
    assert "int4: 60 GB of weights, 3 requests fit" in made.alt and "3" in texts(made)
    red = [p for p in made.figure.axes[0].patches if p.get_hatch() == "xx" and p.get_width() > 0]
    assert len(red) == 1 and red[0].get_x() == 100 and red[0].get_width() == pytest.approx(45)


def test_a_stack_adds_up():
    made = show.stack({"a": {"x": 1.5, "y": 2.25}, "b": {"x": 6.0}}, "ms")
    assert {"3.75", "6", "2.25"} <= set(texts(made))


def test_far_guesses_look_different():
    made = show.calibration_plot([("1.3", 30, 24, math.log2(30 / 24)), ("1.6", 1, 9, math.log2(9))])
    markers = [line.get_marker() for line in made.figure.axes[0].lines]
    assert markers.count("o") == 1 and markers.count("X") == 1


def frames(value):
    return show.bars({"a": value}, "ms")


def test_a_widget_is_saved_as_its_static_twin(tmp_path):
    made = show.widget(frames, [1, 2, 3, 4, 5], "S", static=(1, 5))
    data, metadata = made._repr_mimebundle_()
    assert builder.WIDGET in data and metadata["image/png"]["alt"].startswith(
        "S = 1: ms: a 1. S = 5"
    )
    one = made.picture(1).pixels().shape[0]
    assert int.from_bytes(made.twin()[0][20:24], "big") == 2 * one
    output = nbformat.v4.new_output("display_data", data=data, metadata=metadata)
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell("x", outputs=[output])])
    kept = builder.clean(notebook).cells[0].outputs[0].data
    assert set(kept) == {"image/png", "text/plain"}


def test_the_slider_changes_the_picture():
    box = show.widget(frames, [1, 2, 3], "S").live()
    slider, image = box.children
    before = image.value
    slider.value = 3
    assert image.value != before
    slider.value = 2
    assert image.value == before, "it began in the middle"


def test_widget_frames_must_be_among_the_values():
    assert show.widget(frames, range(9)).static == (0, 4, 8)
    assert show.widget(frames, [7]).static == (7,)
    with pytest.raises(ValueError, match=r"\[6\] are not among"):
        show.widget(frames, [1, 2], static=(6,))


def test_moving_dots_have_three_static_frames():
    assert speed.moving_dots(CONFIG).static == (1, 16, 256)


def test_a_table_marks_your_rows():
    table = show.Table(
        ("name", "tokens/s"), ((("a <b>", "12"), True), (("KV", "3"), False)), "note"
    )
    assert repr(table).splitlines() == [
        "name   tokens/s",
        "a <b>        12  <- yours",
        "KV            3",
        "note",
    ]
    page = table._repr_html_()
    assert "a &lt;b&gt;" in page and page.count(show.PALETTE["blue"]) == 1
