"""Check of 6.1: a seeded list of calls, then what must hold whatever blocks are handed out."""

from exercises.grading.judge import Wrong
from exercises.grading.spec import Exercise

EXERCISE = Exercise(
    id="6.1", title="A pool of blocks", kind="code", entry="BlockPool",
    minutes=20, difficulty=2, evening=True, torch=False,
    sizes=(
        {"num_blocks": 1, "calls": 3}, {"num_blocks": 3, "calls": 12},
        {"num_blocks": 8, "calls": 60}, {"num_blocks": 37, "calls": 200},
    ),
    hints=(
        "The pool has 4 blocks, 3 are in use, and somebody asks for 2. How many blocks are free "
        "after the call? And after release([2, 2]), when block 2 was in use?",
        "Always: free blocks + blocks in use = num_blocks, and no block is in both. Test first, "
        "change afterwards: then a call that fails has changed nothing.",
        "def release(self, blocks):\n"
        "    if len(set(blocks)) < len(blocks) or not self.used.issuperset(____):\n"
        "        raise ValueError('not in use')\n"
        "    self.used.difference_update(blocks)\n"
        "    self.free.extend(blocks)",
    ),
)  # fmt: skip


def make(rng, num_blocks, calls):
    """Calls that name earlier answers: ("release", 3, "") gives back what call 3 gave; with "ends",
    "pair" or "foreign" a block of it twice, or one that the pool does not have (named_blocks)."""
    todo = [("allocate", num_blocks), ("allocate", 1), ("release", 0, "")]
    live, old, free = [], [0], num_blocks
    kinds = ("allocate", "release", "again", "ends", "pair", "foreign", "nothing")
    for number in range(3, calls):
        kind = rng.choices(kinds, (6, 4, 1, 1, 1, 1, 1))[0]
        if kind == "nothing":
            todo.append(("allocate", 0))
        elif kind == "allocate" or not live:
            count = min(num_blocks + 1, int(rng.expovariate(4 / num_blocks)) + 1)
            todo.append(("allocate", count))
            if count <= free:
                live.append((number, count))
                free -= count
        elif kind == "release":
            chosen, count = live.pop(rng.randrange(len(live)))
            todo.append(("release", chosen, ""))
            old.append(chosen)
            free += count
        elif kind != "again":
            todo.append(("release", rng.choice(live)[0], kind))
        else:
            todo.append(("release", rng.choice(old), ""))
    return {"num_blocks": num_blocks, "calls": todo[:calls]}


def named_blocks(blocks, how, num_blocks):
    """The list for release: as it is, one block twice (at both ends, or side by side), or more."""
    more = {"": [], "ends": blocks[-1:], "pair": blocks[:1], "foreign": [num_blocks]}[how]
    return more + blocks


def drive(answer, case):
    """-> for each call (what came back, how many were free then)."""
    pool, given, trace = answer(case["num_blocks"]), {}, []
    for number, call in enumerate(case["calls"]):
        if call[0] == "allocate":
            found = pool.allocate(call[1])
            given[number] = list(found) if found else []
        else:
            _, which, how = call
            blocks = named_blocks(given.get(which, []), how, case["num_blocks"])
            try:
                found = pool.release(list(blocks))
            except ValueError:
                found = "ValueError"
        found = list(found) if isinstance(found, (list, tuple)) else found
        trace.append([found, pool.num_free()])
    return trace


LIST, LABELS = "calls", ("", "num_free()")


def shorten(case, keep):
    """Only these calls; a release needs the call whose blocks it gives back."""
    place = {old: new for new, old in enumerate(keep)}
    calls = [case["calls"][old] for old in keep]
    if any(call[0] == "release" and call[1] not in place for call in calls):
        raise ValueError("it would release what was never allocated")
    numbered = lambda call: (call[0], place[call[1]], call[2]) if len(call) == 3 else call
    return {**case, LIST: [numbered(call) for call in calls]}


def steps(case):
    """c1 is what call 1 gave."""
    texts = []
    for number, (_, which, *how) in enumerate(case["calls"], 1):
        one = f"c{which + 1}"
        blocks = {
            "": one, "ends": f"{one}[-1:] + {one}", "pair": f"{one}[:1] + {one}",
            "foreign": f"[{case['num_blocks']}] + {one}",
        }  # fmt: skip
        texts.append(f"release({blocks[how[0]]})" if how else f"c{number} = allocate({which})")
    return texts


def calls(case, mine):
    """For explain: the same calls, one by one."""
    lines = [f"pool = {mine}({case['num_blocks']})"]
    for number, text in enumerate(steps(case), 1):
        if text.startswith("release"):
            lines += ["try:", f"    print(pool.{text}, pool.num_free())"]
            lines += ["except ValueError:", "    print('ValueError', pool.num_free())"]
        else:
            lines += [text.replace("= ", "= pool."), f"print(c{number}, pool.num_free())"]
    return lines


def judge(case, output):
    held, given = {}, {}  # block -> the call that holds it
    for number in range(len(case["calls"])):
        try:
            _judge_call(case, output, number, held, given)
        except Wrong as wrong:
            wrong.at = number
            raise


def _judge_call(case, output, number, held, given):
    call, (found, free) = case["calls"][number], output[number]
    at = f"call {number + 1}, "
    if call[0] == "allocate":
        at += f"allocate({call[1]})"
        _allocated(case["num_blocks"] - len(held), call[1], found, at)
        for block in found or []:
            _one_block(case["num_blocks"], held, block, at)
            held[block] = number
        given[number] = list(found or [])
    else:
        blocks = named_blocks(given.get(call[1], []), call[2], case["num_blocks"])
        at += f"release({blocks})"
        _released(held, call[1], blocks, found, at)
    left = case["num_blocks"] - len(held)
    if free != left:
        message = f"after {at}: {len(held)} of {case['num_blocks']} blocks are in use"
        raise Wrong("6.1.free", message + ", so num_free() is another number", None, left, free)


def _allocated(free, count, found, at):
    if count > free:
        if found is not None:
            raise Wrong("6.1.too-many", f"{at}: only {free} were free", None, None, found)
    elif not isinstance(found, list) or len(found) != count:
        raise Wrong("6.1.count", f"{at} with {free} free blocks", None, f"{count} blocks", found)


def _one_block(num_blocks, held, block, at):
    if type(block) is not int or not 0 <= block < num_blocks:
        raise Wrong("6.1.id", f"{at}: {block!r} is no block of 0 to {num_blocks - 1}")
    if block in held:
        raise Wrong("6.1.twice", f"{at} gave block {block}, which call {held[block] + 1} holds")


def _released(held, giver, blocks, found, at):
    """Expected: an error and no change unless all blocks are still those of the giver."""
    sound = len(set(blocks)) == len(blocks) and all(b in held for b in blocks)
    if not sound and found != "ValueError":
        why = "a block is there twice" if len(set(blocks)) < len(blocks) else "not all are in use"
        raise Wrong("6.1.accepted", f"{at}: {why}", None, "ValueError", found)
    if sound and found == "ValueError":
        raise Wrong("6.1.refused", f"{at}: all of them are in use, it must be accepted")
    for block in blocks if sound else ():
        del held[block]
