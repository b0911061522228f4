"""Check of 7.4: a request is preempted, and its tokens are those of an undisturbed one."""

import random

import torch

from exercises.grading.judge import Wrong, compare, normal
from exercises.grading.spec import Exercise
from minillm.cache.simple import StripCache
from minillm.config import ModelConfig
from minillm.model import Transformer

EXERCISE = Exercise(
    id="7.4", title="Begin again, lose nothing", kind="code", entry="Text",
    minutes=25, difficulty=3,
    sizes=(
        {"prompt": 2, "max_tokens": 3, "budget": 8, "preempt_before": (2,), "half_in": (2,)},
        {"prompt": 5, "max_tokens": 6, "budget": 3, "preempt_before": (1, 5), "half_in": (1, 6)},
        {"prompt": 7, "max_tokens": 9, "budget": 4, "preempt_before": (5, 6, 12), "half_in": (8,)},
        {"prompt": 1, "max_tokens": 7, "budget": 2, "preempt_before": (4,), "half_in": (5,)},
        {"prompt": 11, "max_tokens": 5, "budget": 32, "preempt_before": (3, 4), "half_in": (1, 4)},
    ),
    hints=(
        "A prompt of 4 tokens, 3 are written, then the request is preempted. How many keys and "
        "values does the pool hold of it? How many tokens does it know? How many must be computed "
        "before the next one can be sampled?",
        "num_computed counts K/V in the pool, tokens is the text. preempt: the first becomes 0, "
        "the second stays. Sample only when num_computed == len(tokens).",
        "def next_piece(self, budget):\n"
        "    return self.tokens[self.num_computed : self.num_computed + budget]\n"
        "def commit(self, count, pick):\n"
        "    self.num_computed += count\n"
        "    if self.num_computed == ____:\n"
        "        self.tokens.append(pick())\n"
        "def preempt(self):\n"
        "    self.num_computed = 0",
    ),
)  # fmt: skip
NO_TRACE = (
    "a variable tells little here, for what matters is kept from step to step: use explain. It "
    "shows how many tokens each step computes"
)
VOCAB = 17
CONFIG = ModelConfig(
    family="llama", vocab_size=VOCAB, width=24, mlp_width=40, num_layers=2,
    num_heads=6, num_kv_heads=2, head_size=4, max_len=64,
)  # fmt: skip


def make(rng, prompt, max_tokens, budget, preempt_before, half_in):
    tokens = [rng.randrange(VOCAB) for _ in range(prompt)]
    return {
        "seed": rng.getrandbits(40), "prompt": tokens, "max_tokens": max_tokens,
        "budget": budget, "preempt_before_steps": list(preempt_before),
        "only_half_in_steps": list(half_in),  # so that `count` tells something
    }  # fmt: skip


def _model(seed):
    """fp64 and random weights, large enough that every token of the text matters."""
    model, rng = Transformer(CONFIG).double(), random.Random(seed)
    for parameter in model.parameters():
        if parameter.dim() == 2:
            size = 1.5 * parameter.shape[1] ** -0.5
            parameter.data = normal(rng, *parameter.shape, dtype=torch.float64, scale=size)
    return model


def _picker(case):
    """Samples from logits; one generator for the whole life of a request, as in the engine."""
    rng = random.Random(f"{case['seed']} pick")

    def pick(logits_V):
        weights = (logits_V * 0.7).softmax(-1).tolist()
        return rng.choices(range(VOCAB), weights)[0]

    return pick


@torch.no_grad()
def drive(answer, case):
    """A little engine: the pool is a strip that is thrown away at a preemption."""
    model, pick = _model(case["seed"]), _picker(case)
    text, memory = answer(list(case["prompt"]), case["max_tokens"]), None
    sizes, most = [], 8 * (len(case["prompt"]) + case["max_tokens"])
    while not text.finished() and len(sizes) < most:
        if len(sizes) + 1 in case["preempt_before_steps"]:
            text.preempt()
            memory = None
        memory = memory or StripCache(CONFIG, max_len=CONFIG.max_len, dtype=torch.float64)
        piece = list(text.next_piece(case["budget"]))
        if len(sizes) + 1 in case["only_half_in_steps"] and len(piece) <= case["budget"]:
            piece = piece[: (len(piece) + 1) // 2]
        sizes.append(len(piece))
        if not piece or memory.length + len(piece) > CONFIG.max_len:
            break
        logits_V = model(torch.tensor(piece), None, memory)[-1]
        text.commit(len(piece), lambda row=logits_V: pick(row))
    return {"text": list(text.tokens), "computed in each step": sizes}


def calls(case, mine):
    """For explain: the same steps without a model; every new token is 99."""
    prompt, steps, half = (
        case[name] for name in ("prompt", "preempt_before_steps", "only_half_in_steps")
    )
    return [
        f"text = {mine}({prompt}, {case['max_tokens']})",
        f"for step in range(1, {4 * (len(prompt) + case['max_tokens'])}):",
        "    if text.finished():",
        "        break",
        f"    if step in {steps}:",
        "        text.preempt()",
        f"    piece = text.next_piece({case['budget']})",
        f"    if step in {half}:",
        "        piece = piece[: (len(piece) + 1) // 2]  # only this half is computed",
        "    text.commit(len(piece), lambda: 99)  # the check samples from a small model",
        '    print(f"step {step} computes {piece}, then the text is {text.tokens}")',
    ]


@torch.no_grad()
def judge(case, output):
    """The undisturbed text, by reading everything again for every token: no cache, no pieces."""
    model, pick, want = _model(case["seed"]), _picker(case), list(case["prompt"])
    for _ in range(case["max_tokens"]):
        want.append(pick(model(torch.tensor(want))[-1]))
    sizes, budget = output["computed in each step"], case["budget"]
    if not sizes or min(sizes) < 1:
        raise Wrong("7.4.empty", f"step {len(sizes)} computes nothing", got=sizes)
    if max(sizes) > budget:
        raise Wrong("7.4.budget", f"a step computes {max(sizes)} tokens, the budget is {budget}")
    compare(output["text"], want, what="text")
    known = len(case["prompt"])
    if sum(sizes) > (len(case["preempt_before_steps"]) + 1) * (known + case["max_tokens"]):
        raise Wrong("7.4.work", f"right, but {sum(sizes)} tokens were computed", got=sizes)
