"""Chapter 06: its exercises agree with the package, its pictures with the engine's own state."""

import random
import sys

import pytest
import torch

from exercises.desk.shrink import candidates
from exercises.grading import spec
from exercises.grading.judge import Wrong, normal
from minillm import LLM, EngineConfig, SamplingParams, show
from minillm.bench_serve_parts import waste_trace
from minillm.cache.blocks import BlockManager
from minillm.cache.paged import Batch, PagedCache, slots_of
from minillm.cache.simple import StripCache
from minillm.config import ModelConfig
from minillm.model import Transformer

MINE = [f"6.{k}" for k in (1, 2, 3, 4, 5, 6, 8, 9, 10)]
SHAPE = dict(family="llama", vocab_size=64, num_layers=1, num_heads=2, num_kv_heads=1)


@pytest.fixture(scope="module")
def thin():
    torch.manual_seed(0)
    config = ModelConfig(**SHAPE, width=32, mlp_width=64, head_size=16, max_len=1024)
    return Transformer(config).double()


def exactly(count, **more):
    return SamplingParams(max_tokens=count, ignore_eos=True, **more)


def test_waste_of_the_stated_trace(thin):
    """The claim of the chapter: reserve-max 60 to 80%, blocks of 16 under 4%, equal tokens."""
    jobs = waste_trace(64, 32)
    assert sum(len(job.prompt) + job.answer for job in jobs) / len(jobs) >= 200
    waste, wrote = {}, {}
    for size in (1024, 16):
        llm = LLM(thin, None, EngineConfig(size, 8192 // size, 32, prefix_caching=False))
        answers = llm.generate([list(j.prompt) for j in jobs], [exactly(j.answer) for j in jobs])
        waste[size], wrote[size] = llm.metrics.waste, [a.tokens for a in answers]
    assert 0.6 <= waste[1024] <= 0.8 and 0 < waste[16] < 0.04
    assert wrote[1024] == wrote[16]


def test_the_prediction_is_what_the_engine_measures(thin):
    """6.4's formula against metrics.waste, on the trace it asks about."""
    case, jobs = spec.cases("6.4", "")[0], waste_trace(64, 32)
    wanted = spec.reference("6.4")(**case)
    for size, want in zip((case["max_len"], case["large"], case["small"]), wanted):
        llm = LLM(thin, None, EngineConfig(size, 8192 // size, 32, prefix_caching=False))
        llm.generate([list(j.prompt) for j in jobs], [exactly(j.answer) for j in jobs])
        m = llm.metrics
        assert m.held_tokens / m.seat_steps == pytest.approx(case["mean"], rel=0.05)
        assert m.waste == pytest.approx(want, rel=0.1)


def running(thin, block_size=16, steps=5, **params):
    llm = LLM(thin, None, EngineConfig(block_size, 256 // block_size, 8, max_model_len=128))
    for length in (20, 37, 5) if not params else (20,):
        llm.add(list(range(1, length + 1)), exactly(30, **params))
    for _ in range(steps):
        llm.step()
    return llm


@pytest.mark.parametrize("block_size", [128, 16, 1])
def test_the_map_shows_what_the_engine_holds(thin, block_size):
    llm = running(thin, block_size)
    blocks = show.blocks_of(llm)
    assert len(blocks) == llm.blocks.num_blocks
    for request in llm.scheduler.running:
        own = [b for b in blocks if b.request == request.id]
        assert sum(b.filled for b in own) == request.num_computed
        assert len(own) == len(llm.blocks.table(request.id))
    assert sum(b.request is None for b in blocks) == llm.blocks.num_free
    alt = show.pool_map(blocks).alt
    held = sum(r.num_computed for r in llm.scheduler.running)
    room = (len(blocks) - llm.blocks.num_free) * block_size
    assert f"{held} of {room} reserved slots" in alt


def test_shared_blocks_show_their_count(thin):
    blocks = show.blocks_of(running(thin, steps=4, n=3, temperature=1.0, seed=1))
    shared = [b for b in blocks if b.references > 1]
    assert [(b.references, b.filled) for b in shared] == [(3, 16)]
    alt = show.pool_map(blocks).alt
    assert "3 owners" in alt and "1 block is shared" in alt
    alone = [show.Block(7, 4, 4, 4), show.Block(None, 0, 4, 0)]  # all of it shared by four
    assert "4 owners" in show.pool_map(alone, columns=8).alt


def test_a_row_of_the_map_ends_between_blocks():
    with pytest.raises(ValueError, match="rows of 64"):
        show.pool_map([show.Block(0, 1, 48)] * 4)


def test_the_slider_draws_each_size_from_its_own_engine(thin):
    widget = show.block_size_slider(lambda size: running(thin, size), (128, 16, 1))
    assert widget.static == (128, 16, 1)
    assert [f"{256 // p} blocks of {p} slots" in widget.frame(p).alt for p in (128, 16, 1)]


def test_slots_are_those_of_the_package():
    table, size = [9, 2, 7], 4
    got = spec.reference("6.3")([(table, 3, 8)], size)
    assert got == slots_of(torch.tensor(table), 11, size).tolist()[3:]


@pytest.mark.parametrize("exercise_id", ["6.5", "6.9"])
def test_paged_attention_is_the_packages_and_a_strips(exercise_id):
    rng, lengths, P = random.Random(exercise_id), (9, 1, 4), 4
    config = ModelConfig(**SHAPE | {"num_heads": 6, "num_kv_heads": 2}, width=30, mlp_width=8,
                         head_size=4, max_len=32)  # fmt: skip
    cache = PagedCache(config, 8, P)
    cache.kv.fill_(torch.nan)
    table_SM = torch.tensor([[6, 1, 4], [3, 0, 0], [5, 2, 2]])
    q, k, v = (normal(rng, 3, heads, 4) for heads in (6, 2, 2))
    want = []
    for s, length in enumerate(lengths):
        strip = StripCache(config, max_len=length)
        if length > 1:
            old = [normal(rng, length - 1, 2, 4) for _ in range(2)]
            cache.write(0, slots_of(table_SM[s], length - 1, P), *old)
            strip.attend(0, normal(rng, length - 1, 6, 4), *old)
        want.append(strip.attend(0, q[s : s + 1], k[s : s + 1], v[s : s + 1]))
    last = torch.tensor([int(slots_of(t, n, P)[-1]) for t, n in zip(table_SM, lengths)])
    batch = Batch(last, table_SM, torch.tensor(lengths), (1, 1, 1), 3)
    view = cache.at(batch).attend(0, q, k, v)
    pools = [cache.kv[0, half].view(8, P, 2, 4) for half in (0, 1)]
    answer = spec.reference(exercise_id)
    got = answer(q, *pools, table_SM, batch.len_S, config.attention_scale)
    torch.testing.assert_close(got, view)
    torch.testing.assert_close(got, torch.cat(want))


def test_merged_parts_are_the_softmax_of_the_whole():
    merge, check = spec.reference("6.6"), spec.check_of("6.6")
    scores, values = torch.tensor([[2.0, 1.0, 5.0, 3.0]]), torch.tensor([1.0, 2.0, 3.0, 4.0])
    halves = [check.triple(scores[:, h], values[h, None, None]) for h in (slice(2), slice(2, 4))]
    _, total, acc = merge(*halves)
    torch.testing.assert_close(acc[0, 0] / total[0], (scores[0].softmax(0) * values).sum())


def test_copy_on_write_is_the_block_managers():
    """The same calls to 6.2's reference and to BlockManager: equal counts, equal numbers free."""
    case = spec.cases("6.2", "any")[3]
    ours = spec.reference("6.2")(case["num_blocks"], case["block_size"])
    theirs = BlockManager(case["num_blocks"], case["block_size"], prefix_caching=False)
    lengths = {}
    for name, one, *rest in case["calls"]:
        found = getattr(ours, name)(one, *rest)
        if name == "fork":
            theirs.fork(one, rest[0], lengths[one])
            lengths[rest[0]] = lengths[one]
        elif name == "release":
            theirs.release(one)
            del lengths[one]
        else:
            if one not in theirs.holdings:
                theirs.match(one, [])
            copies = theirs.grow(one, rest[0], rest[0] + 1)
            lengths[one] = rest[0] + 1
            assert len(copies) == (found is not None)
        assert len(ours.free) == theirs.num_free
        assert sorted(ours.refs) == sorted(theirs.refs)
        theirs.check()


def test_the_packages_check_would_pass_exercise_6_10():
    """Our own check() on the states of the eight: 6 caught; it knows no lengths."""
    check, case = spec.check_of("6.10"), spec.cases("6.10", "any")[1]

    def package(num_blocks, block_size, free, refs, tables, lengths):
        manager = BlockManager(num_blocks, block_size, prefix_caching=False)
        manager.free, manager.refs = dict.fromkeys(free), refs
        for request, table in tables.items():
            manager.match(request, [])
            manager.holdings[request].table = table
        assert len(manager.free) == len(free), "a block twice: a dict cannot hold it"
        manager.check()

    output = check.drive(package, case)
    found = check.named(case, output)
    assert all(found[kind.__name__] is None for kind in check.SOUND)
    missed = {kind.__name__ for kind in check.FAULTY if found[kind.__name__] is None}
    assert missed == {"OneShort", "WritesIntoShared"}
    check.judge(case, output)


def test_nothing_but_numbers_reaches_the_check_of_6_10():
    """A check that looks through the grader's frames finds no allocator and no name of one."""
    check, case = spec.check_of("6.10"), spec.cases("6.10", "any")[0]
    names, seen = {kind.__name__ for kind in check.SOUND + check.FAULTY}, []

    def peeking(*state):
        frame = sys._getframe(1)
        while frame is not None and frame.f_code.co_filename == check.__file__:
            for value in frame.f_locals.values():
                seen.append(type(value).__name__)
                seen.append(getattr(value, "__name__", ""))
            frame = frame.f_back
        assert not names & set(seen)

    check.drive(peeking, case)
    assert seen and not names & set(seen)


@pytest.mark.parametrize("seed", range(5))
def test_every_planted_allocator_breaks_something_in_every_case(seed):
    """The reference catches all eight, whatever the seed, so none of them is there for show."""
    check = spec.check_of("6.10")
    for case in spec.cases("6.10", f"seed {seed}"):
        found = check.named(case, check.drive(spec.reference("6.10"), case))
        assert None not in [found[kind.__name__] for kind in check.FAULTY]


@pytest.mark.parametrize("exercise_id, variant", [
    (f"6.{k}", f"ex{k}{v}") for k in (8, 9) for v in ("", "_b", "_c", "_d")
])  # fmt: skip
def test_every_variant_of_the_hunts_is_a_fault(exercise_id, variant):
    path = spec.file_of(exercise_id, "fresh").with_name(f"{variant}.py")
    answer = getattr(spec.load_module(path), spec.get(exercise_id).entry)
    check, caught = spec.check_of(exercise_id), 0
    for case in spec.cases(exercise_id, "any"):
        try:
            check.judge(case, spec.drive(exercise_id, answer, case))
        except Wrong:
            caught += 1
    assert caught >= 2


@pytest.mark.parametrize("exercise_id", [i for i in MINE if i != "6.4"])
def test_smaller_inputs_come_to_an_end(exercise_id):
    """What `explain` tries: every smaller size is a question that has an answer, or is refused."""
    made = 0
    for size in candidates(spec.get(exercise_id).sizes)[:120]:
        try:
            case = spec.check_of(exercise_id).make(random.Random(0), **size)
        except ValueError:
            continue
        output = spec.drive(exercise_id, spec.reference(exercise_id), case)
        if hasattr(spec.check_of(exercise_id), "judge"):
            spec.check_of(exercise_id).judge(case, output)
        made += 1
    assert made >= 3


def test_a_break_that_was_not_touched_is_named_as_what_was_given():
    """And a check that catches nothing is told which fault it missed, in words."""
    from exercises.grading.runner import grade

    report = grade("6.10", spec.file_of("6.10", "fresh"), seed="any")
    assert (report.status, report.equals) == ("wrong", "fresh")
    assert "Not caught, for example: when a request ends" in report.message
    check, case = spec.check_of("6.10"), spec.cases("6.10", "any")[0]
    with pytest.raises(Wrong, match="complains about a sound allocator") as caught:
        check.judge(case, check.drive(spec.variants("6.10", "wrong")["forbids_sharing"], case))
    assert "tables {'a'" in str(caught.value)


def test_a_check_of_6_10_that_is_right_is_right_on_every_small_input_too():
    """explain shrinks the sizes: blocks of 1 token show fewer faults, so there are none."""
    check = spec.check_of("6.10")
    with pytest.raises(ValueError, match="no middle"):
        check.make(random.Random(0), 1, 12)
    for size in candidates(spec.get("6.10").sizes)[:40]:
        if size["block_size"] > 1:
            case = check.make(random.Random(0), **size)
            for answer in spec.variants("6.10", "right").values():
                check.judge(case, check.drive(answer, case))


def test_right_in_6_10_says_how_many_are_caught():
    from exercises.grading.runner import grade

    path = spec.file_of("6.10", "right")
    report = grade("6.10", path, entry="six_of_eight", seed="any")
    assert report.ok and "it catches 6 of 8 faulty allocators. Not caught" in report.message
    report = grade("6.10", spec.file_of("6.10", "reference"), seed="any")
    assert report.message.endswith("it catches 8 of 8 faulty allocators")


@pytest.mark.parametrize("exercise_id", ["6.1", "6.2", "6.8"])
def test_calls_can_be_left_out_and_are_told_as_python(exercise_id):
    check, case = spec.check_of(exercise_id), spec.cases(exercise_id, "any")[1]
    count = len(case["calls"])
    shorter = spec.made(exercise_id, "any", 1, spec.get(exercise_id).sizes[1] | {
        "keep": (1, tuple(range(count // 2)))})  # fmt: skip
    check.judge(shorter, check.drive(spec.reference(exercise_id), shorter))
    assert check.steps(shorter) == check.steps(case)[: count // 2]
    names = {"answer": spec.reference(exercise_id)}
    exec("\n".join(check.calls(case, "answer")), names)  # the cell of explain


def test_calls_that_the_statement_forbids_are_not_left_behind():
    case = {"num_blocks": 4, "block_size": 2, "calls": [
        ("write", "a", 0), ("write", "a", 1), ("finish", "a"), ("abort", "a")]}  # fmt: skip
    shorten = spec.check_of("6.8").shorten
    assert len(shorten(case, (0, 2, 3))["calls"]) == 3
    for keep in ((1, 2), (2, 3)):
        with pytest.raises(ValueError, match="cannot come here"):
            shorten(case, keep)
    case = {"num_blocks": 2, "calls": [("allocate", 2), ("allocate", 1), ("release", 1, "")]}
    assert spec.check_of("6.1").shorten(case, (1, 2))["calls"] == [
        ("allocate", 1), ("release", 0, "")]  # fmt: skip
    with pytest.raises(ValueError, match="never allocated"):
        spec.check_of("6.1").shorten(case, (0, 2))


def test_the_fault_names_its_call():
    for exercise_id, name in (("6.1", "same_list_twice"), ("6.2", "fork_not_counted")):
        case = spec.cases(exercise_id, "any")[2]
        output = spec.drive(exercise_id, spec.variants(exercise_id, "wrong")[name], case)
        with pytest.raises(Wrong) as caught:
            spec.check_of(exercise_id).judge(case, output)
        text = spec.check_of(exercise_id).steps(case)[caught.value.at]
        assert f"call {caught.value.at + 1}, {text.split('(')[0]}(" in str(caught.value)
