"""Check of 6.2: a seeded list of calls on a pool with contents: nobody's text may change."""

from collections import Counter

from exercises.grading.judge import Wrong
from exercises.grading.spec import Exercise

EXERCISE = Exercise(
    id="6.2", title="Share blocks, copy on write", kind="code", entry="SharedBlocks",
    minutes=25, difficulty=3, torch=False,
    sizes=(
        {"block_size": 2, "calls": 6}, {"block_size": 1, "calls": 30},
        {"block_size": 3, "calls": 60}, {"block_size": 4, "calls": 200},
    ),
    hints=(
        "Blocks of 4 tokens. A holds 6 tokens in blocks 7 and 2. B is forked from A. What are "
        "refs[7] and refs[2]? Now A writes token 6: which block may it write to, and which blocks "
        "stand in the two tables?",
        "place = position // block_size. place == len(table): a new block. refs of the block "
        "above 1: take a new one, put it in the table, lower refs of the old one. Otherwise: "
        "nothing. Always: refs[b] = number of tables with b, and b is free where that is 0.",
        "old = table[place]\n"
        "if self.refs[old] == 1:\n"
        "    return None\n"
        "table[place] = self._take()\n"
        "self.refs[____] -= 1\n"
        "return old, table[place]",
    ),
)  # fmt: skip


def make(rng, block_size, calls):
    """Always: a text, a fork in the middle of a block, both write on, one ends."""
    half = max(1, block_size - 1)
    todo = [("write", "a", i) for i in range(half)]
    todo += [("fork", "a", "b"), ("write", "a", half), ("write", "b", half), ("release", "a")]
    lengths, names = {"b": half + 1}, [f"r{i}" for i in range(calls)]
    while len(todo) < calls:
        kind = rng.choices(("write", "fork", "release", "new"), (8, 2, 1, 1))[0]
        if kind == "new" or not lengths:
            lengths[names.pop()] = 0
            continue
        one = rng.choice(sorted(lengths))
        if kind == "write":
            for _ in range(rng.randrange(1, block_size + 2)):
                todo.append(("write", one, lengths[one]))
                lengths[one] += 1
        elif lengths[one]:
            if kind == "fork" and len(lengths) < 6:
                lengths[other := names.pop()] = lengths[one]
                todo.append(("fork", one, other))
            elif kind == "release":
                todo.append(("release", one))
                del lengths[one]
    return {"num_blocks": 2 * len(todo), "block_size": block_size, "calls": todo}


def drive(answer, case):
    """-> for each call (what came back, all tables, all counts, the free blocks)."""
    blocks, trace = answer(case["num_blocks"], case["block_size"]), []
    for name, *arguments in case["calls"]:
        found = getattr(blocks, name)(*arguments)
        tables = {request: list(table) for request, table in blocks.tables.items()}
        trace.append([found, tables, list(blocks.refs), sorted(blocks.free)])
    return trace


LIST, LABELS = "calls", ("", "tables", "refs", "free")


def shorten(case, keep):
    return {**case, LIST: [case["calls"][place] for place in keep]}


def steps(case):
    return [f"{name}({', '.join(map(repr, arguments))})" for name, *arguments in case["calls"]]


def calls(case, mine):
    """For explain: the same calls, one by one."""
    lines = [f"blocks = {mine}({case['num_blocks']}, {case['block_size']})"]
    for text in steps(case):
        lines.append(f"print({text!r}, blocks.{text}, blocks.tables, blocks.refs, blocks.free)")
    return lines


def judge(case, output):
    texts, pool = {}, {}
    for number in range(len(case["calls"])):
        try:
            _judge_call(case, output, number, texts, pool)
        except Wrong as wrong:
            wrong.at = number
            raise


def _judge_call(case, output, number, texts, pool):
    size, call, before = case["block_size"], case["calls"][number], {}
    if number:
        before = output[number - 1][1]
    (name, one, *rest), (found, tables, refs, free) = call, output[number]
    at = f"call {number + 1}, {steps(case)[number]}"
    if name == "fork":
        texts[rest[0]] = list(texts[one])
    elif name == "release":
        del texts[one]
    else:
        _copied(before, one, rest[0] // size, found, at)
        if found is not None:
            old, new = found
            pool[new] = dict(pool.get(old, {}))
        texts.setdefault(one, []).append(number)  # the number of the call is the token
        _write(tables, pool, one, rest[0], size, number, at)
    if set(tables) != set(texts):
        raise Wrong("6.2.tables", f"after {at}: other requests", None, sorted(texts),
                    sorted(tables))  # fmt: skip
    _texts(tables, pool, texts, size, at)
    _counts(case["num_blocks"], tables, refs, free, at)


def _copied(before, one, place, found, at):
    """A copy is made exactly when another table holds the block too."""
    table = before.get(one, [])
    block = table[place] if place < len(table) else None
    others = sum(block in t for r, t in before.items() if r != one) if block is not None else 0
    if found is not None and (not isinstance(found, (tuple, list)) or len(found) != 2):
        raise Wrong("6.2.pair", f"{at} must return (old, new) or None", got=found)
    if others and found is None:
        raise Wrong("6.2.shared", f"{at}: block {block} stands in {others + 1} tables. A copy, "
                    "(old, new), must come back")  # fmt: skip
    if not others and found is not None:
        why = f"block {block} stands in no other table, so {one!r} may write to it: expected None"
        if block is None:
            why = "a new block is needed, and there is nothing to copy: expected None"
        raise Wrong("6.2.needless", f"{at}: {why}", None, None, found)
    if others and found[0] != block:
        raise Wrong("6.2.old", f"{at}: the block to copy from is another", None, block, found[0])


def _write(tables, pool, one, position, size, token, at):
    table, place = tables.get(one, []), position // size
    if place >= len(table):
        raise Wrong("6.2.room", f"after {at} the table of {one!r} has no block for it", None,
                    f"{place + 1} blocks", table)  # fmt: skip
    pool.setdefault(table[place], {})[position % size] = token


def _texts(tables, pool, texts, size, at):
    """Every request still reads what it wrote."""
    for request, text in texts.items():
        table = tables[request]
        if len(table) != -(-len(text) // size):
            raise Wrong("6.2.length", f"after {at}: {request!r} has {len(text)} tokens in blocks "
                        f"of {size}", None, f"{-(-len(text) // size)} blocks", table)  # fmt: skip
        for i, token in enumerate(text):
            if pool.get(table[i // size], {}).get(i % size) != token:
                raise Wrong("6.2.text", f"after {at}: token {i} of {request!r}, in block "
                            f"{table[i // size]}, was overwritten or not copied")  # fmt: skip


def _counts(num_blocks, tables, refs, free, at):
    holders = Counter(b for table in tables.values() for b in table)
    for block in range(num_blocks):
        if refs[block] != holders[block]:
            raise Wrong("6.2.refs", f"after {at}: refs[{block}], the tables being {tables}", None,
                        holders[block], refs[block])  # fmt: skip
    want = [b for b in range(num_blocks) if not holders[b]]
    if free != want:
        odd = sorted({*free} ^ {*want}) or [b for b, n in Counter(free).items() if n > 1]
        raise Wrong("6.2.free", f"after {at}: look at block {odd[0]} in the free list. Free must "
                    "be, once each, the blocks that no table holds")  # fmt: skip
