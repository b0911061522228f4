"""Check of 1.7: many users, exactly as many as fit, one, none, and weights that do not fit."""

from exercises.grading import spec
from exercises.grading.judge import Wrong, compare
from exercises.grading.spec import Exercise

EXERCISE = Exercise(
    id="1.7", title="The largest batch that fits", kind="code", entry="largest_batch",
    minutes=10, difficulty=2, torch=False,
    hints=(
        "1 GiB of memory, half of it slack, weights of 2^28 bytes. How many bytes are left? How "
        "many users of 2^26 bytes fit?",
        "free = memory_gib * 2^30 * (1 - slack) - weight_bytes. users = free / "
        "(kv_bytes_per_token * length), rounded down, never below 0.",
        "free = memory_gib * 2**30 * (1 - slack) - weight_bytes\n"
        "return max(0, int(____))",
    ),
)  # fmt: skip

NAMES = ("memory_gib", "weight_bytes", "kv_bytes_per_token", "length", "slack")


def cases(seed):
    import random

    rng = random.Random(f"1.7/{seed}")
    sizes = [(1, 2**28, 2**20, 64, 0.5)]  # 2^29 - 2^28 bytes, 2^26 a user: exactly 4
    for users in (0.4, 1.5, 7.7, 63.5):
        memory, slack = rng.randrange(8, 80), rng.choice([0.05, 0.1, 0.15])
        usable = memory * 2**30 * (1 - slack)
        length, kv = rng.randrange(500, 9000), 2048 * rng.randrange(6, 160)
        sizes.append((memory, int(usable - users * kv * length), kv, length, slack))
    sizes.append((16, 16 * 10**9, 131_072, 4096, 0.1))  # 16 GB fit into 16 GiB, slack does not
    return [dict(zip(NAMES, size)) for size in sizes]


def judge(case, output):
    """A whole float is what // gives for floats: say how it becomes an int."""
    if isinstance(output, float) and output.is_integer():
        text = f"an int is wanted, yours is the float {output!r}: int(...) makes it one"
        raise Wrong("type", text)
    compare(output, spec.reference("1.7")(**case))
