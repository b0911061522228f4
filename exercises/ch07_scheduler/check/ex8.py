"""Check of 7.8: a queue over a small pool, with requests that fit now, later, just, and never."""

from exercises.grading import spec
from exercises.grading.judge import Wrong, compare
from exercises.grading.spec import Exercise

EXERCISE = Exercise(
    id="7.8", title="The queue stands still", kind="hunt", entry="Queue",
    minutes=15, difficulty=2, torch=False,
    sizes=(
        {"blocks": 2, "size": 2, "kinds": ("long prompt", "small")},
        {"blocks": 3, "size": 4, "kinds": ("exact", "small", "long answer", "small")},
        {"blocks": 5, "size": 3, "kinds": ("half", "half", "long answer", "exact", "small")},
        {"blocks": 4, "size": 1, "kinds": ("small", "exact", "small", "one too many", "half")},
        {"blocks": 6, "size": 8, "kinds": ("half", "exact", "small", "half", "one too many")},
        {"blocks": 7, "size": 5, "kinds": ("small", "small", "half", "long prompt", "half")},
    ),
    hints=(
        "The pool has 4 blocks of 8 tokens. A request has a prompt of 20 tokens and may write 14. "
        "How many blocks does it need at most? Will it ever get them? Who stands behind it?",
        "longest = num_prompt + max_tokens - 1 tokens (the last one written needs no K/V). It can "
        "never fit if ceil(longest / block_size) > ALL blocks. That is known in `add`.",
        "# in add\n"
        "need = self.blocks_for(num_prompt, max_tokens)\n"
        "if need > ____:\n"
        "    raise ValueError(f'{name} needs {need} blocks, ...')",
    ),
)  # fmt: skip
STEPS = 60


def make(rng, blocks, size, kinds):
    """Two requests come at each step; `exact` needs the whole pool, `one too many` a token more."""
    room, jobs = blocks * size, []
    for number, kind in enumerate(kinds):
        longest = {
            "small": rng.randint(1, size), "half": max(room // 2, 1), "exact": room,
            "one too many": room + 1, "long prompt": room + size + 2, "long answer": room + 3,
        }[kind]  # fmt: skip
        prompt = rng.randint(1, min(longest, room))
        if kind == "long prompt":
            prompt = room + 1
        elif kind in ("long answer", "one too many"):
            prompt = rng.randint(1, max(room // 2, 1))
        jobs.append(["ABCDEFGHIJ"[number % 10], prompt, longest - prompt + 1])
    return {"num_blocks": blocks, "block_size": size, "jobs": jobs}


def drive(answer, case):
    """What became of each request: refused, or finished in which step."""
    queue, fate = answer(case["num_blocks"], case["block_size"]), {}
    jobs = [list(job) for job in case["jobs"]]
    for step in range(1, STEPS + len(jobs)):
        for name, num_prompt, max_tokens in jobs[:2]:
            fate[name] = "never finished"
            try:
                queue.add(name, num_prompt, max_tokens)
            except ValueError as error:
                fate[name] = "refused" if str(error) else "refused without a word"
        del jobs[:2]
        try:
            finished = queue.step()
        except ValueError as error:
            return fate | {"step": f"step {step} raised {error}"}
        fate |= {name: f"finished in step {step}" for name in finished}
    return fate


def calls(case, mine):
    """For explain: the same calls, one by one."""
    jobs, lines = case["jobs"], [f"queue = {mine}({case['num_blocks']}, {case['block_size']})"]
    step = "print(f'finished in step {step}:', queue.step())"
    for at in range(0, len(jobs), 2):
        for name, num_prompt, max_tokens in jobs[at : at + 2]:
            lines += ["try:", f"    queue.add({name!r}, {num_prompt}, {max_tokens})"]
            lines += ["except ValueError as error:", "    print('refused:', error)"]
        lines.append(step.replace("{step}", str(at // 2 + 1)).replace("print(f", "print("))
    first = (len(jobs) + 1) // 2 + 1
    return lines + [f"for step in range({first}, {STEPS + len(jobs)}):", f"    {step}"]


def judge(case, output):
    want = drive(spec.reference("7.8"), case)
    count, size = case["num_blocks"], case["block_size"]
    pool = f"a pool of {count} block{'s' * (count > 1)} of {size} token{'s' * (size > 1)}"
    if "step" in output:
        raise Wrong("7.8.late", f"{output['step']}: in a step it is too late, others are running")
    for name, num_prompt, max_tokens in case["jobs"]:
        if output[name] != want[name]:
            raise Wrong(
                "7.8.fate",
                f"with {pool}, request {name} ({num_prompt} tokens of prompt, max_tokens "
                f"{max_tokens}) is treated wrongly", None, want[name], output[name],
            )  # fmt: skip
    compare(output, want)
