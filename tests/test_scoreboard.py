"""Workload W, the rows measured on it, where they are kept, and the table of them."""

import json
import statistics
import subprocess
import sys

import pytest
import torch

from minillm import load, scoreboard, scoreboard_engines, scoreboard_rows, show, workload
from minillm.cache.simple import NoCache, StripCache
from minillm.clock import num_parameters
from minillm.compress import evaluate
from minillm.scoreboard_engines import STRIP, PagedAlone
from minillm.scoreboard_quality import read_through, tale_perplexity, task_accuracy
from minillm.scoreboard_rows import Row


@pytest.fixture
def small(monkeypatch, tmp_path):
    """A speed model of one layer, a learner's folder and recorded rows of our own, fast mode."""
    monkeypatch.setattr(scoreboard, "SPEED_BYTES", 1)
    monkeypatch.setenv("MINILLM_PROGRESS", str(tmp_path / "mine"))
    monkeypatch.setenv("MINILLM_FAST", "1")
    for module in (scoreboard, scoreboard_rows):
        monkeypatch.setattr(module, "RECORDED", tmp_path / "recorded.json")
    scoreboard.speed_model.cache_clear()
    yield tmp_path
    scoreboard.speed_model.cache_clear()


def row(name, **changes) -> Row:
    facts = dict(requests=32, bytes=10**8, ttft_p50=1.5, one_user=80.0, total=70.0)
    return Row(name, **{**facts, "perplexity": 1.25, "accuracy": 0.5, "machine": "M", **changes})


def test_w_is_the_same_everywhere_and_skewed():
    jobs = workload.workload(1024)
    assert jobs == workload.workload(1024) and len(jobs) == 32
    answers = [job.answer for job in jobs]
    assert (sum(answers), sum(len(job.prompt) for job in jobs)) == (862, 1196)
    assert max(answers) > 5 * statistics.median(answers)
    assert all(0 < token < 1024 for job in jobs for token in job.prompt)
    assert workload.workload(1024, 8) == jobs[:8]
    assert [len(j.prompt) for j in workload.workload(50)] == [len(j.prompt) for j in jobs]
    with pytest.raises(ValueError, match="33 were asked for"):
        workload.workload(1024, 33)


def test_the_first_requests_stand_for_all():
    """A row that runs 8 of them has a quarter of the work (the labels rely on it)."""
    answers = [job.answer for job in workload.workload(1024)]
    assert sum(answers[:8]) == pytest.approx(sum(answers) / 4, rel=0.05)


def test_w_and_the_table_need_no_torch():
    code = "import sys, minillm.workload, minillm.scoreboard_rows as rows; rows.table();"
    code += "assert 'torch' not in sys.modules and 'matplotlib' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_the_engine_writes_what_w_asks_for():
    model = load("tiny")[0]
    jobs = workload.workload(model.config.vocab_size, 3)
    told = list(scoreboard.one_after_another(StripCache.for_model)(model, jobs))
    assert [number for number, _ in told] == [
        i for i, job in enumerate(jobs) for _ in range(job.answer)
    ]
    longest = max(len(job.prompt) + job.answer - 1 for job in jobs)
    assert max(held for _, held in told) == longest * model.config.kv_bytes_per_token(4)


def test_bytes_of_a_memory_are_those_of_its_storage():
    class Mine:
        def __init__(self):
            self.length = 3
            self.kv = torch.zeros(4, 2, 8)
            self.views = [(self.kv[i, 0], self.kv[i, 1]) for i in range(4)]
            self.more = torch.zeros(5, dtype=torch.int8)

    assert scoreboard.memory_bytes(Mine()) == 4 * 2 * 8 * 4 + 5
    assert scoreboard.memory_bytes(NoCache(None)) == 0


def test_the_speed_model_has_one_size_everywhere(monkeypatch):
    """Bytes of rows can only be compared if the model does not depend on the machine."""
    from minillm import blank

    monkeypatch.setattr(blank, "blank_bytes", lambda: 1 / 0)
    config = blank.blank_config(size=scoreboard.SPEED_BYTES)
    assert (config.width, config.num_layers) == (512, 9)
    longest = workload.MAX_PROMPT + workload.MAX_ANSWER
    need = num_parameters(config) * 4 + 32 * longest * config.kv_bytes_per_token(4)
    assert need > workload.BUDGET, "32 reserved strips must not fit: that is chapter 06's subject"


@pytest.mark.parametrize("memory", [StripCache.for_model, scoreboard.no_cache, PagedAlone])
def test_quality_through_a_memory_is_that_of_the_model(memory):
    model, tokenizer = load("tiny")
    assert tale_perplexity(model, tokenizer, memory, 2) == pytest.approx(
        evaluate.tale_perplexity(model, tokenizer, count=2), rel=1e-5
    )
    shares = evaluate.tasks(model, tokenizer, count=3).values()
    assert task_accuracy(model, tokenizer, memory, 3) == pytest.approx(sum(shares) / len(shares))


def test_quality_sees_a_memory_that_forgets():
    """Were the model read past the memory, a broken cache would score as well as a right one."""
    model, tokenizer = load("tiny")

    class Forgets(StripCache):
        def attend(self, layer, q_THK, k_TGK, v_TGK):
            out = super().attend(layer, q_THK, k_TGK, v_TGK)
            self.kv[layer, :, : self.length] = 0
            return out

    right = tale_perplexity(model, tokenizer, StripCache.for_model, 1)
    assert tale_perplexity(model, tokenizer, Forgets.for_model, 1) > 1.2 * right


def test_read_through_equals_one_reading():
    model = load("tiny")[0]
    tokens = [3, 9, 27, 81, 5]
    whole = model(torch.tensor(tokens))
    for start in (0, 3):
        got = read_through(model, StripCache.for_model(model, 5), tokens, start)
        torch.testing.assert_close(got, whole[start:], atol=1e-4, rtol=0)


def test_a_fast_row_is_marked_and_not_kept(small):
    got = scoreboard.run("KV cache")
    assert got.fast and got.requests == 2 and 0 < got.accuracy <= 1 and got.perplexity >= 1
    assert got.bytes > 4 * 512 * 1024 and got.one_user > 0 and got.total > 0 and got.ttft_p50 > 0
    assert not scoreboard_rows.own_file().exists()
    assert "KV cache (fast mode)" in repr(show.scoreboard([got]))


def test_a_full_row_is_kept_in_the_progress_folder(small, monkeypatch):
    monkeypatch.delenv("MINILLM_FAST")
    got = scoreboard.run("mine", memory=StripCache.for_model, requests=3, quality=False)
    assert not got.fast and got.requests == 3 and got.perplexity is None
    assert scoreboard_rows.read_rows(small / "mine" / "scoreboard.json") == [got]
    scoreboard.run("KV cache", requests=1, quality=False, keep=False)
    assert scoreboard_rows.read_rows(scoreboard_rows.own_file()) == [got]


def test_an_engine_of_its_own(small):
    def lazy(model, jobs):
        for number, job in enumerate(jobs):
            for _ in range(job.answer - (number == 1)):
                yield number, 100

    with pytest.raises(AssertionError, match="W asks for"):
        scoreboard.run("lazy", memory=StripCache.for_model, engine=lazy, quality=False)


def test_a_row_over_the_budget_is_refused(small):
    greedy = lambda model, jobs: (
        (n, 10**9) for n, job in enumerate(jobs) for _ in range(job.answer)
    )
    with pytest.raises(ValueError, match="W's budget is 128.0 MB"):
        scoreboard.run("greedy", memory=StripCache.for_model, engine=greedy, quality=False)


def test_an_unknown_row_needs_a_memory():
    with pytest.raises(ValueError, match='\'mine\' is not one of "no cache", "KV cache"'):
        scoreboard.run("mine")


def test_rows_are_replaced_by_name_and_keep_their_order(tmp_path):
    path = tmp_path / "deep" / "rows.json"
    for one in (row("a"), row("b"), row("a", total=99.0)):
        scoreboard_rows.keep_row(one, path)
    assert [(r.name, r.total) for r in scoreboard_rows.read_rows(path)] == [
        ("a", 99.0),
        ("b", 70.0),
    ]
    assert [p.name for p in path.parent.iterdir()] == ["rows.json"]


@pytest.mark.parametrize("text", ["", "{", "[1]", '[{"name": "a"}]', "null", "3"])
def test_a_damaged_file_is_no_rows(tmp_path, text):
    path = tmp_path / "rows.json"
    path.write_text(text)
    assert scoreboard_rows.read_rows(path) == []


def test_a_row_of_a_later_version_can_be_read(tmp_path):
    path = tmp_path / "rows.json"
    scoreboard_rows.keep_row(row("a"), path)
    later = [{**json.loads(path.read_text())[0], "energy": 5}]
    path.write_text(json.dumps(later))
    assert scoreboard_rows.read_rows(path) == [row("a")]


def test_your_rows_stand_above_the_recorded_ones(small):
    scoreboard_rows.keep_row(row("KV cache", total=50.0, machine="ours"), scoreboard_rows.RECORDED)
    scoreboard_rows.keep_row(row("KV cache", machine="mine"), scoreboard_rows.own_file())
    scoreboard_rows.keep_row(row("new", perplexity=None), scoreboard_rows.own_file())
    table = show.scoreboard()
    assert [(line[0], line[5], own) for line, own in table.rows] == [
        ("KV cache", "70.0 tok/s", True),
        ("KV cache", "50.0 tok/s", False),
        ("new", "70.0 tok/s", True),
    ]
    assert table.rows[2][0][6] == "-" and table.note == "yours: M / mine; recorded: ours"


def test_the_table_of_a_chapter_ends_with_its_own_row(small):
    """Recorded or yours: a row of a later chapter has a name that nobody has explained yet."""
    for name in ("KV cache", "whole engine", "W8A8"):
        scoreboard_rows.keep_row(row(name, machine=name), scoreboard_rows.RECORDED)
    for name in ("W8A8", "new"):
        scoreboard_rows.keep_row(row(name, machine="mine"), scoreboard_rows.own_file())
    names = lambda table: [(line[0], own) for line, own in table.rows]
    before = [("KV cache", False), ("whole engine", True), ("whole engine", False)]
    now = scoreboard_rows.table([row("static", machine="here"), row("whole engine")])
    assert names(now) == [*before, ("new", True), ("static", True)]
    assert now.note == "yours: M / here / mine; recorded: KV cache / whole engine"
    late = [("W8A8", True), ("W8A8", False)]
    assert names(scoreboard_rows.table([row("whole engine")], later=True))[:5] == [*before, *late]
    assert [name for name, _ in names(scoreboard_rows.table())][-3:] == ["W8A8", "W8A8", "new"]
    assert ("W8A8", False) in names(scoreboard_rows.table([row("mine")])), "in no chapter"


def test_less_than_all_of_w_gives_a_lower_bound_of_the_waiting():
    assert scoreboard_rows.cells(row("a"))[1:4] == ("32 of 32", "100.0", "1.50 s")
    assert scoreboard_rows.cells(row("a", requests=8))[1:4] == ("8 of 32", "100.0", "> 1.50 s")


def test_the_help_names_every_row(monkeypatch, capsys):
    monkeypatch.setattr("sys.argv", ["scoreboard", "--help"])
    with pytest.raises(SystemExit):
        scoreboard.main()
    said = " ".join(capsys.readouterr().out.split())
    assert all(f'"{name}"' in said for name in scoreboard.KINDS)  # a name may hold a comma
    monkeypatch.setattr("sys.argv", ["scoreboard", "GPTQ"])
    with pytest.raises(SystemExit):
        scoreboard.main()
    assert '"int4 weights, GPTQ", "50% pruned"' in capsys.readouterr().err


def test_record_writes_the_recorded_rows_and_not_yours(small, monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["scoreboard", "KV cache", "--record"])
    with pytest.raises(SystemExit):
        scoreboard.main()
    assert "nothing is recorded in fast mode" in capsys.readouterr().err
    monkeypatch.setattr(scoreboard, "run", lambda name, keep: row(name))
    assert scoreboard.main() == 0
    assert scoreboard_rows.read_rows(small / "recorded.json") == [row("KV cache")]
    assert not scoreboard_rows.own_file().exists() and "KV cache" in capsys.readouterr().out
    monkeypatch.setattr(sys, "argv", ["scoreboard", "no such"])
    with pytest.raises(SystemExit):
        scoreboard.main()
    assert "no row is called 'no such'" in capsys.readouterr().err


@pytest.mark.parametrize("block_size, policy", [(STRIP, "static"), (STRIP, "continuous"), (16, "")])
def test_an_engine_serves_all_of_w_within_its_budget(monkeypatch, block_size, policy):
    """Every request gets the tokens that it gets alone; the pool and the seats fit the budget."""
    model, _ = load("tiny", dtype="fp64")
    weights = sum(sum(kinds.values()) for kinds in model.weight_bytes().values())
    token = model.config.kv_bytes_per_token(8)
    budget = weights + 3 * STRIP * token + 1
    monkeypatch.setattr(scoreboard_engines, "BUDGET", budget)
    config_of = scoreboard_engines.in_blocks(block_size, policy or "continuous")
    config, jobs = config_of(model), workload.workload(model.config.vocab_size, 7)
    assert config.num_blocks == 3 * STRIP // block_size
    assert config.max_num_seqs == min(32, config.num_blocks)
    told = list(scoreboard_engines.batched(config_of)(model, jobs))
    counts = [sum(number == i for number, _ in told) for i in range(len(jobs))]
    assert counts == [job.answer for job in jobs]
    assert {held for _, held in told} == {config.num_blocks * block_size * token}
    together = any(a != b for (a, _), (b, _) in zip(told[:5], told[1:6]))
    assert together, "requests take turns: they are served at the same time"


PACKED = {"int8 weights": ("int8", "rtn"), "W8A8": ("w8a8", "rtn"),
          "int4 weights": ("int4", "rtn"), "int4 weights, GPTQ": ("int4", "gptq")}  # fmt: skip


@pytest.mark.parametrize("name", PACKED)
def test_a_row_of_few_bits_holds_what_its_name_says(name):
    """In packed words, head included; the scales that the packed operations read are 16 bit."""
    model, kind = load("tiny")[0], scoreboard.KINDS[name]
    scheme, method = PACKED[name]
    held = (kind.blank or kind.change)(model).weight_bytes()
    assert held["linear"].keys() == {scheme, "scale"} and held["head"].keys() == {"int8", "scale"}
    weights = sum(p.numel() for n, p in model.named_parameters() if p.dim() == 2) - 1024 * 256
    assert held["linear"][scheme] == weights * (1 if scheme in ("int8", "w8a8") else 0.5)
    assert (method == "gptq") == (kind.blank is not None), "GPTQ takes minutes on a large model"


def test_the_gptq_row_is_judged_on_rounding_that_looked_at_text(monkeypatch):
    """Were tiny rounded to nearest as well, the row would be that of int4 once more."""
    seen = []
    monkeypatch.setattr(scoreboard, "_quality", lambda *a: seen.append(a[2]) or (1.0, 1.0))
    monkeypatch.setattr(scoreboard, "_speed", lambda *a: seen.append(a[3]) or (1, 1.0, 1.0, 1.0))
    scoreboard.run("int4 weights, GPTQ", keep=False)
    kind = scoreboard.KINDS["int4 weights, GPTQ"]
    assert seen == [kind.change, kind.blank]
    model = load("tiny")[0]
    looked, nearest = kind.change(model), scoreboard.KINDS["int4 weights"].change(model)
    pairs = [
        (m.layers[0].mlp.down.codes(), m.layers[0].mlp.down.scales()) for m in (looked, nearest)
    ]
    assert (pairs[0][0] != pairs[1][0]).float().mean() > 0.05 and len(pairs[0][1]) == len(
        pairs[1][1]
    )


def test_the_pruned_row_has_half_of_its_weights_and_all_of_its_bytes():
    """Zeros in dense matrices: not a byte is saved, and the row must not say otherwise."""
    from minillm.compress.prune import sparsity_of

    model, kind = load("tiny")[0], scoreboard.KINDS["50% pruned"]
    for change in (kind.change, kind.blank):
        pruned = change(model)
        assert set(sparsity_of(pruned).values()) == {0.5}
        assert pruned.weight_bytes() == model.weight_bytes()
    by_size, mended = (m.layers[0].mlp.down.weight for m in (kind.blank(model), kind.change(model)))
    kept = (by_size != 0) & (mended != 0)
    original = model.layers[0].mlp.down.weight[kept]
    assert (by_size[kept] == original).all() and (mended[kept] != original).double().mean() > 0.5


def test_recorded_rows_stand_in_the_order_of_the_course(small, monkeypatch, capsys):
    monkeypatch.setattr(scoreboard, "run", lambda name, keep: row(name))
    monkeypatch.delenv("MINILLM_FAST")
    scoreboard_rows.keep_row(row("W8A8"), small / "recorded.json")
    scoreboard_rows.keep_row(row("mine"), small / "recorded.json")
    monkeypatch.setattr(sys, "argv", ["scoreboard", "int4 weights", "int8 weights", "--record"])
    assert scoreboard.main() == 0
    names = [r.name for r in scoreboard_rows.read_rows(small / "recorded.json")]
    assert names == ["int8 weights", "W8A8", "int4 weights", "mine"]


def test_the_shrunk_row_cuts_both_models_alike():
    """Speed on blank, quality on tiny: cut to other shares, the row would tell of two models."""
    from minillm.blank import blank_model

    whole, kind = load("tiny")[0].config, scoreboard.KINDS["shrunk"]
    before, small = blank_model(1024, size=30 * 10**6), kind.change(load("tiny")[0]).config
    after = kind.blank(before).config
    for name in ("num_heads", "mlp_width", "num_layers", "num_kv_heads"):
        whole_share = getattr(small, name) / getattr(whole, name)
        want = whole_share * getattr(before.config, name)
        assert abs(getattr(after, name) - want) <= (0.5 if name == "num_layers" else 1), name
    assert num_parameters(small) < 0.71 * num_parameters(whole)


def test_the_shrunk_row_runs_without_the_files_that_ship(monkeypatch, tmp_path):
    import importlib

    loading = importlib.import_module("minillm.load")
    monkeypatch.setattr(loading, "SHRUNK", tmp_path / "nothing")
    tiny = load("tiny")[0]
    small = scoreboard.shrunk_tiny(tiny)
    assert num_parameters(small.config) < 0.71 * num_parameters(tiny.config)
    kept = small.embedding.weight  # nothing was trained
    torch.testing.assert_close(kept, tiny.embedding.weight, atol=0, rtol=0)


def test_keep_makes_the_rows_your_own(small, monkeypatch, capsys):
    monkeypatch.delenv("MINILLM_FAST")
    monkeypatch.setattr(scoreboard, "_speed", lambda *a: (10**8, 0.5, 80.0, 300.0))
    monkeypatch.setattr(scoreboard, "_quality", lambda *a: (1.0, 1.0))
    monkeypatch.setattr(sys, "argv", ["scoreboard", "KV cache"])
    assert scoreboard.main() == 0 and not scoreboard_rows.own_file().exists()
    assert "Not kept: with --keep" in capsys.readouterr().out
    monkeypatch.setattr(sys, "argv", ["scoreboard", "KV cache", "--keep"])
    assert scoreboard.main() == 0 and "Not kept" not in capsys.readouterr().out
    assert [r.name for r in scoreboard_rows.read_rows(scoreboard_rows.own_file())] == ["KV cache"]
    assert not (small / "recorded.json").exists()
    monkeypatch.setenv("MINILLM_FAST", "1")
    with pytest.raises(SystemExit):
        scoreboard.main()


def test_a_long_run_says_how_long_from_the_recorded_speeds(small, monkeypatch, capsys):
    recorded = small / "recorded.json"
    assert scoreboard_rows.how_long(["a", "b"]) == "2 rows; name one to run only that"
    for name, total in (("a", 862 / 60), ("b", 862 / 120), ("c", 1.0)):
        scoreboard_rows.keep_row(row(name, total=total), recorded)
    assert "2 rows, 3 minutes or more" in scoreboard_rows.how_long(["a", "b"])
    assert "1 row, a minute or two" in scoreboard_rows.how_long(["a"])
    monkeypatch.setattr(scoreboard, "run", lambda name, keep: row(name))
    monkeypatch.setattr(sys, "argv", ["scoreboard"])
    assert scoreboard.main() == 0
    out, err = capsys.readouterr()
    assert f"{len(scoreboard.KINDS)} rows" in err and "TTFT p50: when half" in out
