"""Check of 6.3: one request by hand, then mixed batches; tables longer than needed."""

from exercises.grading.spec import Exercise

EXERCISE = Exercise(
    id="6.3", title="From token to slot", kind="code", entry="slot_mapping",
    minutes=10, difficulty=2, evening=True, torch=False,
    sizes=(
        {"requests": 1, "block_size": 2, "longest": 3},
        {"requests": 2, "block_size": 4, "longest": 9},
        {"requests": 3, "block_size": 1, "longest": 6},
        {"requests": 7, "block_size": 16, "longest": 90},
        {"requests": 20, "block_size": 5, "longest": 40},
    ),
    hints=(
        "Blocks of 4 tokens, the table is [9, 2]. Token 5 is in which block, and which place of "
        "it? So which slot?",
        "slot = block_table[p // block_size] * block_size + p % block_size, "
        "for p = num_computed .. num_computed + count - 1.",
        "for block_table, num_computed, count in batch:\n"
        "    for p in range(num_computed, num_computed + count):\n"
        "        slots.append(block_table[____] * block_size + p % block_size)",
    ),
)  # fmt: skip


def make(rng, requests, block_size, longest):
    batch, blocks = [], list(range(requests * (longest // block_size + 3) + 1))
    rng.shuffle(blocks)
    for number in range(requests):
        count = 1 if rng.random() < 0.6 and number else rng.randrange(1, longest)
        num_computed = rng.randrange(longest - count + 1)
        if requests == 1:
            num_computed, count = 1, longest - 1  # every kind of mistake shows in the first case
        need = -(-(num_computed + count) // block_size) + rng.randrange(2)
        batch.append((blocks[:need], num_computed, count))
        del blocks[:need]
    return {"batch": batch, "block_size": block_size}
