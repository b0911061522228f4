"""Check of 14.2: four figures of one workload; model, format and device depend on who asks."""

import random

from exercises.grading.judge import Wrong, number, within
from exercises.grading.spec import Exercise

EXERCISE = Exercise(
    id="14.2", title="Four figures of a workload", kind="predict", entry="answer",
    minutes=20, difficulty=2, evening=True, torch=False,
    tolerance="bf16",  # of naming a mistake: it may be rounded
    hints=(
        "How many bytes is one token of one request, over all layers? How many tokens are in the "
        "cache, of all requests together? A step reads all of that, and what else?",
        "GB = 1e9 bytes. weights = count * (bits / 8 + 2 / group). cache = requests * tokens * 2 * "
        "layers * 8 * 128 * bytes. step = (weights + cache) / bandwidth. It writes one token a "
        "request. For the dollars: how many tokens does one hour write?",
        "weights = count * (bits / 8 + 2 / group)\n"
        "cache = requests * tokens * 2 * layers * 8 * 128 * kv_bytes\n"
        "step = (weights + cache) / bandwidth\n"
        'answer = {"weights_gb": weights / 1e9, "cache_gb": ____, "step_ms": 1000 * step,\n'
        '          "dollars": price / 3600 * step / requests * 1e6}',
    ),
)  # fmt: skip
MODELS = (  # name, weights, layers: from their config.json; all have 8 KV heads of size 128
    ("Llama-3-8B", 8.03e9, 32),
    ("Qwen3-4B", 4.02e9, 36),
    ("Llama-3-70B", 70.55e9, 80),
)
DEVICES = (  # name, bandwidth in bytes/s, dollars an hour (made up; devices: minillm plan)
    ("the paper GPU", 300e9, 0.6),
    ("an A100 with 80 GB", 2039e9, 1.8),
)
QUESTIONS = (  # model, device, bits, weights a scale, requests, tokens of each, bytes of K and V
    (0, 0, 4, 64, 16, 2000, 2),
    (0, 0, 8, 64, 8, 3000, 1),
    (1, 0, 4, 32, 24, 1500, 2),
    (0, 1, 8, 128, 96, 4000, 2),
    (2, 1, 4, 32, 20, 3000, 2),
    (2, 1, 4, 128, 48, 3000, 1),
)


def cases(seed):
    """The tracked file asks the first; a student's id picks one."""
    chosen = random.Random(f"14.2/{seed}").choice(QUESTIONS) if seed else QUESTIONS[0]
    model, device, bits, group, requests, tokens, kv_bytes = chosen
    name, count, layers = MODELS[model]
    where, bandwidth, price = DEVICES[device]
    return [
        {
            "model": name, "count": count, "layers": layers, "bits": bits, "group": group,
            "requests": requests, "tokens": tokens, "kv_bytes": kv_bytes, "device": where,
            "kv_text": f"{kv_bytes} byte{'s' * (kv_bytes > 1)}",
            "bandwidth": bandwidth, "price": price, "billions": count / 1e9,
            "gb_a_second": round(bandwidth / 1e9),
        }
    ]  # fmt: skip


def judge(case, output):
    """Each figure within 25%; a factor that is missing is named before anything else is said."""
    from exercises.grading import spec

    want = spec.reference("14.2")(**case)
    if not isinstance(output, dict) or set(output) != set(want):
        raise Wrong("keys", f"the answer must be a dict with the keys {sorted(want)}", got=output)
    for key, value in want.items():
        what, got = f"answer[{key!r}]", output[key]
        slips = SLIPS.get(key, ()) if abs(number(got, what) - value) > 0.25 * value else ()
        for factor, said in slips:
            times = factor(case) if callable(factor) else factor
            if abs(got * times - value) <= 0.02 * value:
                raise Wrong(f"14.2.{key}", f"{what} is {said}")
        within(got, value, 0.25, what)


SLIPS = {  # what a figure must be multiplied by, and what it then was
    "weights_gb": (
        (1e-9, "in bytes: 1 GB is 1e9 of them"),
        (1 / 8, "8 times too large: bits for bytes"),
    ),
    "cache_gb": (
        (lambda case: case["requests"], "that of one request: the question asks for all of them"),
        (2, "half of it: are keys AND values there, with all their bytes?"),
        (lambda case: case["layers"], "that of one layer: the model has more"),
        (1e-9, "in bytes: 1 GB is 1e9 of them"),
    ),
    "step_ms": ((1000, "in seconds: milliseconds are asked for"),),
    "dollars": ((lambda case: 1 / case["requests"], "that of one token a step: every request "
                 "gets one"),),
}  # fmt: skip
