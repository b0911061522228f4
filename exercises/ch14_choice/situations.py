"""The situations of 14.3: what each change does there, by the paper GPU's clock. No torch.

gains(situation) -> {"W": 1.6, "K": 1.0, ...}      how many times better its figure becomes
"""

from __future__ import annotations

from minillm.clock import PAPER_GPU, batch_cost, largest_batch, step_seconds
from minillm.config import ModelConfig

QWEN = ModelConfig(  # Qwen/Qwen3-4B, from its config.json
    family="qwen3", num_layers=36, width=2560, mlp_width=9728, num_heads=32, num_kv_heads=8,
    vocab_size=151936, head_size=128, max_len=40960, tie_embeddings=True, qk_norm=True,
)  # fmt: skip
INT8, INT4 = 1 + 2 / 2560, 0.5 + 2 / 32  # bytes a weight, scales included
BASE = {"weights": INT8, "kv": 2, "seats": 8, "chunk": 512, "shared": False}
CHANGES = {
    "W": {"weights": INT4},
    "K": {"kv": 1 + 4 / 128},  # a float32 scale for each head of a token
    "S": {"seats": 64},
    "P": {"shared": True},
    "C": {"chunk": 64},
}
NONE, LEAST = "N", 1.05  # what improves a figure by less than 5% is no help
KINDS = ("alone", "queue", "long", "fit", "system", "document", "pause")
TEXTS = {
    "alone": "One person chats, with about {tokens} tokens, and nobody else is there. Figure: TPOT",
    "queue": "{users} short requests are there at every moment, each has about {tokens} tokens\n"
    "   in the cache. Figure: tokens/s of all together",
    "long": "{users} people ask about long documents, {tokens:,} tokens each, all at the same time."
    "\n   Figure: TPOT",
    "fit": "Chats of {tokens:,} tokens shall stay in the cache. Figure: how many fit into memory",
    "system": "Every question ({own} tokens) comes behind the same {same:,} tokens of instructions."
    "\n   Figure: TTFT of a question, when nobody else is there",
    "document": "One person pastes a new document of {tokens:,} tokens, waits for the first word."
    "\n   Figure: TTFT",
    "pause": "{users} people write ({tokens} tokens each) while others paste long documents, one"
    " after\n   another. Figure: the longest pause between two tokens of a writer",
}


def situation(rng, kind: str, **fixed) -> dict:
    """One situation with numbers of its own. fixed: numbers that are not drawn."""
    numbers = {
        "alone": {"tokens": rng.randrange(200, 900, 50)},
        "queue": {"users": rng.randrange(200, 400, 20), "tokens": rng.randrange(300, 700, 50)},
        "long": {"users": rng.choice((6, 7, 8)), "tokens": rng.randrange(8000, 10_000, 500)},
        "fit": {"tokens": rng.randrange(6000, 12_000, 500)},
        "system": {"own": rng.randrange(40, 120, 10), "same": rng.randrange(1500, 3000, 100)},
        "document": {"tokens": rng.randrange(6000, 12_000, 500)},
        "pause": {"users": rng.choice((4, 5, 6)), "tokens": rng.randrange(300, 900, 100)},
    }[kind] | fixed
    return {"kind": kind, "numbers": numbers, "text": TEXTS[kind].format(**numbers)}


def figure(asked: dict, setting: dict) -> float:
    """The figure of a situation: seconds, or minus what should be large."""
    n, kind = asked["numbers"], asked["kind"]
    if kind == "fit":
        return -largest_batch(QWEN, n["tokens"], setting["weights"], setting["kv"])
    if kind == "system":
        new = n["own"] if setting["shared"] else n["own"] + n["same"]
        return _read(new, n["own"] + n["same"], setting)
    if kind == "document":
        return _read(n["tokens"], n["tokens"], setting)
    seats = min(n.get("users", 1), setting["seats"])
    writing = [(1, n["tokens"])] * seats
    if kind == "pause":
        return _step([*writing, (setting["chunk"] - seats, 4096)], setting)
    step = _step(writing, setting)
    return -seats / step if kind == "queue" else step


def _step(batch: list, setting: dict) -> float:
    return step_seconds(batch_cost(QWEN, batch, setting["weights"], setting["kv"]), PAPER_GPU)


def _read(new: int, tokens: int, setting: dict) -> float:
    """Seconds to read the last `new` of so many tokens, chunk by chunk."""
    seconds, done = 0.0, tokens - new
    while done < tokens:
        count = min(setting["chunk"], tokens - done)
        done += count
        seconds += _step([(count, done)], setting)
    return seconds


def gains(asked: dict) -> dict[str, float]:
    """{change: how many times better}, one change at a time."""
    before, found = figure(asked, BASE), {}
    for letter, change in CHANGES.items():
        after = figure(asked, BASE | change)
        found[letter] = before / after if before > 0 else after / before
    return found


def winner(asked: dict) -> str:
    """The change that helps most; "N" where none helps."""
    found = gains(asked)
    best = max(found, key=found.get)
    return best if found[best] >= LEAST else NONE
