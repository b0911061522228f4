"""Check of 6.8: a seeded list of calls; no slot may hold two tokens, no block may be lost."""

from collections import Counter

from exercises.grading.judge import Wrong
from exercises.grading.spec import Exercise

EXERCISE = Exercise(
    id="6.8", title="Somebody else's words", kind="hunt", entry="Server",
    minutes=20, difficulty=3, torch=False,
    sizes=(
        {"block_size": 1, "calls": 1}, {"block_size": 2, "calls": 3},
        {"block_size": 2, "calls": 20},
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


def ways_to_end(n):
    """For each fault of a variant: calls that show it, and who lives after them with how much."""
    write = lambda name, start, end: [("write", name, i) for i in range(start, end)]
    both = lambda x: [c for i in range(n) for c in (("write", f"{x}1", i), ("write", f"{x}2", i))]
    live = lambda x: {f"{x}1": n, f"{x}2": n}
    yield [*write("a", 0, n), ("finish", "a"), ("abort", "a"), *both("a")], live("a")
    twice = [("abort", "b"), ("abort", "b"), ("abort", "new")]
    yield [*write("b", 0, n), *twice, *both("b")], live("b")
    back = [("rewind", "c", 3 * n), ("rewind", "c", n - 1), ("finish", "c")]
    yield [*write("c", 0, 3 * n), *back, *both("c")], live("c")
    again = write("d", 0, n)
    yield [*write("d", 0, n), ("preempt", "d"), *both("d"), *again], live("d") | {"d": n}


def make(rng, block_size, calls):
    """First each way to end (with up to 4 calls only one of them), then anything."""
    write = lambda name, start, end: [("write", name, i) for i in range(start, end)]
    ways = list(ways_to_end(block_size + 1))
    todo, lengths, ended, names = [], {}, ["new"], [f"r{i}" for i in range(calls)]
    for calls_of_way, live in [ways[calls - 1]] if calls <= 4 else ways:
        todo += calls_of_way
        lengths |= live
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
            lengths[one] = rng.randint(0, lengths[one]) if kind == "rewind" else 0
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


LIST, LABELS = "calls", ("", "free")


def shorten(case, keep):
    """Only these calls, where they are calls that the statement allows."""
    calls, lengths, ended = [case["calls"][place] for place in keep], {}, set()
    for name, one, *rest in calls:
        length = lengths.get(one, 0)
        sound = {
            "write": rest == [length], "rewind": length and rest and rest[0] <= length,
            "preempt": length, "finish": length, "abort": True,
        }  # fmt: skip
        if not sound[name] or one in ended and name != "abort":
            raise ValueError(f"{name} of {one!r} cannot come here")
        lengths[one] = length + 1 if name == "write" else rest[0] if rest else 0
        ended |= {one} if name in ("finish", "abort") else set()
    return {**case, LIST: calls}


def steps(case):
    return [f"{name}({', '.join(map(repr, arguments))})" for name, *arguments in case["calls"]]


def calls(case, mine):
    """For explain: the same calls, one by one."""
    lines = [f"server = {mine}({case['num_blocks']}, {case['block_size']})"]
    return lines + [f"print({text!r}, server.{text}, server.free)" for text in steps(case)]


def judge(case, output):
    texts, owner = {}, {}  # request -> slots; slot -> (request, token)
    for number in range(len(case["calls"])):
        try:
            _judge_call(case, output, number, texts, owner)
        except Wrong as wrong:
            wrong.at = number
            raise


def _judge_call(case, output, number, texts, owner):
    size, (slot, free) = case["block_size"], output[number]
    name, one, *rest = case["calls"][number]
    at = f"call {number + 1}, {steps(case)[number]}"
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
