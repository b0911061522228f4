"""The capstone's workloads: three products, 100 requests each, drawn for one student. No torch.

    from exercises.ch14_choice import workload
    case = workload.draw("your id")        the question of 14.4, as plain data

Every request begins with the product's system prompt: a few solved examples. What comes, when, and
how many of each kind depends on the student; the limits belong to the product. A product has twelve
traces. Under each of them the limits let a middle pass (24 seats, 128 tokens a step), and stop the
64 seats and 512 tokens that one starts with, as well as 16 seats: tests/test_ch14.py runs all.
"""

from __future__ import annotations

import functools
import json
import random
from pathlib import Path

from minillm import corpus

RECORD = Path(__file__).parent / "quality.json"  # python -m tools.record_capstone

COUNT = 100
BEGIN, STORY = 10, 40  # tokens of a story that are given, and that are to be written
KINDS = ("finder", "tutor", "storyteller")
PRODUCTS = {
    "finder": {
        "does": "looks things up, repeats labels and sorts digits; a rare slip is no drama",
        "tasks": ("recall", "copy", "sort"),
        "floors": {"recall": 0.97, "copy": 0.97, "sort": 0.95},
        "examples": ("sort", "recall", "copy", "recall", "sort", "copy"),
        "span": 0.5, "budget": 2_600_000, "ttft": 0.32, "tpot": 0.035, "least": 510,
        "traces": (0, 7, 8, 11, 13, 18, 19, 20, 22, 30, 32, 37),
    },
    "tutor": {
        "does": "adds numbers, runs small programs and sorts digits; it must be right",
        "tasks": ("add", "code", "sort"),
        "floors": {"add": 0.97, "code": 0.895, "sort": 0.95},
        "examples": ("add", "code", "sort", "add", "code", "sort", "add"),
        "span": 0.5, "budget": 3_000_000, "ttft": 0.45, "tpot": 0.037, "least": 460,
        "traces": (0, 11, 17, 25, 27, 29, 30, 33, 35, 36, 38, 39),
    },
    "storyteller": {
        "does": "tells stories that nobody may notice a change in, and looks things up",
        "tasks": ("tales", "recall", "copy"),
        "floors": {"tales": 0.97, "recall": 0.97, "copy": 0.97},
        "examples": ("tales", "recall", "copy"),
        "span": 2.0, "budget": 5_000_000, "ttft": 1.6, "tpot": 0.050, "least": 400,
        "traces": (5, 8, 9, 10, 12, 18, 19, 24, 27, 30, 36, 38),
    },
}  # fmt: skip
COPIES = 12  # traces of a product
SHARES = ((50, 30, 20), (40, 40, 20), (45, 25, 30), (40, 30, 30))  # of the three tasks


def draw(student: str = "", product: str | None = None) -> dict:
    """The workload of a student: {product, does, system, jobs, budget, floors, ttft, tpot, least}.

    jobs: [second of arrival, task, prompt, right answer]; a story: [.., "tales", "", its text].
    """
    rng = random.Random(f"capstone {student}")
    drawn, place = (rng.choice(KINDS), rng.randrange(COPIES)) if student else ("tutor", 0)
    name = product or drawn
    return trace(name, PRODUCTS[name]["traces"][place])


def trace(product: str, number: int) -> dict:
    """One of the product's workloads, with its limits."""
    rng, facts = random.Random(f"{product} {number}"), PRODUCTS[product]
    shares = rng.choice(SHARES)
    tasks = [task for task, share in zip(facts["tasks"], shares) for _ in range(share)]
    rng.shuffle(tasks)
    arrivals = sorted(round(rng.random() * facts["span"], 3) for _ in tasks)
    jobs = []
    for arrival, task in zip(arrivals, tasks):
        item = corpus.draw(task, rng, test=True)
        jobs.append([arrival, task, item.prompt, item.answer])
    limits = {key: facts[key] for key in ("does", "floors", "budget", "ttft", "tpot", "least")}
    return {"product": product, "system": system(product), "jobs": jobs, **limits}


def system(product: str) -> list[str]:
    """The examples that stand before every request, the same ones for everybody."""
    rng = random.Random(f"system prompt of the {product}")
    items = [corpus.draw(task, rng) for task in PRODUCTS[product]["examples"]]
    return [item.prompt + item.answer for item in items]


def system_tokens(texts: list[str], encode) -> list[int]:
    """As in training: documents one after another, each with its end token, 0."""
    tokens = [0]
    for text in texts:
        tokens += [*encode(text), 0]
    return tokens


def job_tokens(job: list, encode) -> tuple[list[int], list[int]]:
    """-> (the request's own tokens, the tokens that are right)."""
    _, task, prompt, answer = job
    whole = encode(prompt + answer)
    cut = BEGIN if task == "tales" else len(encode(prompt))
    wanted = whole[cut : cut + STORY] if task == "tales" else [*whole[cut:], 0]
    return whole[:cut], wanted


@functools.cache
def record() -> dict:
    """Bytes of every format, and how many answers of each task are right with it."""
    return json.loads(RECORD.read_text("utf-8"))


def quality(product: str, weights: str, pruning: str | None, kv: str) -> dict[str, float]:
    """{task: share right} of one configuration."""
    asked = (product, weights, pruning, kv)
    keys = ("product", "weights", "pruning", "kv")
    return next(r["tasks"] for r in record()["rows"] if tuple(r[k] for k in keys) == asked)


def name_of(weights: str, pruning: str | None) -> str:
    """ "int8", or "int8 2:4"."""
    return f"{weights} {pruning}" if pruning else weights
