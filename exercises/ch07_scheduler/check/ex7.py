"""Check of 7.7: a small cache of named blocks under a random load; every hit must hold its text."""

from exercises.grading import spec
from exercises.grading.judge import Wrong, compare
from exercises.grading.spec import Exercise

EXERCISE = Exercise(
    id="7.7", title="Somebody else's text", kind="hunt", entry="BlockCache",
    minutes=20, difficulty=3, torch=False,
    sizes=(
        {"blocks": 2, "texts": 3, "length": 1, "requests": 6, "together": 1},
        {"blocks": 4, "texts": 3, "length": 2, "requests": 14, "together": 2},
        {"blocks": 9, "texts": 5, "length": 3, "requests": 30, "together": 2},
        {"blocks": 16, "texts": 6, "length": 3, "requests": 70, "together": 5},
        {"blocks": 7, "texts": 4, "length": 2, "requests": 90, "together": 3},
    ),
    hints=(
        "One block in the pool. Text A fills it and ends. Text B comes: which block does it get? "
        "Then A comes again. What does find('A') return, and what does that block hold?",
        "At every moment: block_of[name] = block exactly where name_of[block] = name, and the "
        "block's content is still that of `name`; a block is in `free` exactly if holders = 0.",
        "def allocate(self):\n"
        "    block = self.free.pop(0)\n"
        "    old = self.name_of.pop(block, None)\n"
        "    if old is not None:\n"
        "        del ____\n"
        "    self.holders[block] = 1\n"
        "    return block",
    ),
)  # fmt: skip
HOW = """\
steps: a request comes and asks for its blocks by name; runs: its blocks are full (seal); ends: it
gives them back (release). '0a' is the name of the first block of text 0, '0b' of its second one.
A result says for each block: 'hit' (found, and it holds this text), 'new' (allocated), or
'finds 3a' (found, but by now it holds block 3a: wrong)."""


def make(rng, blocks, texts, length, requests, together):
    """Requests come, run and end; each text is a chain of names, some share a beginning."""
    texts, together = max(texts, 1), min(together, blocks)
    longest = max(1, min(length, blocks // max(together, 1)))
    names = []
    for text in range(texts):
        head = names[-1][: rng.randrange(longest)] if names and rng.random() < 0.5 else []
        names.append(head + [f"{text}{'abc'[i % 3]}" for i in range(len(head), longest)])
    steps, alive = [], []
    for request in range(requests):
        while len(alive) >= together or (alive and rng.random() < 0.4):
            steps.append(("ends", alive.pop(rng.randrange(len(alive))), []))
        steps.append(("comes", request, rng.choice(names)))
        if rng.random() < 0.6:
            steps.append(("runs", request, []))
        alive.append(request)
    return {"num_blocks": blocks, "steps": steps}


def drive(answer, case):
    """What each request found: "hit", "new", or what is wrong with the block it was given."""
    cache, count = answer(case["num_blocks"]), case["num_blocks"]
    content, users, held, found = [None] * count, [0] * count, {}, []
    for what, request, names in case["steps"]:
        if what == "comes":
            told, mine = [], []
            for name in names:  # "new" was the first: the rest of the beginning is not there
                block = cache.find(name) if told.count("new") == 0 else None
                if block is not None:
                    told.append("hit" if content[block] == name else f"finds {content[block]}")
                else:
                    block = cache.allocate()
                    told.append("new" if not users[block] else "in use")
                    content[block] = name
                users[block] += 1
                mine.append((block, name))
            held[request] = mine
            found.append([request, told])
        elif what == "runs":
            for block, name in held[request]:
                cache.seal(block, name)
        else:
            for block, _ in reversed(held.pop(request)):
                users[block] -= 1
                cache.release(block)
    return found


def calls(case, mine):
    """For explain: the same calls, one by one."""
    lines = [
        f"cache, held = {mine}({case['num_blocks']}), {{}}  # held: the blocks of each request",
        "",
        "def comes(request, names):  # each name: the block that is found, else a new one",
        "    held[request] = {}",
        "    for name in names:",
        "        new = 'new' in str(held[request].values())",
        "        block = None if new else cache.find(name)",
        "        told = 'new' if block is None else 'found'",
        "        block = cache.allocate() if block is None else block",
        "        held[request][name] = (block, told)",
        "    print('request', request, 'gets', held[request])",
        "",
    ]
    for what, request, names in case["steps"]:
        each = f"for name, (block, _) in held[{request}].items():"
        back = f"for block, _ in reversed(held.pop({request}).values()):"
        lines += {
            "comes": [f"comes({request}, {names})"],
            "runs": [each, "    cache.seal(block, name)"],
            "ends": [back, "    cache.release(block)"],
        }[what]
    return lines


def judge(case, output):
    want = drive(spec.reference("7.7"), case)
    asked = {request: names for what, request, names in case["steps"] if what == "comes"}
    for (request, told), (_, right) in zip(output, want):
        for name, got, expected in zip(asked[request], told, right):
            where = f"request {request} asks for block {name} and "
            if got.startswith("finds"):
                said = f"gets a block that holds {got.removeprefix('finds ')}"
                raise Wrong("7.7.stale", where + said)
            if got == "in use":
                raise Wrong("7.7.in_use", where + "gets a block that a running request reads")
            if got != expected:
                said = "computes it again, although it is still there"
                other = "finds it, although it was used longer ago than another one"
                raise Wrong("7.7.lost", where + (said if got == "new" else other))
    compare(output, want)
