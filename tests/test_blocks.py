"""BlockManager: a pool simulated token by token says what every block must hold."""

from __future__ import annotations

import random
import subprocess
import sys

import hypothesis.strategies as st
import pytest
from hypothesis import settings
from hypothesis.stateful import (
    RuleBasedStateMachine,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from minillm.cache.blocks import BlockManager


class Pool:
    """The K/V pool of a test: each slot keeps the whole text whose last token was written there."""

    def __init__(self, blocks: BlockManager):
        self.blocks, size = blocks, blocks.num_blocks
        self.slots = [[None] * blocks.block_size for _ in range(size)]

    def step(self, request, tokens, num_computed, end) -> bool:
        """Compute tokens num_computed .. end - 1; False if the pool is too small."""
        copies = self.blocks.grow(request, num_computed, end)
        if copies is None:
            return False
        for old, new in copies:
            self.slots[new] = list(self.slots[old])
        for place in range(num_computed, end):
            block, offset = divmod(place, self.blocks.block_size)
            self.slots[self.blocks.table(request)[block]][offset] = tuple(tokens[: place + 1])
        self.blocks.seal(request, tokens, end)
        return True

    def read(self, request, count) -> list:
        table, size = self.blocks.table(request), self.blocks.block_size
        return [self.slots[table[i // size]][i % size] for i in range(count)]


def start(pool, request, tokens) -> int:
    """match, then check that what it found is this text's beginning."""
    found = pool.blocks.match(request, tokens)
    assert found % pool.blocks.block_size == 0 and found < len(tokens)
    assert pool.read(request, found) == [tuple(tokens[: i + 1]) for i in range(found)]
    return found


class Machine(RuleBasedStateMachine):
    """Requests come, grow, share, split and go in any order; nobody ever reads a foreign token."""

    @rule(size=st.sampled_from([1, 2, 4]), count=st.integers(3, 12))
    @precondition(lambda self: not hasattr(self, "pool"))
    def build(self, size, count):
        self.pool = Pool(BlockManager(count, size))
        self.texts, self.done, self.next = {}, {}, 0

    ready = precondition(lambda self: hasattr(self, "pool"))

    @ready
    @rule(text=st.lists(st.integers(0, 1), min_size=1, max_size=14))
    def add(self, text):
        request, self.next = self.next, self.next + 1
        self.texts[request] = list(text)
        self.done[request] = start(self.pool, request, text)

    def pick(self, data):
        return data.draw(st.sampled_from(sorted(self.texts)))

    busy = precondition(lambda self: getattr(self, "texts", None))

    @busy
    @rule(data=st.data(), count=st.integers(1, 6))
    def advance(self, data, count):
        request = self.pick(data)
        text, done = self.texts[request], self.done[request]
        end = min(done + count, len(text))
        if end == done:  # all computed: the model writes a token
            text.append(data.draw(st.integers(0, 1)))
            end = done + 1
        before = (dict(self.pool.blocks.block_of), list(self.pool.blocks.free))
        if self.pool.step(request, text, done, end):
            self.done[request] = end
        else:
            assert before == (self.pool.blocks.block_of, list(self.pool.blocks.free))

    @busy
    @rule(data=st.data())
    def fork(self, data):
        request = self.pick(data)
        copy, self.next = self.next, self.next + 1
        done = data.draw(st.integers(0, self.done[request]))  # also from the middle
        self.pool.blocks.fork(request, copy, done)
        self.texts[copy], self.done[copy] = list(self.texts[request]), done

    @busy
    @rule(data=st.data())
    def release(self, data):
        request = self.pick(data)
        self.pool.blocks.release(request)
        del self.texts[request], self.done[request]

    @ready
    @rule()
    def forget(self):
        self.pool.blocks.forget()

    @ready
    @invariant()
    def everybody_reads_his_own_text(self):
        Machine.operations += 1
        self.pool.blocks.check()
        for request, text in self.texts.items():
            done = self.done[request]
            want = [tuple(text[: i + 1]) for i in range(done)]
            assert self.pool.read(request, done) == want


def test_twenty_thousand_random_operations_keep_every_invariant():
    Machine.operations = 0
    often = settings(max_examples=280, stateful_step_count=100, deadline=None, derandomize=True)
    run_state_machine_as_test(Machine, settings=often)
    assert Machine.operations >= 20_000


def manager(num_blocks=8, size=4, **options) -> BlockManager:
    return BlockManager(num_blocks, size, **options)


def computed(blocks, request, tokens) -> None:
    """Match, grow and seal a whole text."""
    found = blocks.match(request, tokens)
    assert blocks.grow(request, found, len(tokens)) is not None
    blocks.seal(request, tokens, len(tokens))


def test_a_full_hit_leaves_one_token_to_compute():
    blocks, tokens = manager(), list(range(8))  # exactly two blocks
    computed(blocks, "a", tokens)
    assert blocks.match("b", tokens) == 4
    assert blocks.match("c", [*tokens, 9]) == 8
    assert blocks.table("c") == blocks.table("a")


def test_an_evicted_block_is_not_found_by_its_old_name():
    blocks = manager(num_blocks=2)
    computed(blocks, "a", [1] * 8)
    blocks.release("a")
    computed(blocks, "b", [2] * 8)
    blocks.release("b")
    assert blocks.match("c", [1] * 9) == 0


def test_the_second_block_is_not_found_behind_another_first():
    blocks = manager()
    computed(blocks, "a", [1, 1, 1, 1, 7, 7, 7, 7, 0])
    assert blocks.match("b", [2, 2, 2, 2, 7, 7, 7, 7, 0]) == 0
    assert blocks.match("c", [1, 1, 1, 1, 7, 7, 7, 7, 0]) == 8


def test_other_extras_do_not_match():
    blocks, tokens = manager(), [1, 2, 3, 4, 5]
    blocks.match("a", tokens, extras=("adapter", 1))
    blocks.grow("a", 0, 5)
    blocks.seal("a", tokens, 5, extras=("adapter", 1))
    assert blocks.match("b", tokens) == blocks.match("c", tokens, ("adapter", 2)) == 0
    assert blocks.match("d", tokens, ("adapter", 1)) == 4


def test_nothing_is_named_before_its_step_ran():
    blocks, tokens = manager(), list(range(9))
    blocks.match("a", tokens)
    blocks.grow("a", 0, 9)
    assert blocks.match("b", tokens) == 0
    blocks.seal("a", tokens, 7)  # one full block is computed, the second is not
    assert blocks.match("c", tokens) == 4


def test_released_blocks_go_tail_first_and_empty_ones_before_cached_ones():
    blocks = manager(num_blocks=4, size=2)
    computed(blocks, "a", [1, 2, 3, 4, 5])  # two full blocks and a partial one
    first, second, partial = blocks.table("a")
    blocks.release("a")
    order = list(blocks.free)
    assert order.index(partial) < order.index(second) < order.index(first)
    assert blocks.match("b", [1, 2, 3, 4, 5]) == 4 and blocks.table("b") == [first, second]


def test_released_twice_is_an_error():
    blocks = manager()
    computed(blocks, "a", [1, 2])
    blocks.release("a")
    with pytest.raises(AssertionError, match="released twice"):
        blocks.release("a")
    blocks.check()


def test_the_pool_gives_all_or_nothing():
    blocks = manager(num_blocks=3, size=2)
    blocks.match("a", [0] * 7)
    assert blocks.grow("a", 0, 7) is None and blocks.table("a") == [] and blocks.num_free == 3
    assert blocks.grow("a", 0, 6) == [] and blocks.num_free == 0
    blocks.check()


def test_samples_of_one_prompt_share_it_and_copy_only_the_partial_block():
    blocks = manager()
    computed(blocks, "a", [1, 2, 3, 4, 5, 6])
    full, partial = blocks.table("a")
    blocks.fork("a", "b", 6)
    copies = blocks.grow("b", 6, 7)
    assert [old for old, _ in copies] == [partial] and blocks.table("b")[0] == full
    assert blocks.grow("a", 6, 7) == []  # its holder is alone again: nothing to copy
    assert blocks.num_free == 8 - 3


def test_without_prefix_caching_nothing_is_found():
    blocks = manager(prefix_caching=False)
    computed(blocks, "a", [1] * 9)
    assert blocks.match("b", [1] * 9) == 0 and not blocks.block_of


def test_a_write_into_a_sealed_block_is_an_error():
    blocks = manager()
    computed(blocks, "a", [1] * 8)
    with pytest.raises(AssertionError, match="sealed"):
        blocks.grow("a", 3, 9)


@pytest.mark.parametrize("num_blocks, size", [(0, 16), (4, 0), (-1, 1)])
def test_impossible_pools_are_refused(num_blocks, size):
    with pytest.raises(ValueError, match="at least 1"):
        BlockManager(num_blocks, size)


def corrupted(kind: str) -> BlockManager:
    blocks = manager(num_blocks=6, size=2)
    computed(blocks, "a", [1, 2, 3, 4, 5])
    blocks.fork("a", "b", 5)
    block = blocks.table("a")[0]
    if kind == "lost reference":
        blocks.refs[block] -= 1
    elif kind == "free and held":
        blocks.free[block] = None
    elif kind == "leak":
        blocks.free.popitem()
    elif kind == "twice in a table":
        blocks.table("a").append(block)
    elif kind == "stale name":
        blocks.hash_of[block] = b"another"
    elif kind == "name of nothing":
        blocks.block_of[b"new"] = block
    return blocks


@pytest.mark.parametrize("kind", [
    "lost reference", "free and held", "leak", "twice in a table", "stale name", "name of nothing",
])  # fmt: skip
def test_check_sees_every_kind_of_damage(kind):
    corrupted("none").check()
    with pytest.raises(AssertionError):
        corrupted(kind).check()


def test_names_are_equal_in_every_process():
    code = (
        "from minillm.cache.blocks import BlockManager as B\n"
        "b = B(4, 2); b.match(0, [1, 2, 3]); b.grow(0, 0, 3); b.seal(0, [1, 2, 3], 3)\n"
        "import sys; print([n.hex() for n in b.block_of], 'torch' in sys.modules)"
    )
    outs = {
        subprocess.run(
            [sys.executable, "-c", code], env={"PYTHONHASHSEED": s}, capture_output=True, text=True,
            check=True,
        ).stdout
        for s in ("1", "2")
    }  # fmt: skip
    assert len(outs) == 1 and "False" in outs.pop()


def test_a_long_random_life_returns_every_block():
    rng, pool, texts, done = random.Random(4), Pool(manager(40, 4)), {}, {}
    for step in range(6000):
        if len(texts) < 6 and rng.random() < 0.5:
            texts[step] = [rng.randrange(3) for _ in range(rng.randint(1, 30))]
            done[step] = start(pool, step, texts[step])
        elif texts:
            request = rng.choice(sorted(texts))
            end = min(len(texts[request]), done[request] + rng.randint(1, 9))
            if end > done[request] and pool.step(request, texts[request], done[request], end):
                done[request] = end
            else:
                pool.blocks.release(request)
                del texts[request], done[request]
        pool.blocks.check()
    for request in list(texts):
        pool.blocks.release(request)
    pool.blocks.check()
    assert pool.blocks.num_free == 40
