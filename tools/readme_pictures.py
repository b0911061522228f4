"""Draws the README's pictures into docs/pictures/: the cover, and one picture a chapter.

Run `python -m tools.readme_pictures` after a change of a picture. Nothing here is timed: a picture
shows what is counted, recorded, or computed by the seeded default model, the same on each machine.
It also writes each alt text into the README, where an <img> names the file.
"""

from __future__ import annotations

import random
import re
from pathlib import Path

import torch

import minillm
from minillm import corpus, show
from minillm.budget import Question, plan
from minillm.budget_devices import find_gpu
from minillm.budget_formats import Format
from minillm.budget_models import find_model, of_count
from minillm.compress.shrink import choose
from minillm.config import ModelConfig
from minillm.model import Transformer

ROOT = Path(__file__).resolve().parents[1]
FOLDER, README = ROOT / "docs" / "pictures", ROOT / "README.md"
LIMIT = 60_000  # bytes of one file
QWEN3 = dict(width=1024, mlp_width=3072, num_layers=28, num_heads=16, num_kv_heads=8)
QWEN3 |= dict(family="qwen3", head_size=128, vocab_size=151936, max_len=40960, qk_norm=True)


def cover() -> show.Widget:
    """Seats filling: Llama-3-70B on 80 GB, requests of 4,096 tokens, all as `minillm plan` counts.

    Embedding and head stay in 16 bit, as quantize() leaves them: 4.2 GB in every row.
    """
    model, device = find_model("llama-3-70b"), find_gpu("H100")
    forms = {name: Format(name, base="fp16") for name in ("fp16", "int8", "int4")}
    plans = {name: plan(Question(model, device, form)) for name, form in forms.items()}
    (slack,) = {made.slack for made in plans.values()}
    (request,) = {made.kv_request for made in plans.values()}
    held = {name: made.weights.total for name, made in plans.items()}
    return show.seats_filling(device.memory, held, slack, request, static=tuple(held))


def next_digits() -> show.Picture:
    """Chapter 00: three steps of the default model on a sum."""
    model, tokenizer = minillm.load("tiny", device="cpu")
    tokens, panels, titles = tokenizer.encode("add: 347+589="), [], []
    for _ in range(3):
        best = model(torch.tensor(tokens))[-1].softmax(-1).topk(3)
        texts = [tokenizer.decode([i]) for i in best.indices.tolist()]
        panels.append(list(zip(texts, best.values.tolist())))
        titles.append("..." + tokenizer.decode(tokens)[-8:])
        tokens.append(best.indices[0].item())
    return show.next_token_bars(panels, titles)


class Watch(minillm.NoCache):
    """A memory that keeps the attention weights [layer][H, T, T] of one pass."""

    def attend(self, layer, q_THK, k_LGK, v_LGK):
        k_LHK = k_LGK.repeat_interleave(q_THK.shape[1] // k_LGK.shape[1], 1)
        scores_HTL = torch.einsum("thk,lhk->htl", q_THK, k_LHK) / q_THK.shape[-1] ** 0.5
        future_TL = torch.ones_like(scores_HTL[0], dtype=torch.bool).triu(1)
        weights_HTL = scores_HTL.masked_fill(future_TL, -torch.inf).softmax(-1)
        self.seen = [*getattr(self, "seen", []), weights_HTL]
        return super().attend(layer, q_THK, k_LGK, v_LGK)


def looks_at() -> show.Picture:
    """Chapter 02: the head that puts most weight on the answer, on a short question."""
    model, tokenizer = minillm.load("tiny", device="cpu")
    items = corpus.test_items("recall", count=40, seed=7)
    item = min(items, key=lambda i: len(tokenizer.encode(i.prompt)))
    tokens, watch = tokenizer.encode(item.prompt), Watch(model.config)
    model(torch.tensor(tokens), memory=watch)
    place = tokens.index(tokenizer.encode(item.answer)[1])
    on_answer = torch.stack([w_HTL[:, -1, place] for w_HTL in watch.seen])
    layer, head = divmod(on_answer.argmax().item(), model.config.num_heads)
    texts = [tokenizer.decode([token]) or f"#{token}" for token in tokens]
    future = torch.ones(len(tokens), len(tokens), dtype=torch.bool).triu(1)
    weights_TL = watch.seen[layer][head]
    seen = texts[weights_TL[-1].argmax().item()].strip()
    said = f"What each token of a question looks at; the last one looks at '{seen}', the answer."
    look = dict(masked=future, format=".1f", xlabel="looks at", ylabel="token", alt=said)
    return show.heatmap(weights_TL, texts, texts, **look)


def temperatures() -> show.Picture:
    """Chapter 03: the same five scores, made up, at three temperatures."""
    words, logits_V = ("cat", "dog", "fox", "owl", "yak"), torch.tensor([3.0, 2.4, 1.5, 0.5, -1.0])
    panels = [list(zip(words, (logits_V / t).softmax(-1).tolist())) for t in (0.5, 1.0, 3.0)]
    return show.next_token_bars(panels, ["T=0.5", "T=1", "T=3"])


def triangle(tokens: int = 10) -> show.Picture:
    """Chapter 04: without a cache, what each step computes again (0) and anew (1)."""
    new = [[float(token == step) for token in range(tokens)] for step in range(tokens)]
    absent = [[token > step for token in range(tokens)] for step in range(tokens)]
    said = "A triangle: every step computes all earlier tokens again, and one new one."
    look = dict(masked=absent, format=".0f", xlabel="token", ylabel="step", alt=said)
    return show.heatmap(new, **look)


def thin() -> Transformer:
    """A very small model with seeded random weights: who sits where depends on lengths only."""
    sizes = dict(width=32, mlp_width=64, num_layers=1, vocab_size=256, max_len=1024)
    heads = dict(num_heads=2, num_kv_heads=1, head_size=16)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        return Transformer(ModelConfig(family="llama", **sizes, **heads))


def engine(requests, **settings) -> minillm.LLM:
    """An engine with (tokens to read, tokens to write) waiting in it."""
    llm = minillm.LLM(thin(), None, minillm.EngineConfig(**settings))
    for read, write in requests:
        params = minillm.SamplingParams(max_tokens=write, ignore_eos=True)
        llm.add([1 + i % 200 for i in range(read)], params)
    return llm


def two_timelines() -> show.Picture:
    """Chapter 05: the same requests, static and continuous, by the real engine."""
    rng, runs = random.Random(5), {}
    lengths = [min(30, max(2, round(rng.lognormvariate(1.9, 0.9)))) for _ in range(20)]
    for policy in ("static", "continuous"):
        llm, steps = engine([(3, n) for n in lengths], max_num_seqs=4, policy=policy), []
        while llm.unfinished:
            steps.append([event.request.id for event in llm.step()])
        runs[policy] = steps
    return show.batches(runs, 4)


def pool() -> show.Picture:
    """Chapter 06: ten requests in blocks of 16 after 30 steps."""
    draw = random.Random("chapter 06")
    wishes = [(draw.randrange(10, 90), draw.randrange(30, 150)) for _ in range(10)]
    llm = engine(wishes, block_size=16, num_blocks=64, prefix_caching=False)
    for _ in range(30):
        llm.step()
    return show.pool_map(show.blocks_of(llm))


def chunks() -> show.Picture:
    """Chapter 07: what each step computes when a long prompt is cut to a budget of 16 tokens."""
    requests = [(9, 8), (40, 8), (5, 8)]
    llm = engine(requests, block_size=4, num_blocks=64, max_batch_tokens=16, prefix_caching=False)
    schedule, plans = llm.scheduler.schedule, []

    def kept():
        plan = schedule()
        plans.append(show.planned(plan))
        return plan

    llm.scheduler.schedule = kept
    while llm.unfinished:
        llm.step()
    return show.step_tokens({"tokens": plans}, budget=16)


def outlier() -> show.Picture:
    """Chapter 08: 256 random weights and one that is 24 times as large as usual."""
    row_K = torch.randn(256, generator=torch.Generator().manual_seed(8))
    span = 1.1 * float(row_K.abs().max())
    row_K[100] = 24 * row_K.std()
    return show.weight_row(row_K, span=span)


def bytes_moved() -> show.Picture:
    """Chapter 09: bytes that move for a weight, in three programs that all say int8."""
    first = {"read float": 4, "write float": 4, "read int8": 1}
    moved = {"fp32": {"read float": 4}, "int8, fake": {"read float": 4}, "int8, first": first}
    return show.stack(moved | {"int8, packed": {"read int8": 1}}, "bytes moved for each weight")


def remains() -> show.Picture:
    """Chapter 13: the default model without a layer, a quarter of its heads, some channels."""
    model, _ = minillm.load("tiny", device="cpu")
    kept = choose(model, layers=[0, 1, 2, 4, 5], heads=6, channels=416)  # chosen by the weights
    return show.remaining(model.config, kept)


def long_context() -> show.Picture:
    """Chapter 14: what gives seats to requests of 32,768 tokens; 8 billion weights, 80 GB."""
    device, half, long = find_gpu("A100-80GB"), Format("fp16"), dict(context=32_768)
    many, few = of_count(8 * 10**9, "llama-2-7b"), of_count(8 * 10**9, "llama-3-8b")
    tries = {
        "32 KV heads, paged": Question(many, device, half, **long),
        "8 KV heads": Question(few, device, half, **long),
        "+ int8 K/V": Question(few, device, half, "int8", **long),
        "+ int4 weights": Question(few, device, Format("int4", 64, base="fp16"), "int8", **long),
    }
    fits = {name: plan(question).largest for name, question in tries.items()}
    return show.bars(fits, "requests of 32,768 tokens")


def grid() -> show.Picture:
    """Appendix A1: 22 elements, blocks of 8, and the lanes that a mask keeps out."""
    lanes = range(24)
    return show.programs([[i // 8 for i in lanes]], [[i >= 22 for i in lanes]], "element")


PICTURES = {  # name of the file -> what draws it; a new chapter is one more line
    "cover": cover,
    "00": next_digits,
    "01": lambda: show.step_roofline(ModelConfig(**QWEN3), 16),
    "02": looks_at,
    "03": temperatures,
    "04": triangle,
    "05": two_timelines,
    "06": pool,
    "07": chunks,
    "08": outlier,
    "09": bytes_moved,
    "10": lambda: show.nibbles([0, -8, 7, 3, -1, 5, -4, 2]),
    "11": lambda: show.valley([[1, 0.9], [0.9, 1]], (1.4, 2.4), {"a": (1, 2), "b": (1, 3)}),
    "12": lambda: show.two_of_four([0.3, -1, 0.1, 0.7, 0.2, 0.5, -0.6, 0.1, -0.4, 0.8, 0.2, 0.3]),
    "13": remains,
    "14": long_context,
    "A1": grid,
}


@torch.inference_mode()
def drawn(name: str) -> tuple[bytes, str]:
    """(PNG, alt text) of one picture. Raises ValueError if the file would be too large."""
    made = PICTURES[name]()
    png, alt = made.twin() if isinstance(made, show.Widget) else (made.png(), made.alt)
    if len(png) > LIMIT:
        raise ValueError(f"the picture {name} has {len(png):,} bytes, at most {LIMIT:,} are wanted")
    return png, alt.replace('"', "'").replace("|", "/").replace("\n", " ")


def with_alt(page: str, name: str, alt: str) -> str:
    """The README with this picture's alt text in its <img> tags."""
    tag = rf'(<img src="docs/pictures/{name}\.png"[^>]* alt=")[^"]*'
    return re.sub(tag, lambda found: found[1] + alt, page)


def main() -> None:
    FOLDER.mkdir(parents=True, exist_ok=True)
    page = README.read_text(encoding="utf-8")
    for name in PICTURES:
        png, alt = drawn(name)
        (FOLDER / f"{name}.png").write_bytes(png)
        page = with_alt(page, name, alt)
        print(f"{name:5} {len(png):7,} bytes  {alt[:90]}")
    README.write_text(page, encoding="utf-8")


if __name__ == "__main__":
    main()
