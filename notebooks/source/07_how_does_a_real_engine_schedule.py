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

# %% [markdown] id="07-title"
# # 07 · How does a real engine schedule?
#
# **After this notebook** you can follow one token through a real engine, cut a long prompt into
# chunks, take the memory of a running request away without losing a word, and let requests share
# the beginning of their texts.
#
# **Time:** 50 minutes for the notebook, 70 for the exercises of the evening path, 80 for the rest.
# **Hardware:** any laptop; a GPU is used if there is one.

# %% bootstrap

# %% [markdown] id="07-test-out"
# ## Test out
#
# Do you know this already? Solve 7.1, 7.2, 7.5 and 7.6 below. If the grader says "right" four
# times, go on to chapter 08.

# %%
import os
import random

import torch

import minillm
from minillm import SamplingParams, show
from minillm.config import EngineConfig, ModelConfig
from minillm.engine.llm import LLM
from minillm.show.memory import letter

FAST = os.environ.get("MINILLM_FAST") == "1"  # small sizes: a check that everything runs
torch.set_grad_enabled(False)  # we only compute, we do not train
model, tokenizer = minillm.load("tiny", dtype="fp32")
device = model.embedding.weight.device
fixed = lambda n: SamplingParams(max_tokens=n, ignore_eos=True)  # exactly n tokens

# %% [markdown] id="07-three-verbs"
# ## 1. Three verbs
#
# Chapter 05 filled empty seats, chapter 06 cut the memory into blocks. Now both work together. An
# engine does the same three things in every step:
#
# 1. **schedule**: who computes how many tokens? The answer is a *plan*, a plain value.
# 2. **run**: the model computes the plan, and a token is sampled for each request that is ready.
# 3. **commit**: count what was computed, append the new tokens, end what has ended.
#
# `LLM.step()` is these three lines. We call them by hand, on two requests.

# %%
llm = LLM(model, tokenizer, EngineConfig(block_size=4, num_blocks=32, max_batch_tokens=12))
for text in ("Once upon a time there was a small", "The dog was"):
    llm.add(text, fixed(4))
while llm.scheduler.waiting or llm.scheduler.running:
    plan = llm.scheduler.schedule()
    said = show.planned(plan)
    tokens = llm.runner.run(plan)
    events = llm.scheduler.commit(plan, tokens)
    wrote = {letter(e.request.id): tokenizer.decode([e.token]) for e in events}
    ended = [letter(e.request.id) for e in events if e.finish_reason]
    print(f"plan: {said!s:14} wrote: {wrote!s:30} ended: {ended}")

# %% [markdown] id="07-three-verbs-caption"
# *Printed: one line is one step. "A 9" means: compute 9 tokens of request A. Three dots mean that a
# part of its prompt is still missing, so nothing can be written yet.*
#
# There is no "prompt phase" and no "writing phase". A request is a text of `len(tokens)` tokens, of
# which `num_computed` are in the cache. **It only has to catch up.** If it is new, its whole prompt
# is missing; if it writes, exactly one token is. Let us draw the plans of three requests.


# %%
def follow(llm, count=0):
    """Run to the end (or `count` steps) and keep every plan as a value."""
    plans, schedule = [], llm.scheduler.schedule

    def kept():
        plan = schedule()
        plans.append(show.planned(plan))
        return plan

    llm.scheduler.schedule = kept
    while llm.unfinished and (not count or len(plans) < count):
        llm.step()
        llm.check()  # every invariant of scheduler and blocks, after every step
    llm.scheduler.schedule = schedule
    return plans


# %%
rng = random.Random(7)
noise = lambda n: [rng.randrange(16, 1000) for _ in range(n)]  # tokens: the words do not matter
prompts = [noise(9), noise(40), noise(5)]
llm = LLM(model, tokenizer, EngineConfig(block_size=4, num_blocks=64, max_batch_tokens=16))
ids = [llm.add(prompt, fixed(8)) for prompt in prompts]
with_budget = follow(llm)
show.step_tokens({"tokens": with_budget}, budget=16)

# %% [markdown] id="07-budget-caption"
# *Picture: the tokens that each step computes, one colour and letter a request. Hatched: a piece of
# a prompt. Plain: one token of a request that writes. Dashed: the budget.*
#
# ## 2. A budget for every step
#
# The dashed line is the **token budget**: so many tokens a step may compute, over all requests
# (`max_batch_tokens`). The prompt of B is longer, so it is cut: this is **chunked prefill**
# (Agrawal et al. 2023, "Sarathi"). A writes one token in each of these steps: it never waits for B.
#
# Write the plan yourself.

# %% exercise 7.2

# %% [markdown] id="07-own-plan"
# The next cell lets *your* `plan_step` serve the same three requests. (As long as 7.2 is not
# solved, it says so and uses the reference.)

# %%
from exercises.grading import spec
from exercises.notebook import my_answer

jobs = [(len(prompt), 8) for prompt in prompts]  # tokens to read, tokens to write
try:
    mine, whose = show.plans_of(my_answer("7.2"), jobs, budget=16), "yours"
except Exception as error:  # not solved yet, or it stops
    mine = show.plans_of(spec.reference("7.2"), jobs, budget=16)
    whose = f"ours, for yours says {type(error).__name__}"
same = [p.items for p in mine] == [p.items for p in with_budget]
print(f"plans: {whose}. The same as those of minillm's scheduler: {same}")
show.step_tokens({"tokens": mine}, budget=16)

# %% [markdown] id="07-stall"
# ### What does a chunk gain?
#
# The user of a running request sees the time between two of its tokens, the **inter-token
# latency**. Without chunks one step computes a whole long prompt, and everybody waits for it.
#
# We try it on the paper GPU (300 GB/s, 60 TFLOP/s, chapter 01). Four requests write with
# Llama-2-7B; after a while a prompt of 2,000 tokens comes. The scheduler is the real one. Only the
# model is left out: the clock charges what each plan costs.

# %%
from minillm.engine.on_paper import PaperJob, serve_on_paper

sizes = dict(num_layers=32, width=4096, mlp_width=11008, vocab_size=32000, max_len=4096)
heads = dict(num_heads=32, num_kv_heads=32, head_size=128)
llama = ModelConfig(family="llama", **sizes, **heads)  # Llama-2-7b-hf, from its config.json
jobs = [PaperJob(0.0, 64, 44)] * 4 + [PaperJob(0.5, 2000, 4)]
gaps, count = {}, 40
for budget in (4096, 512, 192):
    times = serve_on_paper(llama, jobs, EngineConfig(max_batch_tokens=budget))
    gaps[str(budget)] = [1e3 * gap for gap in times[0].gaps[:count]]
    worst, long = max(gaps[str(budget)]), 1e3 * times[4].ttft
    total = 1e3 * max(t.finished for t in times)
    print(f"budget {budget:4}: worst gap {worst:4.0f} ms, ", end="")
    print(f"first token of the long one after {long:4.0f} ms, all done after {total:.0f} ms")

# %%
show.lines(range(1, count + 1), gaps, xlabel="token", ylabel="ms")

# %% [markdown] id="07-stall-caption"
# *Picture: paper GPU, milliseconds between one token and the next of request A, for three budgets.*
#
# - **4096**, no chunks: one gap is about ten times as long as the others. The answer stops.
# - **192**: nobody sees that a long prompt came in. This step is limited by reading the weights,
#   and the ridge of this GPU lies at 200 rows: up to there **a chunk costs the ones who write
#   nothing**.
# - The price: the long request itself gets its first token later. Its prompt takes more steps.
# - Why is all done *sooner* with 192? Those who write need these steps anyway, and each step reads
#   the weights once. The arithmetic of the chunk is done meanwhile. In the long step of 4096 the
#   arithmetic decides, and the memory waits for most of it.
# - Do not cut too small. A budget of 32 leaves chunks of 28: they need more steps than those who
#   write do, and these steps read the weights for the chunks alone.
#
# Now the same on this machine, with `blank` (chapter 01). For each step we also count its bound:
# the slower of moving its bytes and doing its arithmetic.

# %%
import time

from minillm import machine
from minillm.blank import blank_model
from minillm.clock import Device, step_seconds

# %%
blank = blank_model(1024, device=device)
square, tries = torch.randn(1024, 1024, device=device), []
for _ in range(30):
    began = time.perf_counter()
    float((square @ square)[0, 0])  # reading one number waits for a GPU
    tries.append(time.perf_counter() - began)

# %%
read = machine.read_bandwidth(str(device)).bytes_per_second
here = Device(bandwidth=read, peak=2 * 1024**3 / min(tries), memory=0, launch=0)
print(f"{blank.num_parameters() / 1e6:.0f}M parameters in fp32. This machine: ", end="")
print(f"{read / 1e9:.1f} GB/s,")
print(f"{here.peak / 1e9:.0f} GFLOP/s in fp32 ({machine.cpu_model()}), so its ridge")
print(f"lies at {2 * here.ridge:.0f} tokens a step (4 bytes and 2 FLOP a weight)")


# %%
def keep_bounds(llm):
    """A list that gets the bound of every step on this machine, in ms."""
    bounds, run = [], llm.runner.run

    def kept(plan):
        bounds.append(1e3 * step_seconds(llm.runner.cost(plan), here))
        return run(plan)

    llm.runner.run = kept
    return bounds


# %%
def long_prompt_comes(budget, long):
    """Three write, then a long prompt comes -> (gaps of the first, bounds, wait of the long)."""
    llm = LLM(blank, None, EngineConfig(num_blocks=256, max_batch_tokens=budget))
    bounds, done = keep_bounds(llm), {}
    first = [llm.add(noise(8), fixed(20)) for _ in range(3)][0]
    for _ in range(5):
        llm.step()
    last = llm.add(noise(long), fixed(2))
    while llm.unfinished:
        done |= {e.request.id: e.completion for e in llm.step() if e.completion}
    gaps = [1e3 * gap for gap in done[first].metrics.gaps]
    return gaps, bounds[1:], 1e3 * done[last].metrics.ttft


# %%
long, chunk = (96, 32) if FAST else (512, 64)
long_prompt_comes(chunk, 32)  # the first run of everything is slow
drawn = {}
for name, budget in (("no chunks", 4096), (f"{chunk}", chunk)):
    gap_ms, bound_ms, ttft = long_prompt_comes(budget, long)
    drawn[name] = gap_ms[:19]
    worst = max(range(19), key=gap_ms.__getitem__)
    print(f"{name:>9}: worst gap {gap_ms[worst]:5.0f} ms (bound {bound_ms[worst]:4.0f}), ", end="")
    print(f"the usual one {sorted(gap_ms)[9]:.0f} ({sorted(bound_ms)[9]:.0f}); ", end="")
    print(f"the long one waits {ttft:.0f} ms")
show.lines(range(1, 20), drawn, xlabel="token", ylabel="ms")

# %% [markdown] id="07-chunk-measured"
# *Picture: measured on this machine, milliseconds from one token to the next while a long prompt
# comes in. The usual step lies far above its bound: the bound counts neither Python nor the start
# of each small operation. So compare the two worst gaps.*
#
# A CPU has little arithmetic for its bandwidth: its ridge lies at few tokens (above). So a chunk is
# *not* free here: it only spreads the same work over several steps, and the long request pays for
# it. (On a real GPU this was not measured yet.)
#
# ## 3. The pool is full: who gives way?
#
# Requests grow while they write. Nobody knows how long they get. So it happens that a request needs
# one more block, and none is free. Somebody has to give way: it is **preempted**. Here it is the
# request that was admitted *last*. All its blocks go back; later it computes everything again
# (**recompute**).
#
# Why the last? Then the oldest always gets on, and somebody always finishes.
#
# One more thing, which section 4 explains: two requests with the same beginning may hold the same
# block. It becomes free only when the last of them lets go.

# %% exercise 7.3

# %% [markdown] id="07-preempt-run"
# Now for real. Each of two requests needs 10 blocks at its end, and the pool has 15: enough for one
# and a half. Beside it runs a pool that is large enough. In 64 bits, so that equal means equal.

# %%
exact, _ = minillm.load("tiny", dtype="fp64", device="cpu")
two = [noise(14), noise(15)]
params = [SamplingParams(max_tokens=24, temperature=0.8, seed=s, ignore_eos=True) for s in (1, 2)]

# %%
runs = {}
for blocks in (64, 15):
    llm = LLM(exact, tokenizer, EngineConfig(4, blocks, prefix_caching=False))
    for prompt, p in zip(two, params):
        llm.add(prompt, p)
    requests = list(llm.requests.values())
    runs[blocks] = follow(llm), [r.output for r in requests], llm.metrics
    m = llm.metrics
    print(f"{blocks} blocks: {m.steps} steps, {m.computed} tokens computed, ", end="")
    print(f"preemptions: {m.preemptions}")
print("the same tokens:", runs[64][1] == runs[15][1])
show.life_lines(runs[15][0])

# %% [markdown] id="07-preempt-caption"
# *Picture: the small pool. Hatched, with a number: so many tokens are computed in this step. Plain:
# one token is written. Cross: the request gives way. Grey: it waits.*
#
# B has written some tokens when it gives way. Its blocks are gone, but its **text stays**: the user
# has read it. When blocks are free, B computes prompt *and* written tokens in one step, as if all
# of it were a prompt, and writes on. The tokens are the same, also the sampled ones: the random
# generator belongs to the request, and nobody draws from it meanwhile. (We switched off what
# section 4 brings, the **prefix cache**. With it, B may find some of its own old blocks again.)
#
# Real engines got this wrong: a preempted request was taken for one that writes, or its output was
# lost. Write it.

# %% exercise 7.4

# %% [markdown] id="07-prefix"
# ## 4. The same beginning
#
# Many requests begin alike: the same instructions, the same document, the same chat so far. Earlier
# keys and values depend only on what is before them (chapter 04). So a full block with the same
# beginning *is* the same block. We let A run first; then B, C and D come.

# %%
start = "Ruby was a small fox who lived near the beach. One sunny day, Ruby went to the beach. "
ends = ("There Ruby found a", "There Ruby heard a", "On the way, Ruby", "Suddenly it began")
llm = LLM(model, tokenizer, EngineConfig(block_size=4, num_blocks=64))
for nth, end in enumerate(ends):
    request_id = llm.add(start + end, fixed(6))
    llm.step()
    request = llm.requests[request_id]
    print(f"{letter(nth)}: {request.num_prompt} tokens, {request.num_cached} found in the cache")
tables = {i: list(llm.blocks.table(i)) for i in range(4)}
show.prefix_tree(tables)

# %% [markdown] id="07-prefix-caption"
# *Picture: the block tables of the four requests as a tree. A number is the id of a block. Striped:
# several requests hold it (their letters stand in it); it is there only once.*
#
# How is a block found? By a **name** that stands for its whole beginning: a hash of its own tokens
# *and of the name of the block before it*. Looking up a chain of names is all that a tree needs.

# %% exercise 7.1

# %% [markdown] id="07-approximate"
# **Belief: "prefix caching is approximate."** Let us see. The first text and the second one share a
# piece, but not the beginning: what is the middle of the first is the start of the second. We
# compare the log-probabilities of the 20 likeliest next tokens (64 bits) with those of an empty
# engine: once with the real names, once with names that forget their parent.

# %%
from unittest.mock import patch

chain = "minillm.cache.blocks._chain"  # (name of the parent, own tokens) -> name
without_parent = lambda parent, tokens: str(list(tokens)).encode()
middle = noise(24)
texts = [noise(8) + middle, middle + noise(8)]  # in blocks of 8
scores = SamplingParams(max_tokens=1, logprobs=20, ignore_eos=True)


def last_scores(prompts):
    """Serve one after the other in one engine -> scores after the last, tokens it found"""
    llm = LLM(exact, None, EngineConfig(block_size=8, num_blocks=32))
    for prompt in prompts:
        found = llm.generate([prompt], scores)[0]
    return found.logprobs[0], found.metrics.num_cached


# %%
empty, _ = last_scores(texts[1:])
again, hit = last_scores([texts[1], texts[1]])
other, none = last_scores(texts)
with patch(chain, without_parent):
    wrong, taken = last_scores(texts)
for name, got, cached in (
    ("the same text twice", again, hit), ("another beginning", other, none),
    ("names without a parent", wrong, taken),
):  # fmt: skip
    shared = empty.keys() & got.keys()
    off = max(abs(empty[t] - got[t]) for t in shared)
    print(f"{name:24} {cached:2} tokens from the cache; {off:.1e} apart", end="")
    print(f"; {len(shared)} of the same likeliest tokens")

# %% [markdown] id="07-approximate-meaning"
# With the right names a hit changes nothing but rounding: exact. With a wrong name the engine takes
# keys and values of another text. No error, no odd shape; the answers are those to somebody else's
# question. So names are cryptographic hashes, and everything goes in that decides K and V.
#
# Two hunts. In the first one a prompt comes twice.

# %% exercise 7.6

# %% [markdown] id="07-evict"
# A block that nobody holds keeps its content, in case somebody asks again. When a block is needed,
# the one unused for longest is written over. Then its name must go as well.

# %% exercise 7.7

# %% [markdown] id="07-gain"
# ## 5. What does a shared beginning save?
#
# **Predict** first.

# %% exercise 7.5

# %% [markdown] id="07-gain-paper"
# We check it with the three verbs. The scheduler and the blocks are the real ones (they are
# integers, no tensor is needed), the paper GPU's clock takes the place of the model.

# %%
from exercises.notebook import measured, question
from minillm.cache.blocks import BlockManager
from minillm.clock import VirtualClock, batch_cost
from minillm.engine.request import Request
from minillm.engine.scheduler import Scheduler


# %%
def ttft_on_paper(length, share):
    clock, blocks = VirtualClock(), BlockManager(300, 16)
    scheduler = Scheduler(EngineConfig(max_batch_tokens=4096), blocks, 4096)
    before, cut = noise(length), int(share * length)
    for nth, tokens in enumerate((before, before[:cut] + noise(length - cut))):
        start = clock.now
        scheduler.add(Request(nth, tokens, length, 1, frozenset()))
        plan = scheduler.schedule()
        batch = [(count, r.num_computed + count) for r, count in plan.items]
        clock.charge(batch_cost(llama, batch, 2, 2))
        scheduler.commit(plan, {nth: 0})
    return clock.now - start, batch[0][0]


# %%
shares, prompt = (0, 0.5, 0.9), question("7.5")["prompt"]
paper = [ttft_on_paper(prompt, share) for share in shares]
measured("7.5", [1e3 * seconds for seconds, _ in paper], "ms (paper GPU)")
for share, (_, computed) in zip(shares, paper):
    print(f"{share:4.0%} shared: {computed:4} of {prompt} tokens computed")

# %% [markdown] id="07-gain-here"
# Run the cell again after your guess: it shows both. They differ by a few percent. The clock counts
# more: attention, launches, reading K and V, and only whole blocks are shared. It also counts less:
# the formula sends every token through all 6.7e9 weights, but the embedding is only looked up, and
# the head works for the last token alone. That leaves 6.5e9. With 0% the clock may even be below.
#
# And this machine? `blank`, the whole engine, the three cases in turns. The bound counts bytes and
# arithmetic of the step, as before.

# %%
from minillm.bench_stats import summary

length, turns = (160, 2) if FAST else (320, 15)
llm = LLM(blank, None, EngineConfig(num_blocks=128, max_batch_tokens=4096))
bounds, bound_of = keep_bounds(llm), {}


def one_turn():
    """Seconds to the first token of a new text, then of two that share a part of it."""
    new, ttft = noise(length), []
    for share in shares:
        cut = int(share * length)
        text = new[:cut] + noise(length - cut) if share else new
        ttft.append(llm.generate([text], fixed(1))[0].metrics.ttft)
        bound_of[share] = bounds[-1]
    return ttft


# %%
one_turn()  # warm up
found = dict(zip(shares, zip(*[one_turn() for _ in range(turns)])))
ms = {f"{share:.0%}": 1e3 * sorted(values)[turns // 2] for share, values in found.items()}
for share, text in zip(shares, ms):
    print(f"{text:>4} shared: {ms[text]:6.0f} ms (bound {bound_of[share]:4.0f})", end="")
    gain = summary([a / b for a, b in zip(found[0], found[share])])
    interval = f"[95%: {gain['low']:.2f} to {gain['high']:.2f}]" if gain["low"] else ""
    print("" if FAST or not share else f"; {gain['median']:.2f} times as fast {interval}")
show.bars(ms, xlabel="ms")

# %% [markdown] id="07-gain-meaning"
# *Picture: time to the first token on this machine, with 0, 50 and 90% of the prompt in the cache.*
#
# Here the time falls nearly as the tokens do: above a few tokens the arithmetic decides. On the
# paper GPU the last step, from 50% to 90%, gains less: below 200 tokens reading the weights does.
#
# The tokens *after* the first one gain nothing. And if nobody shares? Then every block gets a name
# in vain. What does that cost?


# %%
def us_per_block(caching, requests=16 if FAST else 64, blocks=32):
    """Microseconds of bookkeeping a block: match, grow, seal, release. Nobody shares."""
    manager, texts = BlockManager(requests * blocks, 16, caching), []
    texts = [noise(16 * blocks) for _ in range(requests)]
    start = time.perf_counter()
    for nth, tokens in enumerate(texts):
        manager.match(nth, tokens)
        manager.grow(nth, 0, len(tokens))
        manager.seal(nth, tokens, len(tokens))
        manager.release(nth)
    return 1e6 * (time.perf_counter() - start) / (requests * blocks)


# %%
off, on = (min(us_per_block(caching) for _ in range(5)) for caching in (False, True))
llm = LLM(model, None, EngineConfig(num_blocks=256))
for _ in range(16):
    llm.add(noise(16), fixed(12 if FAST else 48))
while llm.unfinished:
    llm.step()
step = 1e6 * llm.metrics.run_seconds / llm.metrics.steps
print(f"a block: {on:.1f} us with names, {off:.1f} us without")
print(f"a step of tiny with 16 requests: {step:,.0f} us. They fill one block a step", end="")
print("" if FAST else f": {(on - off) / step:.2%} of its time")

# %% [markdown] id="07-cost-meaning"
# So the cache is on by default, here and in vLLM. It takes no memory either: cached blocks that
# nobody holds count as free.
#
# ## 6. What can never fit
#
# First come, first served is fair, and it has a trap. If the first one in the queue needs more than
# the *whole* pool, it waits for ever, and so does everybody behind it.

# %% exercise 7.8

# %% [markdown] id="07-refuse"
# The engine refuses such a request at `add`, with a message that says what to do. The one behind it
# is served.

# %%
llm = LLM(model, tokenizer, EngineConfig(block_size=16, num_blocks=4))
try:
    llm.add("Once upon a time", SamplingParams(max_tokens=200))
except ValueError as error:
    print(f"refused: {error}")
print("served: ", llm.generate(["Once upon a time"], fixed(12))[0].text)

# %% [markdown] id="07-stop"
# ## You can stop here with something that works
#
# This is a whole engine: many users, no reserved memory, no user who stops the others, shared
# beginnings. One text, as a chat shows it, piece by piece:

# %%
llm = LLM(model, tokenizer)
for piece in llm.stream("Once upon a time", SamplingParams(max_tokens=48)):
    print(piece, end="", flush=True)
print()

# %% [markdown] id="07-many"
# And many at once, each with its own settings. The metrics come with every answer.

# %%
from minillm import corpus

llm.generate([start], fixed(1))  # so that the beginning of the last four is in the cache
tasks = [corpus.test_items(task, 1, seed=7)[0] for task in ("add", "sort", "copy", "recall")]
texts = [item.prompt for item in tasks] + [start + end for end in ends]
params = [SamplingParams(max_tokens=24)] * 4
params += [SamplingParams(max_tokens=16, temperature=0.5, seed=s) for s in range(4)]
for text, answer in zip(texts, llm.generate(texts, params)):
    m = answer.metrics
    print(f"{1e3 * m.ttft:5.1f} ms, {m.num_cached:2} cached | {text[-24:]!r} {answer.text[:48]!r}")

# %% [markdown] id="07-scoreboard"
# The scoreboard runs workload W through it: blocks of 16, a budget of 256 tokens, prefix cache on
# (W shares nothing, so it can only cost).

# %%
from minillm import scoreboard

row = scoreboard.run("whole engine")
scoreboard.table([row])

# %% [markdown] id="07-calibration"
# *Table: MB is weights and cache together. TTFT is the time to the first token, the median over all
# requests. Grey rows were recorded on the machine that is named below.*
#
# ## Predicted and measured

# %%
from exercises.notebook import calibration

guesses = calibration()
show.calibration_plot(guesses) if guesses else "no guess measured yet: answer a [predict] exercise"

# %% [markdown] id="07-takeaway"
# ## Takeaway
#
# | | chunks and budget | preemption | shared beginnings |
# |---|---|---|---|
# | **bytes stored** | the same | never more than the pool | a shared block once |
# | **bytes moved** | the weights again in *extra* steps only | all again for who gave way | less |
# | **arithmetic** | the same | its tokens a second time | only what is new |
# | **waiting** | less for all, more for the long prompt | more for the last one | less, once |
#
# **Exact:** all three. The tokens are those of a request that runs alone.
#
# **Where this loses.**
#
# - *Chunks*: with no one writing, each one reads the weights for itself alone, and they only delay
#   the prompt. On a machine with a low ridge (this one) each chunk costs its arithmetic at once.
# - *Preemption*: a pool that is far too small computes the same tokens again and again. Fewer seats
#   are better then.
# - *Shared beginnings*: nothing if every text begins otherwise: a date or a name in the first line
#   is enough. Put what changes last. And one user can notice, by the time, that somebody else has
#   sent the same text: `extras` can keep users apart.
#
# ## The same thing in vLLM
#
# | here | vLLM |
# |---|---|
# | `schedule`, `run`, `commit` | `schedule`, `execute_model`, `update_from_output` |
# | `max_batch_tokens` | `--max-num-batched-tokens` |
# | `max_num_seqs` | `--max-num-seqs` |
# | `num_computed` | `num_computed_tokens` |
# | `prefix_caching` | `--enable-prefix-caching` (on by default) |
# | `metrics.preemptions` | `vllm:num_preemptions_total` |
# | `metrics.gaps` | `vllm:inter_token_latency_seconds` |
#
# **Next:** [08 · What is a number in 8 or 4 bits?](08_what_is_a_number_in_8_or_4_bits.ipynb) So far
# nothing was lost: the tokens never changed. From here on we save bytes at a price in quality, and
# measure the price.
