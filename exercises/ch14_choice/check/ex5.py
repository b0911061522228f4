"""Check of 14.5: an order for the queue, by the engine's scheduler on the paper GPU.

Graded are two figures, each against first come, first served on the same requests. The four traces
are some for which shortest-first starves a request. All of them are run each time, so that no rule
is right by the luck of a draw.
"""

from exercises.ch14_choice import traces
from exercises.grading.judge import Wrong
from exercises.grading.spec import Exercise

EXERCISE = Exercise(
    id="14.5", title="A queue of your own", kind="code", entry="policy",
    minutes=45, difficulty=4, torch=False,
    hints=(
        "A (300 tokens) came at 0.0 s, then came ten requests of 10 tokens each, all for one seat "
        "and 5 ms a token. When does the last one start if A is first? And when does A start if A "
        "is last? Whose wait makes the p95, and whose is the longest?",
        "Short answers first lowers the p95, but a long one may wait for ever. So waiting must "
        "count, too: cost = answer - k * (now - arrival), with k in tokens for one second. An "
        "answer of 300 that waits 1.5 s should be as good as a new one of 10: which k?",
        "def policy(request, now):\n"
        '    waited = now - request["arrival"]\n'
        '    return request["answer"] - ____ * waited',
    ),
)  # fmt: skip
SEEDS = (24, 26, 44, 49)
FRONT = "Who stands in front of the many short ones?"
SLOW = {  # by what waiting does to its place
    "none": FRONT, "later": FRONT,
    "sooner": "Waiting counts so much in yours that it is nearly first come, first served",
}  # fmt: skip
STARVES = {
    "none": "what in your number changes while it waits?",
    "later": "the longer it waits, the later it goes. Which sign has waiting in your number?",
    "sooner": "waiting counts in yours, but too little. After how many seconds should an answer of "
    "300 tokens be as good as a new one of 10, and what does your number say then?",
}
NO_TRACE = "your function is called hundreds of times, there is no one set of variables"


def cases(seed):
    """All traces, whatever the seed."""
    return [{"trace": number} for number in SEEDS]


def make(rng, trace):
    return {"trace": trace}


def drive(answer, case):
    """Who stood where in the queue, at every step. What became of it is found in the parent: here
    an answer could get at the clock."""
    orders = []
    traces.serve(case["trace"], lambda request, now: _number(answer(request, now)), orders)
    return {"orders": orders, "waiting": _waiting(answer)}


def _number(value):
    """What a function may return, in words where it may not."""
    if not isinstance(value, (int, float)):
        what = "None" if value is None else type(value).__name__
        raise TypeError(f"policy must return a number, yours returned {what}")
    if value != value:
        raise ValueError("policy returned nan, which is no number to sort by")
    return value


def _waiting(answer) -> str:
    """What waiting does to an old long request, beside a short one that has just come."""

    def behind(now):
        old = answer({"arrival": 0.0, "prompt": 100, "answer": 300}, now)
        return old - answer({"arrival": now, "prompt": 100, "answer": 10}, now)

    try:
        change = behind(3.0) - behind(1.0)
    except (ArithmeticError, TypeError, ValueError):
        return "none"
    return "none" if abs(change) < 1e-9 else "later" if change > 0 else "sooner"


def _ttft(case, output) -> list[float]:
    """Seconds to the first token of every request, in the order of arrival."""
    try:
        return [m.ttft for m in traces.replay(case["trace"], output["orders"])]
    except (ValueError, TypeError):
        raise Wrong("14.5.orders", "the engine ran in another way than its rules say: write a "
                    "function of request and now, and touch nothing else") from None  # fmt: skip


def judge(case, output):
    ttft = _ttft(case, output)
    p95, longest = traces.figures(ttft)
    fair_p95, fair_longest = traces.first_come(case["trace"])
    slow, late = p95 > traces.LESS * fair_p95, longest > traces.LONGER * fair_longest
    said = []
    if slow:
        said.append(f"p95 of the time to the first token is {p95:.2f} s; first come, first served "
                    f"has {fair_p95:.2f} s, and at most {traces.LESS * fair_p95:.2f} s are "
                    f"allowed. {SLOW[output.get('waiting', 'none')]}")  # fmt: skip
    if late:
        who = ttft.index(longest)
        job = traces.trace(case["trace"])[who]
        said.append(f"request {who} ({job.answer} tokens to write, came at {job.arrival:.2f} s) "
                    f"waits {longest:.2f} s for its first token; at most "
                    f"{traces.LONGER * fair_longest:.2f} s are allowed ({traces.LONGER} x the "
                    "longest of first come, first served). It starves: "
                    f"{STARVES[output.get('waiting', 'none')]}")  # fmt: skip
    if said:
        kind = "both" if slow and late else "p95" if slow else "starves"
        raise Wrong(f"14.5.{kind}", ". ".join(said).replace("?. ", "? "))


def calls(case, mine):
    """For explain's cell: the figures, not thousands of orders."""
    number = case["trace"]
    return [
        "from exercises.ch14_choice import traces", "",
        f"ttft = [m.ttft for m in traces.serve({number}, {mine})]",
        'print("p95 and longest, s:", traces.figures(ttft))',
        f'print("first come, first served:", traces.first_come({number}))',
    ]  # fmt: skip


def told(case, output):
    """For explain: what became of the requests that waited longest."""
    ttft, jobs = _ttft(case, output), traces.trace(case["trace"])
    longest = sorted(range(len(ttft)), key=ttft.__getitem__, reverse=True)[:5]
    lines = ["the five that waited longest:"]
    lines += [f"request {i}: came at {jobs[i].arrival:.2f} s, {jobs[i].answer} tokens to write, "
              f"first token after {ttft[i]:.2f} s" for i in longest]  # fmt: skip
    return "\n".join(lines)


def remark(cases, outputs):
    """How much was gained."""
    lines = []
    for case, output in zip(cases, outputs):
        mine, fair = traces.figures(_ttft(case, output)), traces.first_come(case["trace"])
        lines.append(f"p95 {mine[0]:.2f} s instead of {fair[0]:.2f} s, longest {mine[1]:.2f} s "
                     f"instead of {fair[1]:.2f} s")  # fmt: skip
    return "; ".join(lines)
