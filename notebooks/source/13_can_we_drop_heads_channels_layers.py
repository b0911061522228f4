# ---
# jupyter:
#   jupytext:
#     text_representation:
#       format_name: percent
#   kernelspec:
#     display_name: Python 3
#     language: python
#     name: python3
# ---

# %% [markdown] id="13-title"
# # 13 · Can we drop heads, channels, layers?
#
# **After this notebook** you can take whole parts out of a model, predict how much faster it
# becomes, say which parts hurt most, and train it until it is nearly as good as before.
#
# **Time:** 50 minutes for the notebook, 10 for the exercises of the evening path, 95 for the rest.
# **Hardware:** any laptop.

# %% bootstrap

# %% [markdown] id="13-test-out"
# ## Test out
#
# Do you know this already? Solve 13.2, 13.3 and 13.5 below. If the grader says "right" three times,
# go on to chapter 14. (That takes an hour. The evening path of this chapter is 13.5 alone.)

# %%
import itertools
import json
import os
import time
from dataclasses import replace

import torch
from torch.utils.flop_counter import FlopCounterMode

import minillm
from minillm import clock, corpus, machine, recorded, show
from minillm.cache.simple import StripCache
from minillm.compress import evaluate
from minillm.compress.shrink import choose
from minillm.turns import in_turns
from minillm.weights import empty_model, fill

FAST = os.environ.get("MINILLM_FAST") == "1"  # small sizes: a check that everything runs
torch.set_grad_enabled(False)  # finetune() switches it on for itself
here = f"{machine.cpu_model()}, {torch.get_num_threads()} threads"
limit = machine.read_bandwidth("cpu").bytes_per_second
print(f"{here}: reads {limit / 1e9:.1f} GB/s")

# %% [markdown] id="13-parts"
# ## 1. Really smaller
#
# Zeros inside a matrix save nothing by themselves (chapter 12). So take **whole parts** out, and
# move the rest together. The matrices get smaller and stay dense. This is **structured** pruning.
# Every program can run the result: it is an ordinary model with smaller numbers in its config.
#
# Which parts does a model have? We choose 5 of 6 layers of `tiny`, 6 of 8 query heads, 416 of 512
# channels.

# %%
tiny, tokenizer = minillm.load("tiny", device="cpu")
items = itertools.islice(corpus.training_items(7), 20 if FAST else 100)
texts = [tokenizer.encode(item.prompt + item.answer)[:512] for item in items]
kept = choose(tiny, layers=5, heads=6, channels=416, calibration=texts)
show.remaining(tiny.config, kept)

# %% [markdown] id="13-parts-caption"
# *Picture: one row a layer, as wide as its weights. Orange: a KV head (its part of k and v). Blue:
# its query heads (q and o). Green: channels of the MLP, those that stay drawn first. Hatched: cut.*
#
# Each cut changes other figures. We ask the smaller models themselves: a counter watches the matrix
# products of a step of two tokens, and an empty cache says how many bytes it holds.


# %%
def facts(model):
    """(million weights, MB, MFLOP of the matrices for one token, K/V bytes a token)."""
    memory = StripCache.for_model(model, 64)
    with FlopCounterMode(display=False) as counter:
        model(torch.tensor([5, 6]), memory=memory)  # two: our CPU product sends one row twice
    held = sum(sum(kinds.values()) for kinds in model.weight_bytes().values())
    flops = counter.get_total_flops() / 2
    return model.num_parameters() / 1e6, held / 1e6, flops / 1e6, memory.kv.nbytes // 64


# %%
cuts = {"whole": {}, "416 channels": {"channels": 416}, "6 heads": {"heads": 6},
        "1 KV head": {"kv_heads": 1}, "5 layers": {"layers": 5},
        "shrunk": {"layers": 5, "heads": 6, "channels": 416}}  # fmt: skip
made = {name: minillm.shrink(tiny, calibration=texts, **cut) for name, cut in cuts.items()}
print("               million   MB fp32   MFLOP   K/V bytes a token")
for name, model in made.items():
    million, mb, flops, kv = facts(model)
    print(f"{name:14}{million:8.3f}{mb:10.2f}{flops:8.2f}{kv:12,}")

# %% [markdown] id="13-parts-read"
# *Table: a token costs 2 FLOPs a weight (the norms are the small rest).* Look at the last column.
# Query heads leave no K/V, so the cache stays as it is. Only **KV heads** and **layers** make it
# smaller. Remember it when long texts are your problem (chapter 04).
#
# ## 2. Channels
#
# An MLP computes h = silu(gate x) · (up x), and adds down h. One number of h is a **channel**: a
# row of gate, a row of up, a column of down. Take all three out, and the rest computes what it
# computed before. It is as if this number of h had been 0:

# %%
layer = tiny.layers[2].mlp
x_TD = torch.randn(5, 256, generator=torch.Generator().manual_seed(0))
gate_TF, up_TF = layer.gate_up(x_TD).chunk(2, dim=-1)
h_TF = layer.activation(gate_TF) * up_TF
stay = torch.arange(512) % 3 > 0  # any two thirds of the channels
zeroed_TD = (h_TF * stay) @ layer.down.weight.T
rows = torch.cat((stay, stay))
gate_TC, up_TC = (x_TD @ layer.gate_up.weight[rows].T).chunk(2, dim=-1)
small_TD = (layer.activation(gate_TC) * up_TC) @ layer.down.weight[:, stay].T
apart = (small_TD - zeroed_TD).norm() / zeroed_TD.norm()
print(f"{int(stay.sum())} of 512 channels: the results are {apart:.0e} of their size apart")

# %% [markdown] id="13-channels-which"
# Which ones go? Those that add least. On real text channel i adds h_i times its column of down. The
# mean square of that: (mean of h_i²) · (sum of the squares of the column).

# %% exercise 13.1

# %% [markdown] id="13-channels-ways"
# Does it matter how we choose? Four ways: on 100 texts, as above; on 30 of them; by the weights
# alone (the norms of the channel's rows and column); any. **Before you run it:** how many of 512
# channels can go until a quarter of the answers is wrong? And which way is best?


# %%
def right(model, count=4 if FAST else 20):
    """Share of right answers to unseen questions: five tasks, `count` of each."""
    return sum(evaluate.tasks(model, tokenizer, count).values()) / 5


sizes = (384, 128) if FAST else (384, 256, 192, 128)
few = texts[: 3 * len(texts) // 10]
ways = {f"{len(texts)} texts": texts, f"{len(few)} texts": few, "weights": None}
any_512 = torch.randperm(512, generator=torch.Generator().manual_seed(0)).tolist()
lines = {name: [] for name in (*ways, "any")}
for count in sizes:
    for name, given in ways.items():
        lines[name].append(100 * right(minillm.shrink(tiny, channels=count, calibration=given)))
    lines["any"].append(100 * right(minillm.shrink(tiny, channels=any_512[:count])))
show.lines(sizes, lines, "channels that stay", "% right", bound=100 * right(tiny))

# %% [markdown] id="13-channels-caption"
# *Picture: right answers (100 questions) against the channels that stay. Nothing was trained.
# Dashed: the whole model.* Choosing matters much. But text is not always the better guide: the
# weights alone do as well here as 100 texts, until few channels are left, and 30 texts are no
# better than none. What a channel adds only stands in for the question whether it is needed (so did
# Wanda's measure in chapter 12). A few points of 100 questions mean nothing.
#
# ## 3. Heads and groups
#
# Query head h reads KV head h // (H / G) (chapter 02). That rule sits in every program, and it only
# knows H and G. So **each KV head that stays must keep equally many query heads.** Take one head
# out of eight, and no rule of that form is right.

# %%
for wanted in ({"heads": 7}, {"heads": [0, 1, 2, 3, 4, 5]}):
    try:
        minillm.shrink(tiny, **wanted)
    except ValueError as error:
        print(f"{wanted}: {error}\n")
c = minillm.shrink(tiny, heads=6).config
print(f"6 heads: {c.num_heads} / {c.num_kv_heads} = {c.queries_per_kv} a group, "
      f"head_size {c.head_size}, width / heads = {c.width / c.num_heads:.1f}")  # fmt: skip

# %% [markdown] id="13-heads-size"
# The last line shows a second trap. Many programs take width / heads for the size of a head. After
# pruning it is not. So the size must stand in the config (`head_dim`), and it must be read.

# %%
groups = {"heads=6": {"heads": 6}, "kv_heads=1": {"kv_heads": 1}}
frames = {name: choose(tiny, calibration=texts, **cut) for name, cut in groups.items()}
show.widget(lambda name: show.remaining(tiny.config, frames[name]), list(frames), label="keep",
            static=tuple(frames))  # fmt: skip

# %% [markdown] id="13-heads-caption"
# *Picture: above, one query head of every group is gone, another one in each layer. Below, a whole
# group of each layer.*

# %% exercise 13.2

# %% [markdown] id="13-heads-cost"
# What do they cost? **Before you run it:** 6 of 8 heads are 5% of the weights. 416 of 512 channels
# are 12%. Which hurts more?

# %%
lost = {"whole": 100 * right(tiny)}
for name in ("416 channels", "6 heads", "1 KV head"):
    gone = 1 - made[name].num_parameters() / tiny.num_parameters()
    lost[f"{name}, -{gone:.0%}"] = 100 * right(made[name])
show.bars(lost, "% right")

# %% [markdown] id="13-heads-read"
# *Picture: right answers after the cut, without training. The number behind a name: weights that
# went.* So 5% of the weights cost half of the answers, and 12% cost none. **Weights are not equally
# valuable.** Counting them misleads. And look at the last bar: the cut that halves the cache
# destroys `tiny`. It would need training more than any other here.
#
# ## 4. Layers
#
# Taking a layer out is simplest: x goes past it. Which one? **Block influence** (ShortGPT, Men et
# al. 2024): compare what enters a layer with what leaves it. If both point the same way, the layer
# did little. The figure is 1 − cosine, the mean over all tokens.

# %% exercise 13.3

# %% [markdown] id="13-layers-guess"
# Now guess: which layer does `tiny` miss most? And how much faster is a smaller model? (Section 5
# measures that.)

# %% exercise 13.5

# %%
from minillm.compress.importance import block_influence

influence = block_influence(tiny, texts)
per_layer = {"1 - cos": influence, "% right lost": [], "perplexity": []}
for gone in range(6):
    model = minillm.shrink(tiny, layers=[i for i in range(6) if i != gone])
    per_layer["% right lost"].append(100 * (right(tiny) - right(model)))
    per_layer["perplexity"].append(evaluate.tale_perplexity(model, tokenizer, 1 if FAST else 8))
show.by_layer(per_layer, log=("perplexity",))

# %% [markdown] id="13-layers-caption"
# *Picture, a panel each: block influence of the layers of `tiny`; right answers lost when this
# layer alone is taken out (100 questions); perplexity of tales then (the whole model: 1.3).
# The longest bar is marked.*

# %%
order = lambda values: sorted(range(6), key=lambda i: -values[i])
lost, ruler = per_layer["% right lost"], per_layer["perplexity"]
for name, values in per_layer.items():
    i = order(values)[-1]
    print(f"{name:13} most first: {order(values)}; without layer {i}: {lost[i]:.0f} points lost, "
          f"perplexity {ruler[i]:.3f}")  # fmt: skip

# %% [markdown] id="13-layers-read"
# Influence cost a second, and no layer had to be taken out. Its order is that of the right answers,
# or nearly. The first layer, the only one that reads bare embeddings, and the last one, which
# prepares the next token, do most. In the middle each does less. But "less" is not "nothing". And
# perplexity, which hardly moves, is a poor judge of it: see which layer it would take out, and what
# that costs task by task.
#
# For channels the weights alone were as good a guide as 100 texts (section 2). And for the others?

# %%
gone = order(ruler)[-1]
model = minillm.shrink(tiny, layers=[i for i in range(6) if i != gone])
shares = evaluate.tasks(model, tokenizer, 4 if FAST else 40)
print(f"without layer {gone}:", {task: f"{share:.0%}" for task, share in shares.items()})
for name in ("5 layers", "6 heads"):
    alone = 100 * right(minillm.shrink(tiny, **cuts[name]))
    print(f"{name:13} on text {100 * right(made[name]):3.0f}% right, by the weights {alone:3.0f}%")
print("layers that stay, by the weights:", choose(tiny, layers=5).layers)

# %% [markdown] id="13-layers-number"
# A layer's weights say nothing of its worth: this choice drops the layer that is missed most. For
# heads the weights did a bit better here than text. No way is always the best one. Measure.
#
# By hand such cutting goes wrong easily. Here is somebody's program. Find the fault, then read on.

# %% exercise 13.6

# %% [markdown] id="13-layers-trap"
# One more trap. The cache has a row of K/V for each layer, and finds it by the layer's **number**.
# After cutting, layers must be numbered anew: by hand one forgets it easily.

# %%
small = minillm.shrink(tiny, layers=[0, 2, 4, 5])
print("numbers:", [block.layer for block in small.layers])
prompt = torch.tensor(tokenizer.encode("add: 347+589="))
memory, steps = StripCache.for_model(small, 64), []
for token in prompt:
    steps.append(small(token[None], memory=memory))
print(f"with and without cache: {(torch.cat(steps) - small(prompt)).abs().max():.1e} apart")

# %% [markdown] id="13-speed"
# ## 5. What got faster?
#
# `tiny` is too small to tell (chapter 01). So we cut `blank` alike. The law of one user: tokens a
# second = bytes a second / bytes of a step. The smaller model reads fewer bytes, so the law says
# how much faster it must be.

# %%
from minillm.blank import blank_model

blank = blank_model(1024)
b = blank.config
some = {"channels": range(b.mlp_width * 13 // 16), "layers": range(round(b.num_layers * 5 / 6))}
some["heads"] = [h for h in range(b.num_heads) if h % b.queries_per_kv < 3]  # 3 of 4
parts = {"whole": (), **{name: (name,) for name in some}, "all three": tuple(some)}
print({name: f"{len(numbers)} stay" for name, numbers in some.items()})
sized = {n: minillm.shrink(blank, **{p: some[p] for p in ps}) for n, ps in parts.items()}


# %%
def step_of(model, past=32):
    """A function that runs one step of one user: one more token after `past` tokens."""
    memory = StripCache.for_model(model, past + 8)
    memory.kv.normal_()

    def step():
        memory.length = past  # as if `past` tokens had been read
        model(torch.tensor([5]), memory=memory)

    return step


# %%
often = 2 if FAST else 15
seconds = in_turns({name: step_of(model) for name, model in sized.items()}, often)
read = {name: facts(model)[1] for name, model in sized.items()}
print(f"{here}; tokens/s\n                    MB  bound    law  measured   times")
for name, s in seconds.items():
    law = read["whole"] / read[name] / seconds["whole"]
    gain = "" if FAST else f"{seconds['whole'] / s:8.2f}"
    row = f"{read[name]:6.0f} {limit / read[name] / 1e6:6.1f} {law:6.1f} {1 / s:9.1f}{gain}"
    print(f"{name:16}{row}")

# %%
from exercises.notebook import measured, question


def asked_weights(i):
    """Weights of a model with the sizes in your question: 1 before, 2 after."""
    n, h, g, f = (question("13.5")[f"{name}{i}"] for name in "nhgf")
    sizes = dict(num_layers=n, num_heads=h, num_kv_heads=g, mlp_width=f, head_size=64)
    whole = replace(b, width=1024, vocab_size=32768, windows=(), rope_of_layer=(), **sizes)
    return empty_model(whole).num_parameters()


kept_up = (seconds["whole"] / seconds["all three"]) / (read["whole"] / read["all three"])
speedup = asked_weights(1) / asked_weights(2) * kept_up
found = {"layer": order(lost)[0], "speedup": speedup}
law = f"the law alone says {asked_weights(1) / asked_weights(2):.2f}"
measured("13.5", found, "", f"speedup: this machine's share of it, carried over; {law}")

# %% [markdown] id="13-speed-read"
# *Table: bound is the reading speed / bytes. Law is the speed of the whole model times its bytes /
# the bytes here. Times: how many times as fast as the whole.* No special program, no special chip:
# the bytes fell, and most of the speed followed. Not all of it: small matrices are read less well
# than large ones. (The bound is pure reading. Only the ratios count here.) Compare with chapter 12,
# where half of the weights were 0 and the dense matrices got no faster.
#
# ### "Fewer FLOPs = faster decoding"
#
# Bytes and FLOPs fell together, so which one was it? We need two models that differ in one only.
# The second one has a quarter of the query heads. What it saves in q and o it gets back as
# channels. So the weights are equally many, and K/V are the same. But attention over a long text
# computes much less: each query head looks at every key. **Predict** the gain.


# %%
def random_model(config):
    model, rng = empty_model(config), torch.Generator().manual_seed(0)
    values = lambda p: (torch.rand(p.shape, generator=rng) - 0.5) / 16
    return fill(model, {name: values(p) for name, p in model.named_parameters()})


# %%
del sized  # they are large
gone = b.num_heads - b.num_kv_heads  # one query head stays for each KV head
channels = b.mlp_width + gone * 2 * b.head_size // 3  # a head: q, o; a channel: gate, up, down
few = replace(b, num_heads=b.num_kv_heads, mlp_width=channels)
twins = {"whole": blank, "1/4 heads": random_model(few)}
past = 500 if FAST else 3900
size = 4  # bytes of a weight, and of a number of K or V
costs = {n: clock.step_cost(m.config, 1, past + 1, size, size) for n, m in twins.items()}
took = in_turns({name: step_of(model, past) for name, model in twins.items()}, often)
for name, cost in costs.items():
    print(f"{name:10} {facts(twins[name])[1]:6.1f} MB held, {cost.bytes / 1e6:6.1f} MB a step, "
          f"{cost.flops / 1e6:6.1f} MFLOP, {took[name] * 1e3:6.1f} ms")  # fmt: skip

# %%
ratio = lambda what: what["whole"] / what["1/4 heads"]
gains = {"if FLOPs counted": ratio({n: c.flops for n, c in costs.items()}),
         "if bytes counted": ratio({n: c.bytes for n, c in costs.items()})}  # fmt: skip
if not FAST:  # small sizes prove nothing
    gains["measured"] = ratio(took)
show.bars(gains, "times faster")

# %% [markdown] id="13-flops-caption"
# *Picture: how much faster the second model writes a token after 3,900 others: if FLOPs decided, if
# bytes decided, and measured.*
#
# Fewer FLOPs at equal bytes: no gain worth the name. It may even be a loss: see the third bar. For
# one user the processor waits for bytes (chapter 01), and arithmetic is free. A paper that says
# "40% fewer FLOPs" has not said "faster". It is another matter where arithmetic decides: a long
# prompt, or many users.

# %% [markdown] id="13-recover"
# ## 6. Training gives it back
#
# `tiny` with 70% of its weights, as in section 1: how good is it? And after a little training? Two
# ways to train:
#
# - **plain**: the next token of a text, as in any training.
# - **distillation** (Hinton et al. 2015): the whole model is the **teacher**. At each place it
#   gives a probability to *every* token. The small one, the **student**, learns to say the same.
#   That is more to learn from than one right token, but the teacher must run, too.

# %% exercise 13.4

# %% [markdown] id="13-recover-live"
# A very short run, tens of steps, so that you can watch it:

# %%
from tqdm import tqdm

quiet = lambda **options: tqdm(disable=True, **options)  # no progress bar in a saved page
short = dict(steps=2 if FAST else 30, tokens_per_step=512, check_every=30, warmup=5, progress=quiet)

# %%
count = 4 if FAST else 40
judge = lambda model: evaluate.tasks(model, tokenizer, count)
cut = made["shrunk"]
stages, took = {"whole": judge(tiny), "cut": judge(cut)}, {}
for name, teacher in (("plain", None), ("distilled", tiny)):
    start = time.perf_counter()
    made[name] = minillm.finetune(cut, tokenizer, teacher=teacher, **short)
    took[name] = time.perf_counter() - start
    stages[name] = judge(made[name])
print(here, {name: f"{s:.0f} s" for name, s in took.items()})
show.recovery(stages)

# %%
mean = lambda shares: sum(shares.values()) / len(shares)
for name, model in {"whole": tiny, "cut": cut, **{n: made[n] for n in took}}.items():
    ruler = evaluate.tale_perplexity(model, tokenizer, 1 if FAST else 8)
    print(f"{name:10} right {mean(stages[name]):6.1%}, perplexity of tales {ruler:.3f}")

# %% [markdown] id="13-recover-caption"
# *Picture: right answers (40 a task) of the whole model, after the cut, and after 30 steps of 512
# tokens.* Not a minute, and a part of the right answers is back; the perplexity comes back further.
# The two ways are too near to each other to choose from such a short run (they may even answer
# alike; their perplexities differ). What differs for sure is the time. The long run below is
# distilled only, so which way is better in the end is not measured here.
#
# The long run has been done for you. It is the model `tiny-shrunk` that comes with the course. Its
# record:

# %%
from minillm.load import SHRUNK

record = json.loads(SHRUNK.with_suffix(".json").read_text("utf-8"))
told = record["judged"]
print(f"recorded {record['date'][:10]}, {record['machine']['cpu']}, {record['threads']} threads: "
      f"{record['steps']} steps of {record['tokens_per_step']} tokens with distillation, "
      f"{record['seconds'] / 60:.1f} minutes")  # fmt: skip
for name, one in told.items():
    each = ", ".join(f"{task} {share:.1%}" for task, share in one["tasks"].items())
    print(f"{name:10} mean {one['mean']:.1%}, tales {one['tales']:.3f}: {each}")
show.recovery({name: one["tasks"] for name, one in told.items()})

# %% [markdown] id="13-recover-long"
# *Picture and table: recorded, 1,000 unseen items a task. Tales: perplexity.* Is the record true?
# Ask the model now. And if you have the time, run the training yourself: set `RUN_IT = True`. You
# may stop it; the next time it goes on where it was.

# %%
RUN_IT = False
if RUN_IT:
    trained = minillm.finetune(
        cut, tokenizer, teacher=tiny, folder="build/notebook13", steps=record["steps"],
        tokens_per_step=record["tokens_per_step"],
    )  # fmt: skip
else:
    trained = minillm.load("tiny-shrunk", device="cpu")[0]
now = judge(trained)
share = trained.num_parameters() / tiny.num_parameters()
print(f"{share:.1%} of the weights, {count} items a task: {mean(now):.1%} right")
print(f"the whole model: {mean(stages['whole']):.1%} right")

# %% [markdown] id="13-long"
# ### "Pruning needs long fine-tuning"
#
# Some articles say so of all pruning. Let us see it beside chapter 12. All of these without any
# training, then two with it.

# %%
half = {name: minillm.prune(tiny, name, 0.5, calibration=texts) for name in ("wanda", "sparsegpt")}
rows = {
    "whole": tiny, "50% zeros, Wanda": half["wanda"], "50% zeros, SparseGPT": half["sparsegpt"],
    "5 of 6 layers": made["5 layers"], "6 of 8 heads": made["6 heads"], "shrunk": cut,
    "shrunk, 30 steps": made["distilled"], "shrunk, minutes": trained,
}  # fmt: skip
values = {name: 100 * right(model) for name, model in rows.items()}
show.bars(values, "% right")

# %% [markdown] id="13-long-caption"
# *Picture: right answers (100 questions).* Half of the weights, chosen one
# by one, can go without training: the belief is too strong. Heads and layers do need it: one layer
# of six costs more than half of all weights. But "long" is minutes here. (The paper Minitron,
# Muralidharan et al. 2024, needed up to 40 times fewer training tokens than from scratch. Still
# that is billions.)

# %% [markdown] id="13-combine"
# ## 7. Shrink, train, quantise
#
# The cuts add up: fewer weights, and fewer bits for each. The order matters: train before you
# quantise. Quality is that of `tiny`, speed that of `blank`, cut alike, with packed products.

# %%
from minillm.scoreboard_shrunk import shrunk_alike

pairs = {"": (tiny, blank), "shrunk ": (trained, shrunk_alike(blank))}
ready, quick = {}, {}
for name, (model, speed) in pairs.items():
    ready[f"{name}fp32"], quick[f"{name}fp32"] = model, speed
    for scheme in ("int8", "int4"):
        ready[name + scheme] = minillm.quantize(model, scheme, head="int8")
        fast = minillm.quantize(speed, scheme, head="int8", compute="fast")
        quick[name + scheme] = fast
seconds = in_turns({name: step_of(model) for name, model in quick.items()}, often)

# %%
ready["shrunk 30 steps"] = made["distilled"]
points = {}
print(f"{here}\n                   MB   MFLOP   tokens/s   perplexity   right")
for name, model in ready.items():
    held = sum(sum(kinds.values()) for kinds in model.weight_bytes().values()) / 1e6
    flops = facts(tiny if "shrunk" not in name else trained)[2]
    ruler, share = evaluate.tale_perplexity(model, tokenizer, 1 if FAST else 8), mean(judge(model))
    points[name] = (held, 100 * share)
    speed = 1 / seconds[name.replace("30 steps", "fp32")]
    print(f"{name:16}{held:6.2f}{flops:8.2f}{speed:11.1f}{ruler:13.3f}{share:8.1%}")
show.pareto(points, "MB", "% right", mine=tuple(points), log=True)

# %% [markdown] id="13-combine-caption"
# *Table: bytes, FLOPs of the matrices for a token and quality of `tiny`; tokens/s of `blank` (the
# median of 15 steps, taken by turns).
# Picture: bytes against right answers (200 questions). Filled, and joined by the line: nothing else
# is both smaller and better. This line is the **Pareto front**. Hollow points lose to another one.*
#
# Here is more, from the project's longer run. Numbers in the picture are rows of the table.

# %%
report = recorded.report("prune")
note = recorded.told("prune", report)
rows = (report or {}).get("combinations", [])
points = {str(i): (row["bytes"] / 1e6, 100 * row["mean"]) for i, row in enumerate(rows, 1)}
show.pareto(points, "MB", "% right", log=True) if points else note

# %%
show.combinations_table(report, note)

# %% [markdown] id="13-combine-read"
# *Picture and table: recorded, 200 items a task. A star: on the front. 2:4 is chapter 12's form,
# two of four. MFLOP counts attention over 256 earlier tokens, too. MB is without a head of its own
# in int8. Tokens/s: `blank` cut to 70% of its parameters, 304 MB, where it was run. (The table
# above kept the same shares of layers, heads and channels, 317 MB. So its speeds are others.)*
#
# Be honest about who wins. Int8 makes the bytes about three times smaller (four times in the
# matrices; the embedding stays as it is), and costs nothing that we can see. Shrinking by 30% cost
# minutes of training and some answers (the record in section 6). So **quantise first**. Shrink when
# that is not enough: when you also need fewer FLOPs (prompts, many users), or a smaller cache.
#
# ## The scoreboard
#
# Workload W with the shrunk model: `tiny-shrunk` for quality, `blank` cut to the same shares.

# %%
from minillm import scoreboard

result = scoreboard.run("shrunk")
scoreboard.table([result])

# %% [markdown] id="13-calibration"
# *Table: MB is weights and cache together. TTFT is the time to the first token, the median over all
# requests. Grey rows were recorded on the machine that is named below.*
#
# ## Predicted and measured

# %%
from exercises.notebook import calibration

guesses = calibration()
show.calibration_plot(guesses) if guesses else "no guess measured yet: answer a [predict] exercise"

# %% [markdown] id="13-takeaway"
# ## Takeaway
#
# | | channels | query heads | KV heads | layers |
# |---|---|---|---|---|
# | **bytes stored** | fewer | fewer | fewer, and less K/V | fewer, and less K/V |
# | **bytes moved** | as stored | as stored | as stored | as stored |
# | **arithmetic** | less, in step with the bytes | also less attention | less | less |
# | **waiting** | minutes of training, once | the same | the same | also fewer steps in a row |
#
# **Lossy:** all. Training gives most of it back, not all.
#
# **Where this loses.**
#
# - Against *int8*: far fewer bytes, no training, no loss that we saw.
# - Without *training data* of the right kind. What nobody trains again is not given back.
# - *Counting weights*, or FLOPs: 5% of the weights can cost half of the answers, and 30% fewer
#   FLOPs gave no speed.
# - *Perplexity* alone: it hardly moved when a task broke.
#
# ## The same thing in vLLM
#
# | here | there |
# |---|---|
# | `shrink`, `finetune`, `save` | a folder with a smaller config: vLLM loads it as any model |
# | `head_size` in the config | `head_dim` |
# | block influence, distillation | outside: ShortGPT, Minitron (NVIDIA's Model Optimizer) |
#
# **Next:** [14 · What should I choose?](14_what_should_i_choose.ipynb) Now you know every tool.
# Which one, for which work?
