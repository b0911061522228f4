"""Check of 6.10: eight faulty and five sound allocators run the same operations.

What the learner's check gets is recorded before it is first called, as plain lists of allocators
without a name, in an order that only the judge makes again: it can look at nothing but numbers.
"""

import random
from collections import Counter

from exercises.grading import spec
from exercises.grading.judge import Wrong
from exercises.grading.spec import Exercise

EXERCISE = Exercise(
    id="6.10", title="A check that catches allocators", kind="break", entry="check",
    minutes=25, difficulty=4, torch=False,
    sizes=(
        {"block_size": 2, "operations": 12}, {"block_size": 3, "operations": 30},
        {"block_size": 4, "operations": 60},
    ),
    hints=(
        "4 blocks; free is [0, 3]; the tables are a: [1], b: [1, 2]. What must refs be? Which "
        "of your asserts would notice if refs[1] were 1, or if free were [0, 3, 3], or [0]?",
        "For every block: refs[b] = number of tables it stands in; b is in free exactly if that "
        "is 0, and once. For every request: len(table) * block_size >= tokens.",
        "holders = Counter(b for table in tables.values() for b in table)\n"
        "assert len(set(free)) == len(free)\n"
        "for b in range(num_blocks):\n"
        "    assert refs[b] == holders[b]\n"
        "    assert (b in free) == ____\n"
        "for request, table in tables.items():\n"
        "    assert len(table) * block_size >= lengths[request]",
    ),
)  # fmt: skip
NEEDED = 6
NO_TRACE = "a check returns nothing that could be compared: use explain, then hint"


class Sound:
    """A stack of free blocks; the sound ones and the faulty ones differ from it in one method."""

    def __init__(self, num_blocks, block_size):
        self.block_size = block_size
        self.free, self.refs = list(range(num_blocks)), [0] * num_blocks
        self.tables, self.lengths = {}, {}

    def take(self):
        block = self.free.pop()
        self.refs[block] = 1
        return block

    def need(self, tokens):
        return -(-tokens // self.block_size)

    def write(self, request):
        """One more token."""
        table = self.tables.setdefault(request, [])
        at = self.lengths[request] = self.lengths.get(request, 0) + 1
        while len(table) < self.need(at):
            table.append(self.take())
        self.own(table, (at - 1) // self.block_size)

    def own(self, table, place):
        if place < len(table) and self.refs[table[place]] > 1:
            self.refs[table[place]] -= 1
            table[place] = self.take()

    def fork(self, request, copy):
        self.lengths[copy] = self.lengths[request]
        filled = -(-self.lengths[copy] // self.block_size)  # what is reserved ahead stays its own
        self.tables[copy] = self.tables[request][:filled]
        for block in self.tables[copy]:
            self.refs[block] += 1

    def end(self, request):
        del self.lengths[request]
        for block in self.tables.pop(request):
            self.give_back(block)

    def give_back(self, block):
        self.refs[block] -= 1
        if self.refs[block] == 0:
            self.free.append(block)


class OldestFirst(Sound):
    def give_back(self, block):
        super().give_back(block)
        if self.refs[block] == 0:
            self.free.insert(0, self.free.pop())


class ReservesAhead(Sound):
    def need(self, tokens):
        return super().need(tokens + self.block_size)


class ReservesSeveral(Sound):
    def need(self, tokens):
        return super().need(tokens + 4 * self.block_size)


class JustEnough(Sound):
    """Its pool has not one block more than it needs: now and then none is free."""


class LosesTheLast(Sound):
    """when a request ends, its last block is lost: no table holds it and it is not free"""

    def end(self, request):
        last = self.tables[request][-1]
        super().end(request)
        if self.refs[last] == 0:
            self.free.remove(last)


class FreesTwice(Sound):
    """when a request ends, its first block gets into the free list twice"""

    def end(self, request):
        first = self.tables[request][0]
        super().end(request)
        if self.refs[first] == 0:
            self.free.append(first)


class FreesShared(Sound):
    """a block goes to the free list although another table still holds it"""

    def give_back(self, block):
        self.refs[block] -= 1
        self.free.append(block)


class KeepsTheCount(Sound):
    """a block goes to the free list and its reference count stays 1"""

    def give_back(self, block):
        super().give_back(block)
        if self.refs[block] == 0:
            self.refs[block] = 1


class ForkNotCounted(Sound):
    """a fork does not raise the reference counts"""

    def fork(self, request, copy):
        super().fork(request, copy)
        for block in self.tables[copy]:
            self.refs[block] -= 1


class OneBlockTwice(Sound):
    """a block is given away and stays in the free list"""

    def take(self):
        block = super().take()
        if len(self.free) % 3 == 0:
            self.free.append(block)
        return block


class OneShort(Sound):
    """a request with one token more than its blocks hold gets no new block for it"""

    def need(self, tokens):
        return max(1, tokens // self.block_size)


class WritesIntoShared(Sound):
    """two requests go on writing into the same shared block: nobody makes a copy"""

    def own(self, table, place):
        pass


SOUND = (Sound, OldestFirst, ReservesAhead, ReservesSeveral, JustEnough)
FAULTY = (
    LosesTheLast, FreesTwice, FreesShared, KeepsTheCount, ForkNotCounted, OneBlockTwice, OneShort,
    WritesIntoShared,
)  # fmt: skip


def make(rng, block_size, operations):
    """A text, a fork in the middle of a block, both write on, the first ends; then anything."""
    if block_size < 2:
        raise ValueError("blocks of 1 token have no middle: nobody writes into a shared one")
    n = block_size + 1
    todo = [("write", "a")] * n + [("fork", "a", "b"), ("write", "b"), ("write", "a")]
    todo += [("write", "c")] * n + [("fork", "c", "d"), ("end", "d"), ("end", "c"), ("end", "a")]
    live, names = {"b": n + 1}, [f"r{i}" for i in range(operations)]
    for _ in range(operations):
        kind = rng.choices(("write", "new", "fork", "end"), (8, 2, 1, 1))[0]
        one = rng.choice(sorted(live)) if live and kind != "new" else names.pop()
        if kind == "fork" and one in live and len(live) < 5:
            todo.append(("fork", one, other := names.pop()))
            live[other] = live[one]
        elif kind == "end" and one in live:
            todo.append(("end", one))
            del live[one]
        else:
            todo.append(("write", one))
            live[one] = live.get(one, 0) + 1
    return {"num_blocks": 6 * len(todo), "block_size": block_size, "operations": todo}


def shuffled(case):
    """All allocators, in an order of this case's own."""
    kinds = [*SOUND, *FAULTY]
    random.Random(repr(case["operations"])).shuffle(kinds)
    return kinds


def drive(answer, case):
    """-> for each allocator the first operation after which the check complained, or None."""
    return [first_complaint(answer, *history) for history in histories(case)]


def histories(case):
    """[(num_blocks, block_size, [state after each operation])], plain values without names."""
    recorded = []
    for kind in shuffled(case):
        num_blocks = case["num_blocks"]
        if kind is JustEnough:
            states = history(kind, num_blocks, case)
            num_blocks = max(sum(n > 0 for n in refs) for _, refs, _, _ in states)
        recorded.append((num_blocks, case["block_size"], history(kind, num_blocks, case)))
    return recorded


def history(kind, num_blocks, case):
    """The states of one allocator; shorter where it breaks down by itself."""
    allocator, states = kind(num_blocks, case["block_size"]), []
    for name, *requests in case["operations"]:
        try:
            getattr(allocator, name)(*requests)
        except (IndexError, ValueError):  # a broken allocator may break down before it is caught
            break
        tables = {request: list(table) for request, table in allocator.tables.items()}
        states.append((list(allocator.free), list(allocator.refs), tables, dict(allocator.lengths)))
    return states


def first_complaint(check, num_blocks, block_size, states):
    for number, state in enumerate(states):
        try:
            check(num_blocks, block_size, *state)
        except AssertionError:
            return number
    return None


def named(case, output):
    """{name of the allocator: its first complaint}, from what drive returned."""
    kinds = shuffled(case)
    ok = isinstance(output, list) and len(output) == len(kinds)
    if not ok or not all(n is None or type(n) is int for n in output):
        raise Wrong("6.10.form", "the check returns nothing and raises AssertionError", got=output)
    return {kind.__name__: number for kind, number in zip(kinds, output)}


def judge(case, output):
    output = named(case, output)
    for kind in SOUND:
        number = output[kind.__name__]
        if number is not None:
            name, *requests = case["operations"][number]
            raise Wrong(
                "6.10.rejects",
                "it complains about a sound allocator, after operation "
                f"{number + 1}, {name}({', '.join(requests)}): {_state(kind, case, number)}",
            )
    missed = [kind for kind in FAULTY if output[kind.__name__] is None]
    if len(FAULTY) - len(missed) < NEEDED:
        caught = f"it catches {len(FAULTY) - len(missed)} of {len(FAULTY)} faulty allocators"
        example = f"Not caught, for example: {missed[0].__doc__}"
        raise Wrong("6.10.missed", f"{caught}, {NEEDED} are asked for. {example}")


def remark(cases, outputs):
    """What stands beside "right": how many of the eight, and one that is not caught."""
    found = [named(case, output) for case, output in zip(cases, outputs)]
    missed = [kind for kind in FAULTY if any(one[kind.__name__] is None for one in found)]
    text = f"it catches {len(FAULTY) - len(missed)} of {len(FAULTY)} faulty allocators"
    return text + (f". Not caught, for example: {missed[0].__doc__}" if missed else "")


def told(case, output):
    """For explain: the complaints by name, and a state at which one is missing."""
    output, lines = named(case, output), []
    alarms = [output[kind.__name__] for kind in SOUND if output[kind.__name__] is not None]
    missed = [kind for kind in FAULTY if output[kind.__name__] is None]
    lines.append(f"complaints about {len(alarms)} of {len(SOUND)} sound allocators (wanted: 0)")
    lines.append(f"and about {len(FAULTY) - len(missed)} of {len(FAULTY)} faulty ones")
    if missed and not alarms:
        history = histories(case)[shuffled(case).index(missed[0])]
        number = first_complaint(spec.reference("6.10"), *history)
        name, *requests = case["operations"][number]
        lines.append(f"ours complains after operation {number + 1}, {name}({', '.join(requests)})")
        lines.append(f"of the faulty one that is named above: {_state(missed[0], case, number)}")
    return "\n".join(lines)


def _state(kind, case, number):
    """What the check saw there, in words."""
    num_blocks, block_size, states = histories(case)[shuffled(case).index(kind)]
    free, refs, tables, lengths = states[number]
    used = {b: n for b, n in enumerate(refs) if n}
    both = sorted({b for table in tables.values() for b in table}.intersection(free))
    double = sorted(b for b, count in Counter(free).items() if count > 1)
    lost = sorted(set(range(num_blocks)).difference(free, *tables.values()))
    odd = f", also {both} of the tables" * bool(both) + f", {double} twice" * bool(double)
    odd += f", and {lost} nowhere" * bool(lost)
    return (
        f"{num_blocks} blocks of {block_size}, tables {tables}, lengths {lengths}, "
        f"refs {used} (all others 0), {len(free)} entries in the free list{odd or ', once each'}"
    )
