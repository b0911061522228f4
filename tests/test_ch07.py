"""Chapter 07: its exercises' references agree with the engine, which other tests prove."""

import contextlib
import io
import random
import re

import pytest

from exercises.grading import spec
from minillm import show
from minillm.cache.blocks import BlockManager
from minillm.clock import VirtualClock, batch_cost
from minillm.config import EngineConfig, ModelConfig
from minillm.engine.request import Request
from minillm.engine.scheduler import Scheduler

LETTERS = "ABCDEFGHIJ"


def request(number, tokens, max_tokens=8, extras=()):
    tokens = [0] * tokens if isinstance(tokens, int) else list(tokens)
    return Request(number, tokens, len(tokens), max_tokens, frozenset(), extras=extras)


def scheduler_of(num_blocks, block_size=4, **config):
    blocks = BlockManager(num_blocks, block_size, config.pop("prefix_caching", False))
    return Scheduler(EngineConfig(**config), blocks, 10_000)


def run(scheduler, plan):
    """Commit a plan whose model always says 0."""
    return scheduler.commit(plan, {r.id: 0 for r, _ in plan.items})


@pytest.mark.parametrize("seed", range(20))
def test_equal_names_are_what_the_block_manager_shares(seed):
    rng, names_of = random.Random(seed), spec.reference("7.1")
    size, few = rng.choice((1, 2, 3)), lambda n: [rng.randrange(2) for _ in range(n)]
    blocks = BlockManager(64, size)
    one, two = few(rng.randrange(6, 14)), few(rng.randrange(6, 14))
    extras = [rng.choice("xy") for _ in range(2)]
    blocks.match("one", one, extras[0])
    blocks.grow("one", 0, len(one))
    blocks.seal("one", one, len(one), extras[0])
    found = blocks.match("two", two, extras[1])
    pairs = zip(names_of(one, size, extras[0]), names_of(two, size, extras[1]))
    same = 0
    for a, b in pairs:
        if a != b:
            break
        same += 1
    assert found == min(same, (len(two) - 1) // size) * size
    known = dict(zip(map(tuple, _beginnings(one, size)), blocks.table("one")))
    if extras[0] == extras[1]:
        shared, compute = spec.reference("7.6")(two, known, size)
        assert shared == blocks.table("two") and len(compute) == len(two) - found


def _beginnings(tokens, size):
    return [tokens[:end] for end in range(size, len(tokens) + 1, size)]


@pytest.mark.parametrize("seed", range(20))
def test_names_are_equal_exactly_where_everything_before_is(seed):
    rng, names_of = random.Random(seed), spec.reference("7.1")
    size = rng.choice((1, 2, 3))
    texts = [([rng.randrange(2) for _ in range(rng.randint(0, 13))], rng.choice("xy"))
             for _ in range(6)]  # fmt: skip
    whole = [(t[:end], e) for t, e in texts for end in range(size, len(t) + 1, size)]
    names = [name for tokens, extras in texts for name in names_of(tokens, size, extras)]
    assert len(names) == len(whole)
    for i, one in enumerate(whole):
        assert [names[i] == name for name in names] == [one == other for other in whole]


@pytest.mark.parametrize("seed", range(30))
def test_a_plan_is_the_schedulers(seed):
    """From a state in which old and young requests write and catch up."""
    rng, plan_step = random.Random(seed), spec.reference("7.2")
    budget, seats = rng.choice((1, 3, 8, 30)), rng.randint(5, 9)
    scheduler = scheduler_of(500, max_batch_tokens=1000, max_num_seqs=5)
    for number in range(9):
        scheduler.add(request(number, rng.randint(2, 25), 30))
    run(scheduler, scheduler.schedule())
    for r in scheduler.running:
        r.tokens += [0] * rng.choice((0, 0, 4, 9))
    scheduler.config = EngineConfig(max_batch_tokens=budget, max_num_seqs=seats)
    running = [(r.id, r.pending) for r in scheduler.running]
    waiting = [(r.id, r.pending) for r in scheduler.waiting]
    want = plan_step(running, waiting, budget, seats)
    got = [(r.id, count) for r, count in scheduler.schedule().items]
    # the engine sorts pieces of one token to the front, wherever they come from
    assert got == sorted(want, key=lambda item: item[1] > 1)


@pytest.mark.parametrize("seed", range(30))
def test_the_victims_are_the_schedulers(seed):
    """Requests with shared beginnings grow until the pool is full."""
    rng, make_room = random.Random(seed), spec.reference("7.3")
    scheduler = scheduler_of(24, 2, prefix_caching=True)
    blocks, head, seen = scheduler.blocks, [7] * 9, 0
    scheduler.add(request(0, head + [0], 20))
    run(scheduler, scheduler.schedule())
    for number in range(1, 5):
        own = [rng.randrange(90) for _ in range(rng.randint(1, 6))]
        mine = head if number < 3 else [8] * 9  # the last two share what the others do not
        scheduler.add(request(number, mine[: rng.choice((4, 8))] + own, 20))
    while not seen:
        before = {r.id: list(blocks.table(r.id)) for r in scheduler.running}
        free = blocks.num_free
        pending = {r.id: (r.num_computed, r.pending) for r in scheduler.running}
        plan = scheduler.schedule()
        if not plan.preempted:
            run(scheduler, plan)
            continue
        victims = [r.id for r in plan.preempted]
        seen, left, want = 1, dict(before), []
        for who, (computed, more) in pending.items():
            if who not in left:
                continue
            need = blocks.blocks_for(computed + more) - len(left[who])
            gone = make_room(who, need, left, free)
            want += gone
            kept = {b for name in left if name not in gone for b in left[name]}
            free += len({b for name in gone for b in left[name]} - kept)
            left = {name: table for name, table in left.items() if name not in gone}
            if who in left:
                free -= need
                left[who] = left[who] + [f"new {who} {i}" for i in range(need)]
        assert victims == want


def test_a_shared_beginning_on_the_paper_gpu():
    """The formula of 7.5 against the scheduler, whole blocks, attention and launches."""
    sizes = dict(num_layers=32, width=4096, mlp_width=11008, vocab_size=32000, max_len=4096)
    heads = dict(num_heads=32, num_kv_heads=32, head_size=128)
    llama = ModelConfig(family="llama", **sizes, **heads)
    for case in (spec.cases("7.5", f"student {n}")[0] for n in range(5)):
        for share, want in zip((0, 0.5, 0.9), spec.reference("7.5")(**case)):
            got = 1e3 * _ttft(llama, case["prompt"], share)
            assert got == pytest.approx(want, rel=0.1)


def _ttft(config, length, share):
    scheduler = scheduler_of(300, 16, prefix_caching=True, max_batch_tokens=4096)
    clock, rng = VirtualClock(), random.Random(length)
    draw = lambda n: [rng.randrange(999) for _ in range(n)]
    text, cut = draw(length), int(length * share)
    for number, tokens in enumerate((text, text[:cut] + draw(length - cut))):
        start = clock.now
        scheduler.add(request(number, tokens, 1))
        plan = scheduler.schedule()
        clock.charge(batch_cost(config, [(n, r.num_computed + n) for r, n in plan.items], 2, 2))
        run(scheduler, plan)
    return clock.now - start


@pytest.mark.parametrize("seed", range(20))
def test_what_the_queue_refuses_the_engine_refuses(seed):
    rng = random.Random(seed)
    num_blocks, size = rng.randint(1, 6), rng.randint(1, 5)
    refused = []
    for make in (lambda: spec.reference("7.8")(num_blocks, size), lambda: None):
        queue, told, draw = make(), [], random.Random(seed)
        for number in range(20):
            prompt, answer = draw.randint(1, 20), draw.randint(1, 12)
            try:
                if queue is None:
                    scheduler_of(num_blocks, size).add(request(number, prompt, answer))
                else:
                    queue.add(LETTERS[0], prompt, answer)
            except ValueError:
                told.append(number)
        refused.append(told)
    assert refused[0] == refused[1]


@pytest.mark.parametrize("exercise_id", ["7.6", "7.7", "7.8"])
def test_every_variant_of_a_hunt_is_caught_with_every_seed(exercise_id):
    from exercises.grading.judge import Wrong

    check, path = spec.check_of(exercise_id), spec.file_of(exercise_id, "fresh")
    for variant in [path, *path.parent.glob(f"{path.stem}_*.py")]:
        answer = getattr(spec.load_module(variant), spec.get(exercise_id).entry)
        for seed in range(8):
            caught = 0
            for case in spec.cases(exercise_id, f"seed {seed}"):
                try:
                    check.judge(case, spec.drive(exercise_id, answer, case))
                except Wrong:
                    caught += 1
            assert caught, f"{variant.name}, seed {seed}"


def test_plans_as_values_and_those_of_a_learners_scheduler():
    jobs = [(9, 3), (21, 2), (4, 5), (6, 2)]
    scheduler, want = scheduler_of(100, max_batch_tokens=8, max_num_seqs=3), []
    for number, (read, write) in enumerate(jobs):
        scheduler.add(request(number, read, write))
    while scheduler.waiting or scheduler.running:
        plan = scheduler.schedule()
        want.append(show.planned(plan))
        run(scheduler, plan)
    got = show.plans_of(spec.reference("7.2"), jobs, budget=8, seats=3)
    assert got == want
    assert str(want[0]) == "A 8..." and sum(p.num_tokens for p in want) == 9 + 21 + 4 + 6 + 8
    endless = show.plans_of(lambda *_: [], jobs, budget=8)
    assert len(endless) == 200 and str(endless[0]) == "nothing"


def test_pictures_say_who_gives_way_and_what_is_shared():
    steps = [show.Planned(((0, 5, True), (1, 4, False))), show.Planned(((0, 1, True),), (1,))]
    assert show.life_lines(steps).alt.endswith("Preempted: B in step 1.")
    assert "tokens in each step 9, 1" in show.step_tokens({"a": steps}).alt
    said = show.prefix_tree({0: [3, 7], 1: [3, 8], 2: [4]}).alt
    assert said == "3 requests, 4 blocks. Shared: block 3 by A B."


def transcript(exercise_id, case):
    """What the calls print that `explain` offers for this case, made on our answer."""
    lines = "\n".join(spec.check_of(exercise_id).calls(case, "answer"))
    with contextlib.redirect_stdout(io.StringIO()) as said:
        exec(lines, {"answer": spec.reference(exercise_id)})
    return said.getvalue()


@pytest.mark.parametrize("exercise_id", ("7.1", "7.4", "7.7", "7.8"))
def test_the_calls_that_explain_offers_are_those_of_the_check(exercise_id):
    answer = spec.reference(exercise_id)
    for case in spec.cases(exercise_id, "x"):
        want, said = spec.drive(exercise_id, answer, case), transcript(exercise_id, case)
        if exercise_id == "7.1":
            assert said == "".join(f"{t} {n}\n" for (t, _), n in zip(case["texts"], *want.values()))
        elif exercise_id == "7.4":
            pieces = [line.split("]")[0].count(",") + 1 for line in said.splitlines()]
            assert pieces == want["computed in each step"]
        elif exercise_id == "7.7":
            assert said.count("'found'") == str(want).count("'hit'") > 0
            assert said.count("'new'") == str(want).count("'new'")
        else:
            assert said.count("refused: ") == list(want.values()).count("refused")
            ended = [(n, f) for n, f in want.items() if f.startswith("finished")]
            assert ended and all(re.search(f"{f}: .*'{n}'", said) for n, f in ended)


def test_letters_of_a_small_question_stand_in_order_and_of_a_large_one_not_always():
    tables = [list(case["tables"]) for seed in range(5) for case in spec.cases("7.3", seed)]
    assert all(names == sorted(names) for names in tables if len(names) <= 3)
    assert any(names != sorted(names) for names in tables)
