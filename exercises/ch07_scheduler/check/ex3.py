"""Check of 7.3: who gives its blocks back, when some of them are shared."""

from exercises.grading.spec import Exercise

EXERCISE = Exercise(
    id="7.3", title="Who gives way?", kind="code", entry="make_room",
    minutes=20, difficulty=3, torch=False,
    sizes=(
        {"requests": 2, "own": 2, "shared": 0, "victims": 1, "free": 0, "who": "first"},
        {"requests": 4, "own": 3, "shared": 2, "victims": 2, "free": 1, "who": "first"},
        {"requests": 3, "own": 2, "shared": 0, "victims": 0, "free": 4, "who": "first"},
        {"requests": 4, "own": 2, "shared": 1, "victims": 2, "free": 1, "who": "last"},
        {"requests": 6, "own": 3, "shared": 4, "victims": 3, "free": 0, "who": "first"},
        {"requests": 5, "own": 1, "shared": 6, "victims": 1, "free": 2, "who": "middle"},
        {"requests": 1, "own": 2, "shared": 0, "victims": 1, "free": 0, "who": "last"},
    ),
    hints=(
        "C was admitted last and holds blocks 4, 5, 6. Block 4 belongs to B, too (a shared "
        "prefix). How many blocks are free after C has given way? And after B has, as well?",
        "While free < need: the victim is the last admitted of those still there. Free grows by "
        "the blocks of the victim that nobody left holds. Stop if the victim is `who`.",
        "victims, left = [], list(tables)\n"
        "while free < need:\n"
        "    victim = left.pop()\n"
        "    victims.append(victim)\n"
        "    if victim == who:\n"
        "        break\n"
        "    held = {block for name in left for block in tables[name]}\n"
        "    free += sum(block ____ for block in tables[victim])\n"
        "return victims",
    ),
)  # fmt: skip


def make(rng, requests, own, shared, victims, free, who):
    """All begin with shared blocks, the older half with fewer of them; each has its own, too.

    need: exactly what is free when the last `victims` have given way, so one block decides.
    """
    ids = list(range(requests * (own + 3) + shared))
    rng.shuffle(ids)
    prefix = [ids.pop() for _ in range(shared)]
    names, tables = rng.sample("ABCDEFGHIJ"[: max(requests, 1)], requests), {}
    if requests <= 3:  # small ones are read: letters in order. Larger ones: the order decides
        names.sort()
    for place, name in enumerate(names):
        extra = 3 if place == 1 and requests > 2 else rng.randrange(2)  # the last has not the most
        depth = shared // 2 if place < requests / 2 else shared
        tables[name] = prefix[:depth] + [ids.pop() for _ in range(own + extra)]
    asks = {"first": names[0], "last": names[-1], "middle": names[requests // 2]}[who]
    stay = max(requests - victims, 0)
    kept = {block for name in names[:stay] for block in tables[name]}
    gone = {block for name in names[stay:] for block in tables[name]}
    return {"who": asks, "need": free + len(gone - kept), "tables": tables, "free": free}
