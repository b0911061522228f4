"""Check of 7.1: equal names exactly where everything up to the end of the block is equal."""

from exercises.grading import spec
from exercises.grading.judge import Wrong, compare
from exercises.grading.spec import Exercise

EXERCISE = Exercise(
    id="7.1", title="A name for every block", kind="code", entry="block_names",
    minutes=20, difficulty=2, evening=True, torch=False,
    sizes=(
        {"block_size": 2, "blocks": 2, "rest": 0, "texts": 2},
        {"block_size": 3, "blocks": 3, "rest": 2, "texts": 8},
        {"block_size": 1, "blocks": 4, "rest": 0, "texts": 9},
        {"block_size": 5, "blocks": 5, "rest": 1, "texts": 10},
        {"block_size": 16, "blocks": 4, "rest": 9, "texts": 10},
    ),
    hints=(
        "Blocks of 2. Text A is 5 6 8 9, text B is 7 7 8 9. Their second blocks hold the same "
        "tokens. The keys and values of token 9 in A come from attention over 5 6 8 9. Over which "
        "tokens in B? May B use A's second block?",
        "The first block has a made-up parent, for example digest('first', extras). "
        "name[i] = digest(its parent's name, its own tokens). There are len(tokens) // block_size "
        "names: a block that is not full has none.",
        "names, parent = [], digest('first', extras)\n"
        "for end in range(block_size, len(tokens) + 1, block_size):\n"
        "    parent = digest(____, tokens[end - block_size : end])\n"
        "    names.append(parent)\n"
        "return names",
    ),
)  # fmt: skip
MANY = 20_000  # texts of one token each: a name of 3 bytes meets itself among them
LONGEST = 64  # bytes of a name: a hash has a fixed size, a whole text has not
SAME = "same number = same name"  # what explain shows
NO_TRACE = "a name may be any bytes, so trace cannot compare them: use explain"


def make(rng, block_size, blocks, rest, texts):
    """Several texts, most of them a small change of the first one."""
    full, size = blocks * block_size, block_size
    first = [rng.randrange(1, 1000) for _ in range(full + rest)]
    first[size : 2 * size] = first[:size][: len(first[size : 2 * size])]  # block 1 repeats block 0
    calls = [(first, "")]
    for number in range(max(texts, 2) - 1):
        tokens, extras = list(first), ""
        if number == 0:  # another first block, the others equal
            tokens[:size] = [t + 1000 for t in tokens[:size]]
        elif number == 1:
            extras = "adapter 7"
        elif number == 2:
            extras = "adapter 8"
        elif number == 3:  # a middle block turned round: the same tokens in another order
            tokens[size : 2 * size] = tokens[size : 2 * size][::-1]
        elif number == 4:  # digits that glue to the same: 1, 23 and 12, 3
            tokens[:2] = [1, 23]
        elif number == 5:
            tokens[:2] = [12, 3]
        elif number == 6:  # exactly the same again
            tokens = list(first)
        elif number == 7:  # all full blocks and nothing more; the remainder falls away
            tokens = tokens[:full]
        else:
            place = rng.randrange(len(tokens))
            tokens[place] += 1000
        calls.append((tokens[: len(first)], extras))
    return {"block_size": size, "texts": calls}


def drive(answer, case):
    """Names as small numbers: the n-th different one is n. Which hash it was does not matter."""
    known, labels, longest = {}, [], 0
    for tokens, extras in case["texts"]:
        names = answer(list(tokens), case["block_size"], extras)
        if not isinstance(names, list):
            return {"returned": type(names).__name__}
        longest = max([longest, *(len(_plain(name)) for name in names)])
        labels.append([known.setdefault(name, len(known)) for name in names])
    out = {SAME: labels}
    if case["block_size"] == 16:  # once is enough
        many = {tuple(answer([n], 1, "")) for n in range(MANY)}
        out |= {"names of many texts": len(many)} if len(many) < MANY else {}
    return out | ({"bytes of a name": longest} if longest > LONGEST else {})


def calls(case, mine):
    """For explain: the same calls, one by one."""
    texts = [f"    ({tokens}, {extras!r})," for tokens, extras in case["texts"]]
    return [
        "texts = [", *texts, "]", "known = {}  # the same number: the same name",
        "for tokens, extras in texts:",
        f"    names = {mine}(tokens, {case['block_size']}, extras)",
        "    print(tokens, [known.setdefault(name, len(known)) for name in names])",
    ]  # fmt: skip


def _plain(name):
    return name if isinstance(name, (bytes, str)) else repr(name)


def judge(case, output):
    if "returned" in output:
        raise Wrong("7.1.list", f"block_names must return a list, yours is a {output['returned']}")
    want, size = drive(spec.reference("7.1"), case)[SAME], case["block_size"]
    for number, (got, right) in enumerate(zip(output[SAME], want)):
        tokens = case["texts"][number][0]
        if len(got) != len(right):
            raise Wrong(
                "7.1.count", f"{len(tokens)} tokens in blocks of {size}: another number of names",
                None, len(right), len(got),
            )  # fmt: skip
        for place, (mine, theirs) in enumerate(zip(got, right)):
            if mine != theirs:
                raise Wrong("7.1.names", _told(output[SAME], want, number, place))
    compare(output[SAME], want)
    if "names of many texts" in output:
        said = f"right, but {MANY} other texts get only {output['names of many texts']} names"
        raise Wrong("7.1.short", f"{said}: a name has too few bytes")
    if "bytes of a name" in output:
        raise Wrong("7.1.small", f"right, but a name must not grow: {LONGEST} bytes at most")


def _told(got, want, number, place) -> str:
    """Which two blocks have one name and must not, or the other way round."""
    this = f"block {place} of text {number}"
    for labels, said in (
        (got, "have the same name, but what comes before them, or their extras, differ"),
        (want, "have different names, but everything up to their end is equal"),
    ):
        for n in range(number + 1):
            for p, label in enumerate(labels[n]):
                if (n, p) != (number, place) and label == labels[number][place]:
                    other = want if labels is got else got
                    if other[n][p] != other[number][place]:
                        return f"{this} and block {p} of text {n} {said}"
    return f"{this} has a wrong name"
