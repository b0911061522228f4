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

# %% [markdown] id="05-title"
# # 05 · Why not wait for the slowest?
#
# **After this notebook** you can serve many users with one read of the weights, refill a seat the
# moment it is free, say what that gains and when it gains nothing, read TTFT, TPOT and p95, and
# choose how many seats to open.
#
# **Time:** 45 minutes for the notebook, 75 for the exercises of the evening path, 55 for the rest.
# **Hardware:** any laptop; a GPU is used if there is one.

# %% bootstrap

# %% [markdown] id="05-test-out"
# ## Test out
#
# Do you know this already? Solve 5.1, 5.2, 5.4 and 5.5 below. If the grader says "right" four
# times, go on to chapter 06.

# %%
import os
import time

import torch

import minillm
from minillm import LLM, EngineConfig, SamplingParams, machine, show

FAST = os.environ.get("MINILLM_FAST") == "1"  # small sizes: a check that everything runs
torch.set_grad_enabled(False)  # we only compute, we do not train
model, tokenizer = minillm.load("tiny", dtype="fp32")
blank, _ = minillm.load("blank", dtype="fp32")  # random weights: for speed only
device = blank.embedding.weight.device
weights = sum(sum(kinds.values()) for kinds in blank.weight_bytes().values())
read = machine.read_bandwidth(str(device)).bytes_per_second
print(f"blank: {weights / 1e6:.0f} MB of weights; this machine reads {read / 1e9:.1f} GB/s")

# %% [markdown] id="05-share"
# ## 1. One read of the weights for many users
#
# To write one token, the model reads all its weights (chapter 01). The next token of *another* user
# needs the same weights. So put both into one step: a batch. The weights are read once, and every
# row uses them.
#
# People then say: "batching is free". Is it? A step has two parts. The **matrices** share their
# weights. In **attention** every request reads keys and values of its own. We measure them apart.


# %%
finish = torch.cuda.synchronize if device.type == "cuda" else (lambda: None)


class Timed:
    """A memory that also measures how long attention takes."""

    def __init__(self, view):
        self.view, self.seconds, self.length = view, 0.0, 0

    def attend(self, *what):
        finish()
        start = time.perf_counter()
        out = self.view.attend(*what)
        finish()
        self.seconds += time.perf_counter() - start
        return out


# %%
from minillm.cache.paged import Batch, PagedCache

context = 128 if FAST else 512  # tokens of every request


def full_cache(rows):
    """A StripCache for many (chapter 06; you need not read it), and their next step."""
    cache = PagedCache(blank.config, rows * context // 16, 16, device=device)
    table_SM = torch.arange(cache.num_blocks, device=device).view(rows, -1)
    len_S = torch.full((rows,), context, device=device)
    return cache, Batch(table_SM[:, -1] * 16 + 15, table_SM, len_S, (1,) * rows, rows)


# %%
def one_step(rows):
    """Milliseconds of the best step that writes one token for `rows` requests: (all, attention)."""
    cache, batch = full_cache(rows)
    found, len_S = [], batch.len_S
    for _ in range(2 if FAST else 5):
        finish()
        start, memory = time.perf_counter(), Timed(cache.at(batch))
        blank(len_S * 0, len_S - 1, memory)
        finish()
        found.append((1e3 * (time.perf_counter() - start), 1e3 * memory.seconds))
    return min(found)


# %%
token_bytes = blank.config.kv_bytes_per_token(4)
one_step(1)  # warm up
parts = {}
print("requests | matrices (bound)  attention (bound) | a token, ms")
for rows in (1, 4) if FAST else (1, 2, 4, 8, 16, 32):
    whole, attention = one_step(rows)
    parts[f"{rows}"] = {"matrices": whole - attention, "attention": attention}
    # the bounds: bytes of the weights, and of K and V, divided by the bandwidth `read`
    low, low_kv = 1e3 * weights / read, 1e3 * rows * context * token_bytes / read
    print(f"{rows:8} | {whole - attention:7.1f} ({low:5.1f})     {attention:7.2f}", end="")
    print(f" ({low_kv:5.2f})     | {whole / rows:6.1f}")
show.stack(parts, "ms a step")

# %% [markdown] id="05-share-caption"
# *Picture: one bar is one step, with so many requests in it. Bounds: bytes of the weights, or of
# all K and V, divided by the speed of this machine's memory.*
#
# - The time for **one token** falls as rows join: this is the gain. Then it stops falling.
# - The **matrices** share their bytes: 8 rows cost far less than 8 times one row. (On a CPU the
#   first rows may jump, up or down: for few rows our product changes its routine, chapter 01.) When
#   arithmetic takes longer than reading (the ridge of chapter 01), they grow with the rows: on a
#   CPU soon, on a GPU at some hundreds of rows.
# - **Attention** grows with every row: K and V are nobody else's. Long texts make it worse. (Ours
#   stands far above its bound: it copies K and V together first. Chapter 06 avoids that on a GPU.)
#
# So batching is not free. It is cheap, until one of the two parts takes over.

# %% [markdown] id="05-static"
# ## 2. A batch waits for its slowest
#
# The simplest way: take the first requests of the line, run until *all* are done, take the next
# ones. This is **static batching**. We call the places in a batch **seats**. Answers have different
# lengths, and nobody knows them before. What happens on the other seats?

# %% exercise 5.1

# %% [markdown] id="05-continuous"
# A step is the same program for any rows. So nothing forces us to wait: between two steps we may
# change who sits in the batch. Who is done leaves, the next one of the line sits down. This is
# **continuous batching** (Orca, Yu et al. 2022: "iteration-level scheduling").
#
# Some texts say: new requests are let in "when the GPU is idle". No: the GPU is never idle here.
# The batch is formed anew before every step.

# %% exercise 5.2

# %% [markdown] id="05-engine"
# Our engine does both: `policy="static"` is the honest baseline, "continuous" the default. Its
# `step()` returns **events**: who wrote which token. We collect who worked in which step.


# %%
def serve(model, lengths, seats, policy):
    """The real engine -> (who wrote a token in each step, seconds)."""
    config = EngineConfig(max_num_seqs=seats, policy=policy, num_blocks=40 * seats)
    llm, steps = LLM(model, None, config), []
    for length in lengths:  # tokens do not matter here: an exact number of them
        llm.add([1, 2, 3], SamplingParams(max_tokens=length, ignore_eos=True))
    start = time.perf_counter()
    while llm.unfinished:
        steps.append([event.request.id for event in llm.step()])
    return steps, time.perf_counter() - start


# %%
import random

rng = random.Random(5)
skewed = [min(30, max(2, round(rng.lognormvariate(1.9, 0.9)))) for _ in range(20)]
small = {"equal": [sum(skewed) // 20] * 20, "skewed": skewed}
small["sorted"] = sorted(skewed, reverse=True)
runs = {}
for name, lengths in small.items():
    runs[name] = {p: serve(model, lengths, 4, p)[0] for p in ("static", "continuous")}
    counts = ", ".join(f"{policy} {len(steps)} steps" for policy, steps in runs[name].items())
    print(f"{name:>6}: {sum(lengths)} tokens on 4 seats: {counts}")
show.widget(lambda name: show.batches(runs[name], 4), list(runs), "trace", static=tuple(runs))

# %% [markdown] id="05-timelines-caption"
# *Picture: two timelines on one clock. Across: steps. Down: the 4 seats. One colour and letter is
# one request, the same ones above and below. Grey: an idle seat. Right: the share of idle cells.
# The slider changes the trace: all answers equal, skewed (a few long ones), or the same sorted by
# length.*
#
# Below, a seat is taken again in the very next step. Only at the end, when the line is empty, seats
# stay idle. Look at "sorted", too: if you *knew* the lengths, most of the gain would be gone. **The
# gain of continuous batching is that you need not know them.**
#
# When you have solved 5.2, the next picture is drawn by *your* scheduler. The cell also counts the
# cells that are idle while somebody waits in the line.

# %%
from exercises.notebook import my_solution
from minillm.show.batching import seat_rows


def idle_while_waiting(steps, seats):
    first = {who: n for n, step in reversed(list(enumerate(steps))) for who in step}
    return sum(seats - len(step) for step in steps[: max(first.values()) + 1])


# %%
mine = my_solution("5.2")
if mine:
    below = [[who for who in step if who is not None] for step in mine(skewed, 4)]
else:
    print("5.2 is not solved yet: below is the engine's own timeline")
    below = runs["skewed"]["continuous"]
for name, steps in (("static", runs["skewed"]["static"]), ("below", below)):
    print(f"{name}: {idle_while_waiting(steps, 4)} cells idle while somebody waits")
same = seat_rows(below, 4) == seat_rows(runs["skewed"]["continuous"], 4)
print("below is what the engine did, seat by seat:", same)
show.batches({"static": runs["skewed"]["static"], "yours" if mine else "engine": below}, 4)

# %% [markdown] id="05-gain"
# ## 3. What does it gain?
#
# "Continuous batching multiplies the throughput." By how much? It depends on the trace. Guess
# first, for four of them. (5.3 comes after it, in section 4, where its words are needed.)

# %% exercise 5.4

# %% [markdown] id="05-gain-measure"
# Now the engine serves your four traces, both ways. Steps are exact: they come out the same on
# every machine. For seconds we take `tiny` for all traces. For one of them we also take `blank`,
# beside its bound: every step reads all weights.

# %%
from exercises.notebook import measured, question

traces, seats = question("5.4")["traces"], question("5.4")["seats"]
if FAST:
    traces = {name: lengths[:16] for name, lengths in traces.items()}

# %%
ratio, turns = {}, 1 if FAST else 3
for name, lengths in traces.items():
    took = {"static": [], "continuous": []}
    for _ in range(turns):  # in turns, so that a slow moment hits both
        for policy in took:
            steps, seconds = serve(model, lengths, seats, policy)
            took[policy].append((len(steps), seconds))
    slow, quick = (min(found) for found in took.values())
    ratio[name] = slow[0] / quick[0]
    gain = f"{ratio[name]:.2f} times; in seconds (tiny) {slow[1] / quick[1]:.2f} times"
    print(f"{name:>8}: {slow[0]:3} -> {quick[0]:3} steps", "(fast mode)" if FAST else gain)
measured("5.4", ratio, "times fewer steps")

# %%
lengths = traces["skewed"][:16] if FAST else traces["skewed"]
for policy in ("static", "continuous"):
    steps, took = serve(blank, lengths, seats, policy)
    bound = len(steps) * weights / read
    print(f"blank, skewed, {policy:10}: {len(steps):3} steps in {took:5.1f} s", end="")
    print(f" (bound {bound:4.1f} s), {sum(lengths) / took:5.1f} tokens/s")

# %% [markdown] id="05-gain-meaning"
# Two things to see.
#
# - Equal lengths: 1. Sorted by length: little more than 1. Skewed: about 2, more with more seats.
#   (Orca's paper reports 36.9 times the throughput of its rival at equal latency, on a model of
#   175B. More than the batching differs there.)
# - **Seconds gain less than steps.** An idle seat is not computed here: a step with 3 rows is
#   cheaper than one with 8. On a GPU (and on any machine that only waits for the weights) both
#   steps cost the same, and the two ratios meet (on paper). A library that pads its static batch
#   to a full rectangle computes the idle seats, too.

# %% [markdown] id="05-metrics"
# ## 4. Tokens per second is not one number
#
# A user feels two things. TTFT, the time to first token: how long nothing happens. **TPOT**, the
# time per output token after it: how smoothly text flows. The owner of the GPU looks at the
# **throughput**: tokens a second, over all users. And a mean hides the unlucky: **p50** is the
# median, **p95** is what 1 of 20 exceeds.

# %% exercise 5.3

# %% [markdown] id="05-paper"
# Seconds on a busy laptop jump about. So from here on we use the paper GPU of chapter 01: the real
# engine writes real tokens, and a virtual clock charges each step by its bytes and FLOPs. For
# `tiny` we take one of a thousandth of the size. It is a made-up device, never a measurement.
#
# 32 requests of workload W, all there at the start. How many seats?

# %%
from minillm.clock import Device, VirtualClock
from minillm.engine.metrics import percentile
from minillm.workload import workload

small_paper = Device(bandwidth=300e6, peak=60e9, memory=16e6, launch=10e-6)


def on_clock(jobs, seats, clock):
    """(metrics of each request, tokens a second) on the engine's virtual clock."""
    llm = LLM(model, None, EngineConfig(max_num_seqs=seats, num_blocks=800, clock=clock))
    for job in jobs:
        llm.add(job.prompt, SamplingParams(max_tokens=job.answer, ignore_eos=True))
    found = []
    while llm.unfinished:
        found += [e.completion.metrics for e in llm.step() if e.completion]
    return found, llm.metrics.written / clock.now


# %%
jobs = workload(model.config.vocab_size, 6 if FAST else 32)
print("seats | one user, tok/s | all, tok/s | TTFT p50, p95, s | TPOT p50, p95, ms")
for seats in (1, 4) if FAST else (1, 2, 4, 8, 16, 32):
    found, total = on_clock(jobs, seats, VirtualClock(small_paper))
    ttft, tpot = [m.ttft for m in found], [1e3 * m.tpot for m in found]
    p = lambda values, share: f"{percentile(values, share):6.2f}"
    print(f"{seats:5} | {1e3 / percentile(tpot, 0.5):15.1f} | {total:10.1f}", end="")
    print(f" |  {p(ttft, 0.5)}   {p(ttft, 0.95)} |   {p(tpot, 0.5)}  {p(tpot, 0.95)}")

# %% [markdown] id="05-metrics-meaning"
# The same model, the same device. "It makes N tokens a second": which N? More seats: one user's
# text flows a little slower, all together get much more, and the first token comes far sooner,
# because nobody stands in line. (Past 16 seats W has no more to give: nothing can be done before
# its longest answer, 160 steps.) A figure without "one user or all", "p50 or p95" and "how many
# seats" says nothing.

# %% [markdown] id="05-arrivals"
# ## 5. How many seats?
#
# "For low latency take a small batch": true for TPOT. But real requests **arrive over time**. If
# they come faster than the seats can serve, the line grows and never ends.
#
# What a step costs depends on lengths, not on words. So we leave out the model, and let the
# engine's own scheduler serve any config on paper. First check: for `tiny` the times must be the
# same.

# %%
from minillm.engine.on_paper import PaperJob, serve_on_paper

on_paper = [PaperJob(0.0, len(job.prompt), job.answer) for job in jobs]
config = EngineConfig(max_num_seqs=4, num_blocks=800, clock=VirtualClock(small_paper))
paper = serve_on_paper(model.config, on_paper, config, weight_bytes=4, kv_bytes=4)
real, _ = on_clock(jobs, 4, VirtualClock(small_paper))
moments = lambda metrics: sorted(m.token_times for m in metrics)
print("every token comes at the same moment as in the engine:", moments(paper) == moments(real))

# %% [markdown] id="05-load"
# Now Qwen3-0.6B in 16 bit on the full paper GPU: prompts of 700 tokens, answers of 100. Requests
# come by chance, on average `rate` a second, and none knows of the one before (a **Poisson
# process**). How does the wait grow with the rate?

# %%
from minillm.config import ModelConfig

qwen = ModelConfig(  # Qwen/Qwen3-0.6B, from its config.json
    family="qwen3", num_layers=28, width=1024, mlp_width=3072, num_heads=16, num_kv_heads=8,
    head_size=128, vocab_size=151936, max_len=40960, tie_embeddings=True, qk_norm=True,
)  # fmt: skip


def at_rate(rate, seats, count=40 if FAST else 200):
    """Metrics of `count` requests that come by chance, `rate` a second."""
    rng, now, jobs = random.Random(3), 0.0, []
    for _ in range(count):
        now += rng.expovariate(rate)
        jobs.append(PaperJob(now, prompt=700, answer=100))
    return serve_on_paper(qwen, jobs, EngineConfig(max_num_seqs=seats, clock=VirtualClock()))


# %%
rates = (2, 8) if FAST else (1, 2, 4, 6, 8, 10, 12, 14)
curves = {
    f"{seats} seats": [percentile([m.ttft for m in at_rate(rate, seats)], 0.95) for rate in rates]
    for seats in (2, 8, 32)
}
for name, values in curves.items():
    print(f"{name:>8}: " + "  ".join(f"{v:6.2f}" for v in values))
show.lines(rates, curves, "requests / s", "TTFT p95, s", log="y")

# %% [markdown] id="05-load-caption"
# *Picture: a line is flat while seats are free, then it climbs by powers of ten: all seats are
# taken, and requests come faster than they leave. The paper GPU, 200 requests.*
#
# Up there the number is not even meaningful: serve for twice as long, and p95 doubles. Now hold the
# rate and change the seats.

# %%
caps = (2, 8, 32) if FAST else (1, 2, 4, 8, 16, 32, 64)
served = {seats: at_rate(12, seats) for seats in caps}
both = {"p50": 0.5, "p95": 0.95}
line = lambda pick, share: [percentile([pick(m) for m in served[s]], share) for s in caps]
ttft = {name: line(lambda m: m.ttft, share) for name, share in both.items()}
tpot = {name: line(lambda m: m.tpot, share) for name, share in both.items()}
print("seats    " + " ".join(f"{s:7}" for s in caps))
print("TTFT p95 " + " ".join(f"{v:7.2f}" for v in ttft["p95"]) + " s")
print("TPOT p95 " + " ".join(f"{1e3 * v:7.2f}" for v in tpot["p95"]) + " ms")
show.latency(caps, ttft, tpot, "seats")

# %% [markdown] id="05-caps-caption"
# *Picture: 12 requests a second on the paper GPU. Left: the wait for the first token. Right: the
# time for each later token.*
#
# - "A bigger batch means worse latency, always": no. With few seats the wait is a thousand times
#   worse, and TPOT gains a few milliseconds.
# - More seats than needed change nothing here: a cap is a limit, not a target. It matters when many
#   come **at the same moment**. Choose for such a case.

# %% exercise 5.5

# %%
asked = question("5.5")
bells = 2 if FAST else 3
caps = (8, 32) if FAST else (2, 8, 32, 128)
ttft, tpot = {}, {}
crowd = [PaperJob(asked["interval"] * b, 300, asked["answer_length"]) for b in range(bells)]
crowd = sorted(crowd * asked["burst"], key=lambda job: job.arrival)
for seats in caps:
    found = serve_on_paper(qwen, crowd, EngineConfig(max_num_seqs=seats, clock=VirtualClock()))
    ttft[seats] = percentile([m.ttft for m in found], 0.95)
    tpot[seats] = percentile([m.tpot for m in found], 0.95)
    print(f"{seats:3} seats: TTFT p95 {ttft[seats]:6.1f} s, TPOT p95 {1e3 * tpot[seats]:4.1f} ms")
sides = {"p95": list(ttft.values())}, {"p95": list(tpot.values())}
show.latency(caps, *sides, "seats", limits=(asked["interval"], asked["limit"]))

# %% [markdown] id="05-bell-caption"
# *Picture: the question of 5.5 on the paper GPU's clock. Dashed: the time to the next bell, and the
# limit for TPOT. A right choice lies below both.*
#
# - TTFT is a bit kinder than the rule of 5.5: the last requests of a burst get their first token
#   some seconds before the burst is *done*.
# - Why does a number of seats that is too small wait for longer than its own sum says? The line of
#   each bell is added to what the bells before it have left over. With more bells it grows on.
#
# Latency and throughput *are* different goals. But near capacity a small batch is bad for both.

# %% [markdown] id="05-neighbours"
# ## 6. Do neighbours change my text?
#
# "Temperature 0 is deterministic." The best logit wins, no dice. But your row now sits in a matrix
# with strangers, and larger matrices are summed up in another order. We ask the same question alone
# and with 7 neighbours, in 32 bit and in 16 bit.

# %%
prompt, count = "Once upon a time there was a ", 12 if FAST else 40
names = ("cat", "dog", "fox", "small bird", "girl", "boy", "big tree", "king")
params = SamplingParams(max_tokens=count, logprobs=1, ignore_eos=True)


def first_of(model, prompts):
    """The answer to the first of these prompts, all in one batch."""
    return LLM(model, tokenizer, EngineConfig(num_blocks=99)).generate(prompts, params)[0]


# %%
for dtype in ("fp32", "bf16" if device.type == "cpu" else "fp16"):
    other, _ = minillm.load("tiny", dtype=dtype)
    alone = first_of(other, [prompt + names[0]])
    crowd = first_of(other, [prompt + name for name in names])
    same = [a == b for a, b in zip(alone.tokens, crowd.tokens)]
    upto = same.index(False) if False in same else len(same)
    scores = [[max(s.values()) for s in c.logprobs[: upto + 1]] for c in (alone, crowd)]
    off = max(abs(a - b) for a, b in zip(*scores))
    print(f"{dtype}: log-probabilities up to {off:.0e} apart; tokens equal: {upto} of {count}")

# %% [markdown] id="05-neighbours-meaning"
# In 32 bit the difference is dust, and the tokens are equal. (Not by law: two candidates may lie
# closer together than the dust. In this project's tests such ties are counted.) In 16 bit the dust
# is thousands of times larger: the logits differ, and sooner or later a token does, too (not yet
# within the 12 tokens of fast mode). The order of a sum depends on the batch, and the batch on who
# else is there. Nobody drew by chance.
#
# That is rounding. The next two are faults, and real engines had them.

# %% exercise 5.6

# %% [markdown] id="05-padding"
# ### The rectangle
#
# Many libraries batch prompts as a rectangle: short ones get **padding** on the left. Count what is
# computed for nothing, in batches of 8 of workload W. Our engine packs: it lays all new tokens one
# behind the other, [T], and pads nothing.

# %%
prompts = [len(job.prompt) for job in workload(1024)]
groups = [prompts[i : i + 8] for i in range(0, 32, 8)]
cells = sum(8 * max(group) for group in groups)
print(f"prompts: {sum(prompts)} tokens; rectangles: {cells} cells", end="")
print(f", {1 - sum(prompts) / cells:.0%} of them padding")

# %% [markdown] id="05-padding-hunt"
# And padding shifts things. In **exercise 5.7** the first token is right and the second is wrong.

# %% exercise 5.7

# %% [markdown] id="05-padding-mends"
# <details><summary>When you have found it: how many mends are right?</summary>
#
# If your fault is in the positions: two. Count real tokens in both calls, or count columns in both.
# The second way shifts a whole row. RoPE (chapter 02) sees only *distances*, so this changes
# nothing. With learned positions (GPT-2) only the first mend is right: there "the position in its
# own text" itself decides.
#
# </details>

# %% [markdown] id="05-board"
# ## 7. The scoreboard
#
# Workload W again, in the same memory budget for weights and cache. Our cache is still a strip for
# each seat, as long as the longest request may get. So few seats fit. Beside the row of this
# chapter: the same engine with static batches.

# %%
from minillm import scoreboard
from minillm.scoreboard_engines import STRIP, batched, in_blocks

config = in_blocks(STRIP)(scoreboard.speed_model())
print(f"{config.max_num_seqs} seats of {STRIP} tokens fit into the budget")
static = dict(memory=scoreboard.PagedAlone, engine=batched(in_blocks(STRIP, "static")))
rows = [scoreboard.run("static batching", **static, quality=False, keep=False)]
rows.append(scoreboard.run("continuous batching"))
scoreboard.table(rows)

# %% [markdown] id="05-board-meaning"
# *Table: MB is weights and cache together. TTFT is the median over all requests. Grey rows were
# recorded on the machine that is named below.*
#
# Perplexity and tasks do not change: batching is exact. The number of seats is now a question of
# memory: most of each strip is empty. Chapter 06 gives that memory to more requests.
#
# ## Predicted and measured

# %%
from exercises.notebook import calibration

guesses = calibration()
show.calibration_plot(guesses) if guesses else "no guess measured yet: answer a [predict] exercise"

# %% [markdown] id="05-takeaway"
# ## Takeaway
#
# | | with continuous batching |
# |---|---|
# | **bytes stored** | more: K and V of every request that sits |
# | **bytes moved** | weights once a step for all; K and V for each request |
# | **arithmetic** | the same for each token; idle units get work |
# | **waiting** | much less in the line; a little more between tokens |
#
# **Exact:** every request writes what it writes alone, but for rounding (section 6).
#
# **Where this loses.** One user alone: nothing to share. Equal or known lengths: static batching is
# as good. Long texts in every seat: attention takes the time, and more seats do not help. A reader
# who needs the smallest TPOT at any price: every neighbour costs a little. And a long prompt that
# joins makes everybody's next token late; chapter 07 cuts it into pieces.
#
# ## The same thing in vLLM
#
# | here | vLLM |
# |---|---|
# | `max_num_seqs` (seats) | `--max-num-seqs` |
# | `max_batch_tokens` | `--max-num-batched-tokens` |
# | `metrics.ttft` | `vllm:time_to_first_token_seconds` |
# | `metrics.queue` (seconds in the line) | `vllm:request_queue_time_seconds` |
# | `metrics.gaps` (one by one, TPOT is their mean) | `vllm:inter_token_latency_seconds` |
# | line, seats taken | `vllm:num_requests_waiting`, `vllm:num_requests_running` |
#
# It has no static mode: nobody serves that way any more.
#
# **Next:** [06 · Where does cache memory go?](06_where_does_cache_memory_go.ipynb) Few seats fit,
# and most of what they hold is empty.
