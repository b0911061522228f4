"""Check of 7.6: what is shared, and what is computed, for prompts of every length."""

from exercises.grading import spec
from exercises.grading.judge import Wrong, compare
from exercises.grading.spec import Exercise

EXERCISE = Exercise(
    id="7.6", title="Asked twice", kind="hunt", entry="admit",
    minutes=15, difficulty=2, evening=True, torch=False,
    sizes=(
        {"block_size": 2, "blocks": 1, "rest": 1, "known": 1},
        {"block_size": 2, "blocks": 2, "rest": 0, "known": 2},
        {"block_size": 4, "blocks": 3, "rest": 0, "known": 3},
        {"block_size": 4, "blocks": 3, "rest": 1, "known": 3},
        {"block_size": 3, "blocks": 4, "rest": 0, "known": 2},
        {"block_size": 1, "blocks": 5, "rest": 0, "known": 5},
        {"block_size": 8, "blocks": 2, "rest": 7, "known": 0},
        {"block_size": 5, "blocks": 1, "rest": 0, "known": 1},
        {"block_size": 3, "blocks": 3, "rest": 2, "known": 3},
        {"block_size": 4, "blocks": 4, "rest": 1, "known": 4, "hole": 1},
        {"block_size": 2, "blocks": 3, "rest": 1, "known": 3, "hole": 0},
    ),
    hints=(
        "Blocks of 4. A prompt of 8 tokens comes a second time. How many of its blocks are known? "
        "How many tokens does your code compute? And for a prompt of 9 tokens?",
        "The next token is sampled from the scores of the LAST token: it must be computed. New K/V "
        "never goes into a shared block. So the last token's block is not shared.",
        "for end in range(block_size, ____, block_size):\n"
        "    # share the block that ends at `end`, if it is known\n"
        "return shared, tokens[len(shared) * block_size :]",
    ),
)  # fmt: skip


def make(rng, block_size, blocks, rest, known, hole=None):
    """A known beginning; with a hole, one of its blocks is gone and those behind it are left."""
    tokens = [rng.randrange(1000) for _ in range(block_size * blocks + rest)]
    ids = rng.sample(range(1, 100), min(known, blocks))
    ids[:1] = [0] * len(ids[:1])  # 0 is a block id like any other
    ends = [block_size * (i + 1) for i in range(len(ids))]
    held = [(end, block) for i, (end, block) in enumerate(zip(ends, ids)) if i != hole]
    return {
        "tokens": tokens, "block_size": block_size,
        "known": {tuple(tokens[:end]): block for end, block in held},
    }  # fmt: skip


def judge(case, output):
    want = spec.reference("7.6")(**case)
    tokens, size = case["tokens"], case["block_size"]
    try:
        shared, compute = map(list, output)
    except (TypeError, ValueError):
        said = "admit must return two lists, the shared blocks and the tokens to compute"
        raise Wrong("7.6.form", said, got=output) from None
    text = f"tokens: {len(tokens)}, in blocks of {size}; blocks known: {len(case['known'])}. "
    if not compute:
        said = "nothing is computed, so nobody knows the scores of the last token"
        raise Wrong("7.6.nothing", text + said, got=output)
    if len(shared) * size + len(compute) > len(tokens):
        said = f"the first token computed lies in shared block {shared[-1]}: others read it"
        raise Wrong("7.6.shared", text + said, got=output)
    if len(shared) * size + len(compute) < len(tokens):
        said = "some token is neither shared nor computed"
        raise Wrong("7.6.missing", text + said, got=output)
    if len(shared) < len(want[0]):
        said = f"blocks shared: {len(shared)}, it could be {len(want[0])}"
        raise Wrong("7.6.waste", text + said, got=output)
    if len(shared) > len(want[0]):
        said = (
            f"block {len(want[0])} is not known, so what is behind it is no beginning in the cache"
        )
        raise Wrong("7.6.hole", text + said, (), want, output)
    compare((shared, compute), want, what="(shared blocks, tokens to compute)")
