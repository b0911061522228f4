"""Check of 14.1: a plan by hand, with and without scales, whole blocks, and weights too large."""

from exercises.grading.spec import Exercise

EXERCISE = Exercise(
    id="14.1", title="The planner", kind="code", entry="plan",
    minutes=20, difficulty=2, torch=False,
    hints=(
        "1,024 weights of 4 bits, one scale of 2 bytes for 32 of them: how many bytes are the "
        "codes, how many the scales? A request of 33 tokens, blocks of 16: how many blocks?",
        "weights = count * bits / 8 + 2 * count / group. token = 2 * layers * KV heads * head size "
        "* kv_bytes. requests = blocks that fit // blocks of one request, both whole numbers.",
        "weights = count * bits // 8 + (2 * count // group if group else 0)\n"
        "token = 2 * layers * kv_heads * head_size * kv_bytes\n"
        "blocks = max(0, memory - weights) // (block_size * token)\n"
        'return {"weights": weights, "token": token, "requests": blocks // ____}',
    ),
)  # fmt: skip
NAMES = ("count", "bits", "group", "layers", "kv_heads", "head_size", "kv_bytes",
         "context", "block_size", "memory")  # fmt: skip
TOLD = ("context", "block_size", "memory", *NAMES[:-3])  # a message names the first ones


def cases(seed):
    import random

    rng = random.Random(f"14.1/{seed}")
    by_hand = (1024, 4, 32, 1, 1, 2, 2, 33, 16, 2048)  # 576 bytes, 8 a token, 11 blocks, 3 each: 3
    found = [by_hand]
    for bits, group in ((16, None), (8, 128), (4, 32), (4, 128)):
        shape = (rng.randrange(8, 40), rng.choice((2, 4, 8)), rng.choice((64, 128)))
        count, kv_bytes = 1024 * rng.randrange(10**5, 9 * 10**6), rng.choice((1, 2))
        block = rng.choice((8, 16, 32))
        context = block * rng.randrange(6, 20) + rng.randrange(block // 3, block // 2)
        a_block = 2 * shape[0] * shape[1] * shape[2] * kv_bytes * block
        blocks = (context // block + 1) * rng.randrange(40, 90) + context // block // 2
        weights = count * bits // 8 + (2 * count // group if group else 0)
        memory = weights + blocks * a_block + a_block // 3
        found.append((count, bits, group, *shape, kv_bytes, context, block, memory))
    found.append((7_000_000_512, 16, None, 32, 8, 128, 2, 4096, 16, 12 * 10**9))
    named = [dict(zip(NAMES, case)) for case in found]
    return [{name: case[name] for name in TOLD} for case in named]
