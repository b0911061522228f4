"""Check of 4.1: real layers of the package, with and without the mask, in float64."""

import torch

from exercises.grading.judge import normal
from exercises.grading.spec import Exercise
from minillm.cache.simple import NoCache
from minillm.config import ModelConfig
from minillm.model import Transformer

EXERCISE = Exercise(
    id="4.1", title="Do earlier keys and values change?", kind="code", entry="largest_change",
    minutes=15, difficulty=2, evening=True, tolerance="fp64",
    sizes=(
        {"layers": 2, "T": 2, "H": 1, "G": 1, "K": 2},
        {"layers": 5, "T": 3, "H": 4, "G": 2, "K": 4},
        {"layers": 6, "T": 7, "H": 3, "G": 1, "K": 6},
        {"layers": 8, "T": 5, "H": 6, "G": 2, "K": 4},
    ),
    hints=(
        "You have 3 tokens and append one. kv_after then holds 4 tokens, kv_before 3. Which 3 of "
        "the 4 are the earlier ones: the first 3 or the last 3?",
        "change[layer] = max of |kv_after[layer, :, :T] - kv_before[layer]| over K and V, tokens, "
        "heads and numbers. kv_before [layers, 2, T, G, K], kv_after [layers, 2, T+1, G, K].",
        "longer_T = torch.cat([tokens_T, torch.tensor([new_token])])\n"
        "rows = []\n"
        "for causal in (True, False):\n"
        "    kv_before, kv_after = kv_of(tokens_T, causal), kv_of(longer_T, causal)\n"
        "    earlier = kv_after[____]\n"
        "    rows.append((earlier - kv_before).abs().flatten(1).amax(1))\n"
        "return torch.stack(rows)",
    ),
)  # fmt: skip
VOCAB = 11


def make(rng, layers, T, H, G, K):
    sizes = {"layers": layers, "H": H, "G": G, "K": K, "seed": rng.getrandbits(40)}
    tokens = [rng.randrange(VOCAB) for _ in range(T + 1)]
    return {"sizes": sizes, "tokens": tokens}


class Recorder:
    """A memory that keeps nothing for later, but shows the keys and values that went by."""

    length = 0

    def __init__(self, config, causal: bool):
        self.plain, self.causal, self.seen = NoCache(config), causal, []

    def attend(self, layer, q_THK, k_TGK, v_TGK):
        self.seen.append(torch.stack([k_TGK, v_TGK]))
        if self.causal:
            return self.plain.attend(layer, q_THK, k_TGK, v_TGK)
        share = q_THK.shape[1] // k_TGK.shape[1]
        k_THK, v_THK = k_TGK.repeat_interleave(share, 1), v_TGK.repeat_interleave(share, 1)
        scores_HTT = torch.einsum("qhk,lhk->hql", q_THK, k_THK) * q_THK.shape[-1] ** -0.5
        return torch.einsum("hql,lhk->qhk", scores_HTT.softmax(-1), v_THK)


def _model(rng, layers, H, G, K):
    config = ModelConfig(
        family="llama", vocab_size=VOCAB, width=H * K, mlp_width=2 * H * K, num_layers=layers,
        num_heads=H, num_kv_heads=G, head_size=K, max_len=64,
    )  # fmt: skip
    model = Transformer(config).double()
    for parameter in model.parameters():
        if parameter.dim() == 2:
            size = parameter.shape[1] ** -0.5
            parameter.data = normal(rng, *parameter.shape, dtype=torch.float64, scale=size)
    return model


def drive(answer, case):
    import random

    sizes = dict(case["sizes"])
    model = _model(random.Random(sizes.pop("seed")), **sizes)

    def kv_of(tokens_T, causal):
        recorder = Recorder(model.config, causal)
        with torch.no_grad():
            model(tokens_T, memory=recorder)
        return torch.stack(recorder.seen)

    *tokens, new = case["tokens"]
    return answer(kv_of, torch.tensor(tokens), new)
