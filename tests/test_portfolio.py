"""make portfolio: one page that holds everything, says what is missing, and keeps the memo."""

import re
from html.parser import HTMLParser

import pytest
from desk_course import untouched_copy

from exercises.ch14_choice import workbench
from exercises.desk import progress
from exercises.grading import spec
from minillm import scoreboard_rows
from minillm.scoreboard_rows import Row
from tools import portfolio, portfolio_parts

VOID = {"meta", "img", "br"}


class Reader(HTMLParser):
    """Checks that tags close in order; keeps the images and the text."""

    def __init__(self):
        super().__init__()
        self.open, self.images, self.text, self.tags = [], [], "", set()

    def handle_starttag(self, tag, attrs):
        self.tags.add(tag)
        if tag == "img":
            self.images.append(dict(attrs))
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text += data


def read(path) -> Reader:
    reader = Reader()
    reader.feed(path.read_text(encoding="utf-8"))
    assert not reader.open
    return reader


@pytest.fixture
def course(tmp_path, monkeypatch):
    """Chapter 14 alone, unanswered, in tmp_path; progress of its own."""
    copy = untouched_copy(tmp_path, ("ch14_choice",))
    monkeypatch.setattr(spec, "ROOT", copy)
    monkeypatch.setenv("MINILLM_PROGRESS", str(tmp_path / "progress"))
    return copy


def solve_capstone(**changes) -> dict:
    """Put an answer of 14.4 into the file, marked as graded right."""
    answer = spec.reference("14.4")(**spec.cases("14.4", progress.asker("14.4"))[0]) | changes
    text = f"answer = {answer!r}\n".encode()
    path = spec.learner_file("14.4")
    path.write_bytes(text)
    mark = {"solved": True, "sha": progress.sha(text), "right": [progress.sha(text)]}
    progress.change(lambda data: progress.entry(data, "14.4").update(mark))
    return answer


def test_with_nothing_solved_it_says_what_is_missing(course, tmp_path):
    path, missing = portfolio.write(tmp_path / "out")
    page = read(path)
    for words in ("capstone is not solved", "memo is not written", "No prediction",
                  "No row is yours", "No exercise is solved"):  # fmt: skip
        assert any(words in line for line in missing), (words, missing)
        assert words in page.text
    assert "0 of 5 solved" in page.text and "no student id" in page.text
    assert "make portfolio" in page.text and "torch " in page.text
    assert not page.images, "a plan of the workload is a part of the answer of 14.2"
    assert "What I rejected" not in page.text and "No try was kept" in page.text


def test_a_solved_capstone_stands_beside_its_limits_and_bounds(course, tmp_path):
    progress.change(lambda data: data.update(student="ada"))
    answer = solve_capstone()
    path, missing = portfolio.write(tmp_path / "out")
    page = read(path)
    assert not any("capstone is not" in line for line in missing)
    assert f'"num_blocks": {answer["num_blocks"]}' in page.text
    assert "1 of 5 solved" in page.text and "python -m exercises student ada" in page.text
    case = spec.cases("14.4", "ada")[0]
    assert f">= {case['least']} tokens/s" in page.text
    assert any("100 requests on" in one["alt"] for one in page.images)
    alone = re.search(r"([\d.]+) ms<= [\d.]+ ms>= ([\d.]+) ms", page.text)
    assert float(alone[1]) >= float(alone[2]), "a step cannot be faster than its weights are read"


def test_bounds_hold_for_the_fastest_and_the_slowest_configuration(course):
    from exercises.ch14_choice import serving

    case = spec.cases("14.4", "ada")[0]
    for seats in (1, 64):
        answer = spec.reference("14.4")(**case) | {"max_num_seqs": seats}
        outcome = serving.serve(case, answer, text=False)
        *_, tpot, speed = portfolio_parts.limits(case, answer, outcome)
        number = lambda text: float(re.search(r"[\d.]+", text)[0])
        assert number(tpot[1]) >= number(tpot[3]) - 0.1
        assert number(speed[1]) <= number(speed[3]) + 1


def test_guesses_and_rows_of_the_scoreboard_are_shown(course, tmp_path):
    kept = {"value": {"weights_gb": 4.5, "step_ms": 20.0}, "unit": "", "note": ""}
    kept["guess"] = {"weights_gb": 4.0, "step_ms": 200.0}
    progress.change(lambda data: progress.entry(data, "14.2").update(measured=kept))
    row = Row("my own engine", 32, 10**8, 0.5, 80.0, 300.0, None, None, "M")
    scoreboard_rows.keep_row(row, scoreboard_rows.own_file())
    path, missing = portfolio.write(tmp_path / "out")
    page = read(path)
    assert "14.2[step_ms]" in page.text and "1 of 2 guesses" in page.text
    assert "my own engine" in page.text and "writes at most" in page.text
    assert "8 of 32" in page.text and "a budget that never changes" in page.text
    assert not any("prediction" in line or "No row" in line for line in missing)


def solve_workload() -> None:
    """Put a right answer of 14.2 into its file."""
    answer = spec.reference("14.2")(**spec.cases("14.2", progress.asker("14.2"))[0])
    text = f"answer = {answer!r}\n".encode()
    spec.learner_file("14.2").write_bytes(text)
    mark = {"solved": True, "sha": progress.sha(text), "right": [progress.sha(text)]}
    progress.change(lambda data: progress.entry(data, "14.2").update(mark))


def test_tries_of_the_workbench_are_kept_for_their_question_alone(course, tmp_path, monkeypatch):
    solve_workload()
    mine = {"weights": "int4", "kv_dtype": "fp16", "max_num_seqs": 8}
    tries = (("one seat", "58", {"max_num_seqs": 1}), ("mine", "423", mine),
             ("mine", "68", mine | {"prefix_caching": True}), ("mine", "481", mine))  # fmt: skip
    for name, speed, changes in tries:
        workbench.keep(name, ["2.99", "300", "35.0", speed, "TPOT"], changes)
    monkeypatch.setenv("MINILLM_FAST", "1")
    assert workbench.keep("mine", ["1", "2", "3", "4", "none"], {}) == "mine"
    path, missing = portfolio.write(tmp_path / "out")
    page = read(path)
    names = [row[0] for row in workbench.kept()]
    assert names == ["one seat", "mine (2)", "mine"], "other settings: another line"
    assert "481TPOT" in page.text and "68TPOT" in page.text and "423" not in page.text
    assert "int4 weights, 8 seats, prefix cache" in page.text and "K/V, 8" not in page.text
    assert "14.2, not the capstone" in page.text and len(page.images) == 1
    assert any("run the cell after 14.2" in line for line in missing)
    progress.change(lambda data: data.update(student="somebody else"))
    assert workbench.kept() == [], "another question: other limits"


@pytest.mark.parametrize(
    "changes, words",
    [
        ({"weight": "int4"}, "no setting is called weight: there are weights, pruning"),
        ({"weights": "int5"}, "weights must be one of"),
        ({"block_size": 128}, "block_size must be one of"),
        ({"max_num_seqs": 0}, "from 1 to 256"),
        ({"num_blocks": 2.5}, "num_blocks must be a whole number"),
    ],
)
def test_what_is_no_configuration_is_not_tried(course, changes, words):
    case = spec.cases("14.4", "")[0]
    with pytest.raises(ValueError, match=words):
        workbench.answer(case, changes)


def test_a_try_fills_the_budget_with_blocks(course):
    case = spec.cases("14.4", "")[0]
    found = workbench.answer(case, {"weights": "int4", "kv_dtype": "int8"})
    pool = found["num_blocks"] * 16 * case["kv_token"]["int8"]
    left = case["budget"] - case["bytes"]["int4"] - pool
    assert 0 <= left < 16 * case["kv_token"]["int8"]
    assert workbench.answer(case, {"weights": "fp16"})["num_blocks"] == workbench.LEAST_BLOCKS
    assert workbench.words(workbench.START) == "nothing"
    one, other = {"weights": "int4", "max_num_seqs": 8}, {"max_num_seqs": 8, "weights": "int4"}
    assert workbench.words(one) == workbench.words(other) != "nothing"


def test_the_memo_is_kept_and_its_html_is_not_obeyed(course, tmp_path):
    portfolio.write(tmp_path / "out")
    memo = tmp_path / "out" / "memo.md"
    assert memo.read_text(encoding="utf-8") == portfolio.MEMO
    said = (
        "I took **int4**. <script>alert(1)</script>\n\n| tried | broke |\n|---|---|\n| a | TPOT |\n"
    )
    memo.write_text(said, encoding="utf-8")
    progress.change(lambda data: data.update(student="<b>eve</b>"))
    path, missing = portfolio.write(tmp_path / "out")
    page = read(path)
    assert memo.read_text(encoding="utf-8").startswith("I took **int4**")
    assert "I took int4. <script>" in page.text and "script" not in page.tags
    assert "b" not in page.tags and "<b>eve</b>" in page.text
    assert not any("memo" in line for line in missing)
    assert "| a |" not in page.text and "TPOT" in page.text


def test_the_page_is_one_file(course, tmp_path):
    solve_capstone()
    path, _ = portfolio.write(tmp_path / "out")
    page = read(path)
    assert all(one["src"].startswith("data:image/png;base64,") for one in page.images)
    assert all(len(one["alt"]) > 20 for one in page.images)
    assert not {"script", "link", "iframe"} & page.tags
    assert sorted(p.name for p in path.parent.iterdir()) == ["index.html", "memo.md"]


def test_the_command_prints_where_it_is_and_what_is_missing(course, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr("sys.argv", ["portfolio", "--folder", str(tmp_path / "there")])
    assert portfolio.main() == 0
    said = capsys.readouterr().out
    assert "index.html" in said and "memo.md" in said and "missing: The capstone" in said
    (tmp_path / "file").write_text("")
    monkeypatch.setattr("sys.argv", ["portfolio", "--folder", str(tmp_path / "file")])
    assert portfolio.main() == 1
    assert "not written" in capsys.readouterr().err


@pytest.mark.parametrize("name, code", [("docs", 1), ("", 2)])
def test_among_other_files_nothing_is_written(course, tmp_path, monkeypatch, capsys, name, code):
    """--folder docs, and --folder "", which is the folder one is in."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "mine.md").write_text("x")
    monkeypatch.setattr("sys.argv", ["portfolio", "--folder", name])
    try:
        assert portfolio.main() == code
    except SystemExit as end:
        assert end.code == code
    error = capsys.readouterr().err
    assert ("holds other files (mine.md)" in error) if name else ("name of a folder" in error)
    assert not list(tmp_path.rglob("memo.md")) and not list(tmp_path.rglob("index.html"))


def test_without_a_folder_of_ones_own_it_lies_in_the_course(monkeypatch, tmp_path):
    monkeypatch.setenv("MINILLM_PROGRESS", str(tmp_path))
    assert portfolio.default_folder() == tmp_path / "portfolio"
    monkeypatch.delenv("MINILLM_PROGRESS")
    assert portfolio.default_folder() == portfolio.ROOT / "portfolio"
    assert "portfolio/" in (portfolio.ROOT / ".gitignore").read_text(encoding="utf-8").split()
