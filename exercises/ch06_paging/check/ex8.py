"""Check of 6.8: a seeded list of calls; no slot may hold two tokens, no block may be lost."""

from collections import Counter

from exercises.grading.judge import Wrong
from exercises.grading.spec import Exercise

EXERCISE = Exercise(
    id="6.8", title="Somebody else's words", kind="hunt", entry="Server",
    minutes=20, difficulty=3, torch=False,
    sizes=(
        {"block_size": 1, "calls": 1}, {"block_size": 2, "calls": 20},
        {"block_size": 3, "calls": 30}, {"block_size": 4, "calls": 60},
    ),
    hints=(
        "Two requests get the same block: then it was in the free list twice. Print len(self.free) "
        "after every call. After which call is it larger than it can be?",
        "A block is in the free list or in one table, never in both and never twice. So each "
        "method that frees blocks must also take them out of the table.",
        "self.free.extend(self.tables.____(request))   # or: del table[keep:]",
    ),
)  # fmt: skip


def make(rng, block_size, calls):
    """First each way to end, one after another, and new requests that would meet in one block."""
    n = block_size + 1
    write = lambda name, start, end: [("write", name, i) for i in range(start, end)]
    pairs = [[c for i in range(2 * n) for c in (("write", f"{x}1", i), ("write", f"{x}2", i))]
             for x in "abcd"]  # fmt: skip
    todo = [*write("a", 0, n), ("finish", "a"), ("abort", "a"), *pairs[0]]
    todo += [*write("b", 0, n), ("abort", "b"), ("abort", "b"), ("abort", "new"), *pairs[1]]
    todo += [*write("c", 0, 3 * n), ("rewind", "c", n - 1), ("finish", "c"), *pairs[2]]
    todo += [*write("d", 0, n), ("preempt", "d"), *pairs[3], *write("d", 0, n)]
    lengths = {f"{x}{i}": 2 * n for x in "abcd" for i in (1, 2)} | {"d": n}
    ended, names = ["a", "b", "c"], [f"r{i}" for i in range(calls)]
    for _ in range(calls):
        if len(lengths) < 5:
            lengths[names.pop()] = 0
        one = rng.choice(sorted(lengths))
        kind = rng.choices(("write", "rewind", "preempt", "finish", "abort", "late"),
                           (10, 2, 1, 1, 1, 1))[0]  # fmt: skip
        if kind == "late":
            todo.append(("abort", rng.choice(ended)))
        elif kind == "write" or not lengths[one]:
            end = lengths[one] + rng.randrange(1, 2 * block_size + 1)
            todo += write(one, lengths[one], end)
            lengths[one] = end
        elif kind in ("rewind", "preempt"):
            lengths[one] = rng.randrange(lengths[one]) if kind == "rewind" else 0
            todo.append((kind, one, lengths[one]) if kind == "rewind" else (kind, one))
        else:
            todo.append((kind, one))
            ended.append(one)
            del lengths[one]
    todo += [("abort", one) for one in sorted(lengths)]
    return {"num_blocks": len(todo), "block_size": block_size, "calls": todo}


def drive(answer, case):
    """-> for each call (what came back, the free blocks)."""
    server, trace = answer(case["num_blocks"], case["block_size"]), []
    for name, *arguments in case["calls"]:
        found = getattr(server, name)(*arguments)
        trace.append([found if name == "write" else None, sorted(server.free)])
    return trace


def judge(case, output):
    size, texts, owner = case["block_size"], {}, {}  # request -> slots; slot -> (request, token)
    for number, (call, (slot, free)) in enumerate(zip(case["calls"], output, strict=True)):
        (name, one, *rest) = call
        at = f"call {number + 1}, {name}({', '.join(map(repr, call[1:]))})"
        if name == "write":
            if type(slot) is not int or not 0 <= slot < case["num_blocks"] * size:
                raise Wrong("6.8.slot", f"{at} gave no slot of the pool", got=slot)
            if slot in owner:
                other, token = owner[slot]
                raise Wrong("6.8.two", f"{at} gave slot {slot}: token {token} of {other!r} lies "
                            "there, and is still needed")  # fmt: skip
            texts.setdefault(one, []).append(slot)
            owner[slot] = (one, rest[0])
        else:
            keep = rest[0] if name == "rewind" else 0
            for slot in texts.get(one, [])[keep:]:
                del owner[slot]
            texts[one] = texts.get(one, [])[:keep]
        _free(case["num_blocks"], {s // size for s in owner}, free, at)


def _free(num_blocks, used, free, at):
    double = [block for block, count in Counter(free).items() if count > 1]
    if double:
        raise Wrong("6.8.double", f"after {at}: block {double[0]} is in the free list twice")
    both = sorted(used.intersection(free))
    if both:
        raise Wrong("6.8.both", f"after {at}: block {both[0]} is in use and in the free list")
    if len(free) != num_blocks - len(used):
        raise Wrong("6.8.lost", f"after {at}: blocks are neither free nor in use", None,
                    f"{num_blocks - len(used)} free", f"{len(free)} free")  # fmt: skip
