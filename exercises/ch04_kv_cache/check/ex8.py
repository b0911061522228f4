"""Check of 4.8: logits of chunks and single steps against the whole text at once, in float64."""

import random

import torch

from exercises.grading.judge import Wrong, compare, normal
from exercises.grading.spec import Exercise
from minillm.cache.simple import StripCache
from minillm.config import ModelConfig
from minillm.model import Transformer

EXERCISE = Exercise(
    id="4.8", title="The text slowly goes wrong", kind="hunt", entry="decode_logits",
    minutes=20, difficulty=3, tolerance="fp64",
    sizes=(
        {"prompt": 1, "answer": 1}, {"prompt": 4, "answer": 3}, {"prompt": 5, "answer": 2},
        {"prompt": 11, "answer": 6}, {"prompt": 8, "answer": 1},
    ),
    hints=(
        "The prompt has 5 tokens: their positions are 0 to 4. Which position must the first token "
        "of the answer have? Print pos_T in every step: is a number missing or there twice?",
        "A token's position is the number of tokens before it. All positions of one text are "
        "0, 1, 2, ... without a gap. memory.length is that number before the step.",
        "# in both loops\npos_T = torch.arange(____, ____ + number_of_new_tokens)",
    ),
)  # fmt: skip
VOCAB = 13
CONFIG = ModelConfig(
    family="llama", vocab_size=VOCAB, width=24, mlp_width=40, num_layers=2,
    num_heads=6, num_kv_heads=2, head_size=4, max_len=64,
)  # fmt: skip


def make(rng, prompt, answer):
    tokens = lambda count: [rng.randrange(VOCAB) for _ in range(count)]
    return {"seed": rng.getrandbits(40), "prompt": tokens(prompt), "answer": tokens(answer)}


def _model(seed):
    """Random weights, large enough that attention looks sharply."""
    model, rng = Transformer(CONFIG).double(), random.Random(seed)
    for parameter in model.parameters():
        if parameter.dim() == 2:
            size = 1.5 * parameter.shape[1] ** -0.5
            parameter.data = normal(rng, *parameter.shape, dtype=torch.float64, scale=size)
    return model


def drive(answer, case):
    memory = StripCache(CONFIG, max_len=40, dtype=torch.float64)
    memory.kv.fill_(torch.nan)
    with torch.no_grad():
        logits = answer(_model(case["seed"]), memory, case["prompt"], case["answer"])
    return {"logits": logits, "held": memory.length}


def judge(case, output):
    """The whole text at once, no cache: independent of every decode loop."""
    text_T = torch.tensor(case["prompt"] + case["answer"])
    with torch.no_grad():
        want = _model(case["seed"])(text_T)[len(case["prompt"]) - 1 :]
    try:
        # fp64; a shift of all positions is allowed
        compare(output["logits"], want, 1e-9, what="logits")
    except Wrong as wrong:
        if wrong.id == "value":
            row = wrong.index[0]
            where = f"after token {row} of the answer" if row else "after the prompt"
            count = len(case["prompt"])
            wrong.message = (
                f"with a prompt of {count} token{'s' * (count > 1)} the logits {where} are not "
                f"those of the whole text at once"
            )
        raise
    if output["held"] != len(text_T):
        said = f"right, but the memory holds {output['held']} of {len(text_T)} tokens"
        raise Wrong("4.8.memory", f"{said}: the text must go through the cache")
