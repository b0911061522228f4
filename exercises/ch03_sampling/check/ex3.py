"""Check of 3.3: equal scores give V; one token of log-probability -200 must not give infinity."""

import math

from exercises.grading import spec
from exercises.grading.judge import Wrong, normal, number
from exercises.grading.spec import Exercise

EXERCISE = Exercise(
    id="3.3", title="Perplexity", kind="code", entry="perplexity",
    minutes=15, difficulty=2, evening=True,
    sizes=({"T": 2, "V": 4}, {"T": 12, "V": 17}, {"T": 41, "V": 29, "shock": 200.0}),
    hints=(
        "A text of 5 tokens gives 5 rows of logits. How many rows have a next token in the text? "
        "Which token must row 0 be scored with?",
        "nll[t] = -log_softmax(logits[t])[tokens[t + 1]] for t = 0 .. T-2; perplexity = "
        "exp(sum / (T - 1)). Shapes: logits[:-1] is [T-1, V], tokens[1:] is [T-1].",
        "logprobs_TV = logits_TV[:-1].log_softmax(-1)\n"
        "nll_T = -logprobs_TV.gather(1, tokens_T[____, None])[:, 0]\n"
        "return float(nll_T.mean().exp())",
    ),
)  # fmt: skip
# float32: a row of logits up to 200 gives -log p to 200 * 2^-23 at worst, and the mean divides it
# by T - 1; exp turns an absolute error of the mean into a relative one of the perplexity.
TOLERANCE = 200 * 2**-23


def make(rng, T, V, shock=0.0):
    import torch

    logits_TV = normal(rng, T, V, scale=2.0)
    tokens_T = torch.tensor([rng.randrange(V) for _ in range(T)])
    if T == 2:  # by hand: probabilities 1/8, 1/8, 1/4, 1/2 in some order: 2, 4 or 8
        order = rng.sample(range(V), V)
        logits_TV[0] = torch.tensor([0.125, 0.125, 0.25, 0.5]).log()[order] + 3.0
        tokens_T[1] = order.index(2)
        tokens_T[0] = order.index(3)
    if shock:  # one wanted token so unlikely that its probability is 0 in float32
        place = rng.randrange(T - 1)
        logits_TV[place, tokens_T[place + 1]] -= shock
    return {"logits_TV": logits_TV, "tokens_T": tokens_T}


def drive(answer, case):
    value = answer(**case)
    return "infinite" if isinstance(value, float) and math.isinf(value) else value


def judge(case, output):
    want = spec.reference("3.3")(case["logits_TV"].double(), case["tokens_T"])
    if output == "infinite":
        raise Wrong("3.3.inf", "the perplexity is infinite: some probability became 0", None, want)
    got = number(output, "the perplexity")
    if abs(got - want) > TOLERANCE * want:
        raise Wrong("value", "the perplexity is another number", None, want, got)
