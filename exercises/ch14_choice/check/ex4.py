"""Check of 14.4: the configuration is data; the grader runs the engine with it.

Broken limits are found without the model (the same plans and times, in a moment). What the right
ones are told comes from a run in which `tiny` writes every token. Shares of right answers are the
recorded ones: 100 requests are too few to judge by.
"""

from exercises.ch14_choice import workload
from exercises.grading.judge import Wrong
from exercises.grading.spec import Exercise

EXERCISE = Exercise(
    id="14.4", title="Serve it for less", kind="choose", entry="answer",
    minutes=80, difficulty=4, evening=True, torch=False,
    hints=(
        "Begin with the floors. Which rows of the second table hold all three? Of these, which "
        "takes the fewest bytes? How many bytes of the budget are then left for blocks?",
        "num_blocks = (budget - bytes of the weights) // (block_size * bytes of a token). Waiting "
        "(TTFT) falls with more seats, as long as blocks last; TPOT and the longest step grow with "
        "seats and with max_batch_tokens. What all prompts share is computed once, if you let it.",
        'answer = {"weights": ..., "pruning": None, "kv_dtype": "int8", "block_size": 16,\n'
        '          "num_blocks": (budget - weights) // (16 * ____), "max_num_seqs": 24,\n'
        '          "max_batch_tokens": 128, "prefix_caching": True}',
    ),
)  # fmt: skip
WEIGHTS, PRUNING, KV = ("fp16", "int8", "int4", "int3"), (None, "2:4"), ("fp16", "int8")
ALLOWED = {
    "weights": WEIGHTS, "pruning": PRUNING, "kv_dtype": KV, "block_size": (8, 16, 32, 64),
    "prefix_caching": (True, False),
}  # fmt: skip
FAR = 4  # budgets
MOST = {"num_blocks": 100_000, "max_num_seqs": 256, "max_batch_tokens": 4096}


def cases(seed):
    """The workload of this student, and the texts of the question."""
    case, record = workload.draw(seed), workload.record()
    texts = {
        "megabytes": case["budget"] / 1e6, "ttft_ms": round(1000 * case["ttft"]),
        "tpot_ms": round(1000 * case["tpot"]), "mix": _mix(case), "bytes_table": _bytes(record),
        "quality_table": _quality(case), "floors_text": _shares(case["floors"]),
        "system_count": len(case["system"]),
    }  # fmt: skip
    return [case | {"bytes": record["weights"], "kv_token": record["kv_token"]} | texts]


def _mix(case: dict) -> str:
    tasks = [job[1] for job in case["jobs"]]
    return ", ".join(f"{tasks.count(t)} x {t}" for t in case["floors"])


def _shares(shares: dict) -> str:
    return ", ".join(f"{task} {100 * share:.1f}%" for task, share in shares.items())


def _bytes(record: dict) -> str:
    lines = [f"    {name:12}{size:10,}" for name, size in record["weights"].items()]
    return "\n".join(lines)


def _quality(case: dict) -> str:
    lines = ["    " + " " * 12 + "".join(f"{task:>10}" for task in case["floors"])]
    for pruning in PRUNING:
        for weights in WEIGHTS:
            found = workload.quality(case["product"], weights, pruning, "int8")
            cells = "".join(f"{100 * found[task]:9.1f}%" for task in case["floors"])
            lines.append(f"    {workload.name_of(weights, pruning):12}{cells}")
    return "\n".join(lines)


def judge(case, output):
    read(output)
    weights = case["bytes"][workload.name_of(output["weights"], output["pruning"])]
    pool = output["num_blocks"] * output["block_size"] * case["kv_token"][output["kv_dtype"]]
    if weights + pool > FAR * case["budget"]:  # not even tried: it could be gigabytes
        raise Wrong("14.4.bytes", "- " + _over(case["budget"], weights, pool))
    from exercises.ch14_choice import serving

    try:
        outcome = serving.serve(case, output, text=False)
    except ValueError as error:  # the engine says what to do
        raise Wrong("14.4.engine", f"the engine refuses: {error}") from None
    broken = list(limits(case, output, outcome))
    if broken:
        raise Wrong("14.4." + broken[0][0].lower(), "\n".join(f"- {text}" for _, text in broken))


def read(output) -> None:
    """Raise Wrong unless it is a configuration of the eight keys."""
    keys = [*ALLOWED, *MOST]
    if not isinstance(output, dict) or set(output) != set(keys):
        raise Wrong("14.4.keys", _keys(output, keys))
    for key, allowed in ALLOWED.items():
        if not any(output[key] is a or type(a) is type(output[key]) and a == output[key]
                   for a in allowed):  # fmt: skip
            raise Wrong("14.4.value", f"{key} must be one of {allowed}", got=output[key])
    for key, most in MOST.items():
        if output[key] is None:
            text = f"{key} is still None: a whole number goes there. The budget decides which"
            raise Wrong("14.4.value", text)
        if type(output[key]) is not int or not 1 <= output[key] <= most:
            text = f"{key} must be a whole number from 1 to {most:,}, yours is {output[key]!r}"
            raise Wrong("14.4.value", text)


def _keys(output, keys: list[str]) -> str:
    """What is wrong with the keys of an answer."""
    if not isinstance(output, dict):
        return f"the answer must be a dict with the keys {keys}"
    unknown = sorted(map(repr, set(output) - set(keys)))
    missing = [repr(key) for key in keys if key not in output]
    said = [f"unknown key: {', '.join(unknown)}"] * bool(unknown)
    said += [f"missing: {', '.join(missing)}"] * bool(missing)
    return "; ".join(said)


WAITS = "What makes people wait (TTFT) makes this small, too"
FULL = ("Nobody waits too long (TTFT holds). So a step must write more tokens (more seats, if the "
        "blocks last), or read fewer bytes")  # fmt: skip


def limits(case: dict, answer: dict, outcome):
    """(name, sentence) of every limit that is broken: by how much, and where to look."""
    if outcome.weights + outcome.pool > case["budget"]:
        yield "bytes", _over(case["budget"], outcome.weights, outcome.pool)
    shares = workload.quality(*(case["product"], *(answer[k] for k in list(ALLOWED)[:3])))
    for task, floor in case["floors"].items():
        if shares[task] < floor:
            yield "quality", _under(task, 100 * shares[task], 100 * floor, answer["kv_dtype"])
    if outcome.ttft > case["ttft"]:
        yield "TTFT", _late("TTFT", outcome.ttft, case["ttft"]) + _why_waiting(answer, outcome)
    if outcome.tpot > case["tpot"]:
        yield "TPOT", _late("TPOT", outcome.tpot, case["tpot"]) + _why_slow(answer, outcome)
    if outcome.score < case["least"]:
        text = f"speed: {outcome.score:.0f} tokens/s, {case['least']} are wanted. "
        yield "speed", text + (WAITS if outcome.ttft > case["ttft"] else FULL)


def _over(budget: float, weights: float, pool: float) -> str:
    budget, weights, pool = budget / 1e6, weights / 1e6, pool / 1e6  # MB
    return (f"bytes: weights {weights:.2f} MB and pool {pool:.2f} MB are "
            f"{weights + pool - budget:.2f} MB over the budget of {budget:.2f} MB. Fewer bits for "
            "weights or for K and V, or fewer blocks")  # fmt: skip


def _under(task: str, share: float, floor: float, kv: str) -> str:
    held = " (with K and V in fp16)" * (kv == "fp16")  # the table is that of int8
    return (f"{task}: {share:.1f}% are right{held}, {floor - share:.1f} points under its floor of "
            f"{floor:.1f}%. Other weights: see its column")  # fmt: skip


def _late(name: str, seconds: float, limit: float) -> str:
    times = seconds / limit
    digits = 2 if times >= 1.005 else 4  # not "1.00 times"
    return (f"{name}: p95 is {1000 * seconds:.{digits - 1}f} ms, {times:.{digits}f} times the "
            f"limit of {1000 * limit:.0f} ms. ")  # fmt: skip


def _why_waiting(answer: dict, outcome) -> str:
    if not answer["prefix_caching"]:
        return "Every prompt begins with the same tokens, and all of them are computed each time"
    if answer["max_batch_tokens"] < 64:
        tokens = answer["max_batch_tokens"]
        return f"Prompts are read {tokens} tokens a step: a larger max_batch_tokens"
    if outcome.most == answer["max_num_seqs"]:
        return f"All {outcome.most} seats were taken while others waited: more seats"
    return (f"Only {outcome.most} of {answer['max_num_seqs']} seats were ever taken: the blocks "
            "ran out. More blocks: fewer bits for K and V or for the weights")  # fmt: skip


def _why_slow(answer: dict, outcome) -> str:
    if outcome.preemptions:
        return (f"{outcome.preemptions} times a request lost its blocks and was computed again: "
                "fewer seats, or more blocks")  # fmt: skip
    if not answer["prefix_caching"]:
        return "Who writes waits while prompts are read; what they share is read each time"
    return (f"A step reads K and V of up to {outcome.most} requests, and takes up to "
            f"{answer['max_batch_tokens']} new tokens: fewer of one or the other")  # fmt: skip


def remark(cases, outputs):
    """The score, and what `tiny` wrote: the run with the model."""
    from exercises.ch14_choice import serving

    case, answer = cases[0], outputs[0]
    outcome = serving.serve(case, answer)
    right = ", ".join(f"{task} {100 * share:.0f}%" for task, share in outcome.right.items())
    ours = serving.serve(case, _ours(case), text=False)
    return (f"score {outcome.score:.0f} tokens/s (ours: {ours.score:.0f}). TTFT p95 "
            f"{1000 * outcome.ttft:.0f} ms, TPOT p95 {1000 * outcome.tpot:.1f} ms, weights "
            f"{outcome.weights / 1e6:.2f} MB, pool {outcome.pool / 1e6:.2f} MB, {outcome.most} "
            f"requests at a time. Right in this run: {right}")  # fmt: skip


def _ours(case: dict) -> dict:
    from exercises.grading import spec

    return spec.reference("14.4")(**case)
