"""Tables and panels made of a quality report: every number stands where it belongs."""

from minillm import show

ROWS = [
    {"method": "fp32", "bits": 32, "tasks": {"copy": 1.0, "add": 0.9}},
    {"method": "rtn", "bits": 4, "tasks": {"copy": 0.8, "add": 0.7}},
    {"method": "rtn", "bits": 2, "tasks": {"copy": 0.2, "add": 0.1}},
    {"method": "gptq", "bits": 2, "tasks": {"copy": 0.6, "add": 0.5}},
]
REAL = {
    "model": "m", "tokens": 21000,
    "rows": [
        {"name": "fp32", "bits": 32.0, "perplexity": 20.0},
        {"name": "2 bits RTN", "bits": 2.5, "simulated": True, "seconds": 61.4, "perplexity": 50.0,
         "kl": 0.25, "top1": 0.625, "logit_error": 0.1, "tokens": 4096},
    ],
}  # fmt: skip


def test_rows_become_panels_of_methods_or_of_tasks():
    methods = show.by_method(ROWS)
    assert methods == {
        "RTN": {"copy": {4: 0.8, 2: 0.2}, "add": {4: 0.7, 2: 0.1}},
        "GPTQ": {"copy": {2: 0.6}, "add": {2: 0.5}},
    }
    assert show.by_task(ROWS)["add"] == {"RTN": {4: 0.7, 2: 0.1}, "GPTQ": {2: 0.5}}


def test_fewer_bits_lie_further_right():
    made = show.fragility(show.by_method(ROWS))
    left, right = made.figure.axes
    assert [list(line.get_ydata()) for line in left.lines] == [[80, 20], [70, 10]]
    assert [t.get_text() for t in left.get_xticklabels()] == ["4", "2"]
    assert [t.get_text() for t in right.get_xticklabels()] == ["2"]
    assert "RTN, copy: 4 bits 80%, 2 bits 20%" in made.alt


def test_the_table_tells_what_is_simulated_and_by_how_much_it_is_worse():
    table = show.quality_table({"real": REAL}, "here")
    assert [cells for cells, _ in table.rows] == [
        ("fp32", "32.00", "20.00", "1.000x", "", "", ""),
        ("2 bits RTN (simulated)", "2.50", "50.00", "2.500x", "0.2500", "37.5%", "61"),
    ]
    assert "21,000 tokens" in table.note and "here" in table.note


def test_without_a_report_the_table_is_empty_and_says_why():
    for report in (None, {"real": None}, {"real": {"model": "m", "tokens": 1, "rows": []}}):
        table = show.quality_table(report, "not recorded yet")
        assert table.rows == () and table.note == "not recorded yet"


def test_the_largest_columns_are_marked():
    made = show.channels([3, 9, 1, 2], marked=1)
    dots = [line for line in made.figure.axes[0].lines if line.get_marker() == "o"]
    assert [list(d.get_xdata()) for d in dots] == [[1]]
    assert "the largest 9" in made.alt


def test_the_valley_prints_the_error_of_every_point():
    """d = (0.4, 0.4) with H = [[1, 0.5], [0.5, 1]]: 0.16 + 0.16 + 0.16."""
    made = show.valley([[1, 0.5], [0.5, 1]], (1.4, 2.4), {"a": (1, 2), "b": (1.4, 2.4)})
    assert "a: 0.48" in made.alt and "b: 0" in made.alt
