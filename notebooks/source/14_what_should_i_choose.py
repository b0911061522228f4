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

# %% [markdown] id="14-title"
# # 14 · What should I choose?
#
# **After this notebook** you can plan memory, speed and cost of a model before you rent anything,
# choose among all methods of this course for a given workload, say where your choice loses, and
# find every idea again in vLLM.
#
# **Time:** 45 minutes for the notebook, 100 for the exercises of the evening path, 90 for the rest.
# **Hardware:** any laptop.

# %% bootstrap

# %% [markdown] id="14-test-out"
# ## Test out
#
# This chapter is the end of the course: its evening exercises are 14.2 and the capstone, 14.4. If
# the grader says "right" to both, read only the section about vLLM.

# %%
import contextlib
import io
import os
import random
import tempfile
import textwrap
from dataclasses import fields
from importlib.util import find_spec
from pathlib import Path
from statistics import mean

import torch

import minillm
from exercises.notebook import measured, my_solution, question
from minillm import clock, machine, recorded, show
from minillm.budget import Question, plan
from minillm.budget_devices import Gpu, find_gpu
from minillm.budget_formats import Format
from minillm.budget_models import find_model, of_count

FAST = os.environ.get("MINILLM_FAST") == "1"  # small sizes: a check that everything runs
torch.set_grad_enabled(False)  # we only compute, we do not train
here = f"{machine.cpu_model()}, {torch.get_num_threads()} threads"
print(here)

# %% [markdown] id="14-plan"
# ## 1. Will it fit?
#
# All chapters on one line. What a device can hold:
#
# **memory = weights + blocks of K and V + slack**
#
# By hand, for Llama-3-8B in int4 on the paper GPU (16 GB). Guess first: how many requests of 4,096
# tokens fit? Scales count, embedding and head stay in 16 bit, and slack is a tenth.

# %%
config = find_model("llama-3-8b").config  # 32 layers, 8 KV heads of size 128, width 4,096
stay = 2 * config.vocab_size * config.width  # weights of embedding and head
coded = clock.num_parameters(config) - stay  # the few of the norms are in it: too few to matter
weights = coded * (0.5 + 2 / 64) + stay * 2
token = 2 * 32 * 8 * 128 * 2  # K and V, layers, KV heads, size, bytes
room = 16e9 - 1.6e9 - weights
by_hand = int(room // (16 * token)) // (4096 // 16)  # blocks of 16 (4,096 is a multiple), requests
print(f"weights {weights / 1e9:.2f} GB, a token {token / 1e3:.0f} kB, {by_hand} requests")

# %% [markdown] id="14-plan-tool"
# The package does the same for any model and device. On the command line: `minillm plan`.

# %%
p = clock.PAPER_GPU
paper = Gpu("the paper GPU", p.memory, p.bandwidth, p.peak, p.launch)
int4 = Format("int4", 64, base="fp16")
made = plan(Question(find_model("llama-3-8b"), paper, int4, context=4096))
print(f"weights {made.weights.total / 1e9:.2f} GB, {made.blocks} blocks, {made.largest} requests")
assert made.largest == by_hand

# %% exercise 14.1

# %% [markdown] id="14-seats"
# Is the largest GPU enough? Here is a model of 70 billion weights on 80 GB, as on the cover of the
# course, now with speed. **Before you look:** which format gives the first seat? Which the most?

# %%
a100, big = find_gpu("A100-80GB"), find_model("llama-3-70b")
ways = {"fp16": (Format("fp16"), "auto"), "int8": (Format("int8", base="fp16"), "auto"),
        "int4": (int4, "auto"), "int4, int8 K/V": (int4, "int8")}  # fmt: skip
asked = {name: Question(big, a100, form, kv, 4096) for name, (form, kv) in ways.items()}
show.plan_slider(asked, "kept in", static=("fp16", "int8", "int4, int8 K/V"))

# %% [markdown] id="14-seats-caption"
# *Picture: one bar is the GPU. Grey: weights, hatched: slack, a tile: one request, red: too much.
# Large: requests that fit. Above: tokens/s of one user and of all together, at best, from the
# published bandwidth.* Chapter 10 gave int8 one seat: there all weights were coded. Here, as on the
# cover, embedding and head stay in 16 bit, as engines keep them: 2 GB more, and the seat is gone.
#
# Is a plan right? "At best" cannot be checked without that GPU. Bytes can. We load `tiny` in four
# ways, build the engine, and count what it really holds.

# %%
tiny, tokenizer = minillm.load("tiny", device="cpu")
bytes_of = lambda model: sum(sum(kinds.values()) for kinds in model.weight_bytes().values())
for dtype, kv in (("fp32", "auto"), ("int8", "auto"), ("int4", "auto"), ("int4", "int8")):
    form = Format(dtype, base="fp32")
    model = tiny if dtype == "fp32" else minillm.quantize(tiny, dtype)
    llm = minillm.LLM(model, None, minillm.EngineConfig(num_blocks=64, kv_dtype=kv))
    made = plan(Question(find_model("tiny"), paper, form, kv))
    planned, real = made.weights.total + 64 * made.kv_block, bytes_of(model) + llm.cache.nbytes
    print(
        f"{dtype}, K/V {kv:5} planned {planned:11,} bytes, held {real:11,} ({planned / real:.4f})"
    )

# %% [markdown] id="14-plan-engine"
# *Printed: what the plan says and what the engine holds, weights and 64 blocks.* `minillm plan
# --check` does this with a larger model, and compares speed with this machine, too.
#
# ## 2. The decision table
#
# Many articles end with a table of advice. Here is ours. Each row has what is usually said, what
# this course would say instead, and the chapter that measured it.

# %%
from minillm.budget_advice import decision_table

mine = Question(find_model("qwen3-4b"), find_gpu("T4"), int4, context=4096, price_per_hour=0.5)
for row in decision_table(plan(mine)):
    many = "s" * (len(row.chapters) > 1)
    print(f"{row.situation.upper()}   (chapter{many} {', '.join(row.chapters)})")
    for name, text in (("said", row.said), ("better", row.better), ("here", row.here)):
        if text:
            print(
                textwrap.fill(f"{name}: {text}", 88, initial_indent="  ", subsequent_indent="    ")
            )

# %% [markdown] id="14-table"
# *Printed: all rows. "here" is there where the row speaks to this plan: Qwen3-4B in int4 on a T4,
# with its figures.* `minillm plan --table` prints it for yours.
#
# One row is often told wrongly: "long context: PagedAttention". Let us plan 32,768 tokens a
# request on 80 GB, and change one thing at a time. **Guess:** which change gives the most seats?

# %%
half = Format("fp16")
many, few = of_count(8_000_000_000, "llama-2-7b"), of_count(8_000_000_000, "llama-3-8b")
whole = dict(context=32_768)
tries = {"32 KV heads, one strip": Question(many, a100, half, **whole, block_size=32_768),
         "the same, paged": Question(many, a100, half, **whole),
         "8 KV heads (GQA)": Question(few, a100, half, **whole),
         "+ int8 K/V": Question(few, a100, half, "int8", **whole),
         "+ int4 weights": Question(few, a100, int4, "int8", **whole)}  # fmt: skip
show.bars({name: plan(q).largest for name, q in tries.items()}, "requests of 32,768 tokens")

# %% [markdown] id="14-long"
# *Picture: seats for 8 billion weights on 80 GB, all requests of full length.* Paging gains nothing
# here: it ends the waste between requests that are *shorter* than the longest (chapter 06). Fewer
# bytes a token gain nearly all. (8 KV heads you choose with the model: it is no flag.) A window
# gains most where it is built in:

# %%
windowed = plan(Question(find_model("gemma3-270m"), a100, half, **whole))
kept, short = windowed.kv_request / 1e6, windowed.kv_request_windowed / 1e6
print(f"gemma3-270m, 32,768 tokens: {kept:.0f} MB of K and V")
print(f"if its layers with a window forget the rest: {short:.0f} MB")

# %% [markdown] id="14-cost"
# ### What does it cost?
#
# price of a million tokens = **price an hour / tokens an hour**. The price runs at night, too. So
# the *busy share* of the hours decides. Somebody's API has one price a token. Where is the
# **break-even**, the share from which your own device is cheaper? (Prices here are made up. Put
# yours in.)

# %%
rent, api = 1.8, 0.6  # dollars an hour; dollars a million written tokens
full = {name: plan(Question(few, a100, form, context=4096, price_per_hour=rent, api_price=api))
        for name, form in (("fp16", half), ("int4", int4))}  # fmt: skip
busy = (0.02, 0.05, 0.1, 0.2, 0.5, 1.0)
costs = {name: [made.money.per_million / share for share in busy] for name, made in full.items()}
for name, made in full.items():
    money = made.money
    print(f"{name}: full, {rent / money.per_million:.1f} M tokens an hour, so", end=" ")
    print(f"{money.per_million:.3f} dollars a million. Cheaper than the API from", end=" ")
    print(f"{money.tokens_an_hour / 1e6:.1f} M an hour on: {money.busy:.0%} busy")
show.lines(busy, costs, "busy share of the hours", "dollars a million", log="xy", bound=api)

# %% [markdown] id="14-cost-caption"
# *Picture: price of a million written tokens against the share of hours in which the device is
# full. Dashed: the API. Prompts are read, too; speeds are at best, by the planner.* "Sometimes an
# API is the right answer": yes, left of the crossing. Fewer bytes of weights move it only a little:
# with so many requests, a step reads far more K/V than weights.
#
# ### "Not a larger GPU, but the same one, used better"
#
# **Guess:** Qwen3-4B. Which writes more tokens a second: an H100 that serves one user at a time, or
# a T4, four years older, with everything this course has?

# %%
t4, h100, phone = find_gpu("T4"), find_gpu("H100"), find_gpu("phone")
qwen = find_model("qwen3-4b")
used = {
    "H100, 16 bit, one user": Question(qwen, h100, half, requests=1),
    "T4, 16 bit, one user": Question(qwen, t4, half, requests=1),
    "T4, 16 bit, all seats": Question(qwen, t4, half),
    "T4, int4, int8 K/V, all seats": Question(qwen, t4, int4, "int8"),
    "H100, int4, int8 K/V, all seats": Question(qwen, h100, int4, "int8"),
    "phone, 16 bit": Question(qwen, phone, half, requests=1),
    "phone, int4": Question(qwen, phone, int4, requests=1),
}
show.plans_table(used, "at best, from published figures: no program reaches them, none was run")

# %% [markdown] id="14-same-gpu"
# *Table: contexts of 4,096 tokens. "requests": that fit, not that run. An empty row: it does not
# fit.* Used well, the small GPU passes a large one that is used badly. Used well, too, the large
# one is far ahead again: care does not replace hardware, it comes first. And on a phone 4 bits
# decide if there is an answer at all. Compare the column "one user": nothing here makes a T4 as
# *quick* as an H100.
#
# ## 3. The story, once more
#
# int4 weights → free memory → more blocks → a larger batch → more tokens a second. `tiny` on the
# paper GPU made 2,000 times smaller (so that `tiny` takes there as long as a 7B model on the real
# one). **The budget is fixed:** 16-bit weights, and room for three requests.

# %%
from exercises.ch14_choice.serving import SMALL_GPU

prompt, answer, users = (16, 8, 8) if FAST else (48, 24, 24)
half_tiny = minillm.load("tiny", device="cpu", dtype="fp16")[0]
held = {"fp16": half_tiny, "int8": minillm.quantize(half_tiny, "int8")}
held["int4"] = minillm.quantize(half_tiny, "int4")
block = 16 * tiny.config.kv_bytes_per_token(2)  # bytes
blocks_of = lambda tokens: -(-tokens // 16)
budget = bytes_of(half_tiny) + 3 * blocks_of(prompt + answer) * block
print(f"budget {budget / 1e6:.2f} MB")


# %%
def serve(model, requests, seats=None):
    """-> (blocks, seats, tokens/s by the clock). seats: default, as many as the blocks hold."""
    blocks, watch = int((budget - bytes_of(model)) // block), clock.VirtualClock(SMALL_GPU)
    seats = seats or blocks // blocks_of(prompt + answer)
    config = minillm.EngineConfig(16, blocks, seats, prefix_caching=False, clock=watch)
    llm = minillm.LLM(model, None, config)
    for i in range(requests):
        text = [(7 * i + j) % 1000 for j in range(prompt)]
        llm.add(text, minillm.SamplingParams(max_tokens=answer, ignore_eos=True))
    while llm.unfinished:
        llm.step()
    return blocks, min(seats, requests), requests * answer / watch.now


# %%
print(f"{users} requests, paper clock       blocks  at once   one user   together, tokens/s")
speeds = {}
for name, model in held.items():
    alone, (blocks, seats, speeds[name]) = serve(model, 1)[2], serve(model, users)
    size = f"{name}, {bytes_of(model) / 1e6:.2f} MB of weights"
    print(f"{size:30} {blocks:8} {seats:8} {alone:10.1f} {speeds[name]:10.1f}")
speeds["int4, 3 seats"] = serve(held["int4"], users, 3)[2]
show.bars(speeds, "tokens/s, all together")

# %% [markdown] id="14-story"
# *Picture: one budget, three formats; last: int4, but with only the three seats of fp16.* The last
# bar shows what fewer bytes bring by **speed**: a step reads less. The rest, up to int4's own bar,
# comes from seats. At one user int4 buys speed; with many users it buys seats.
#
# Now everything that the course has built, in one run on a CPU: `minillm bench --suite story`
# (about three minutes, alone on the machine). **Guess:** from "no cache" to "all together", how
# many times more tokens a second? Recorded:

# %%
from minillm.show.story import story_bars

report = recorded.report("story")
told = recorded.told("story", report)
story_bars(report["rows"], report["budget"], report["peers"]) if report else told

# %% [markdown] id="14-story-caption"
# *Picture: left, tokens/s of all (bars) and of one user (diamonds). Middle: weights (plain) and K/V
# (hatched) in MB, with the number of requests at once; dashed: the budget. Right: perplexity of
# `tiny` (how surprised it is by unseen text: lower is better). The slow rows serve only the
# beginning of the workload: no cache 2 of its 32 requests, KV cache 4, static and continuous 12.
# Grey: llama.cpp (all 32 requests at once, as much memory as it wants) and transformers (12). New
# letters: W8A8 is weights AND activations in 8 bits (chapter 09); pruned: layers, heads and
# channels are gone (13).*
#
# Not every step helps. What each one is for, and where it wins nothing:

# %%
from minillm.bench_story_rows import STEPS

found = {row["name"]: row for row in report["rows"]} if report else {}
sides = {side["name"]: side for side in report["sides"]} if report else {}
for step in STEPS:
    row = found.get(step.name)
    speed = f"{row['tokens_per_s']:.0f} tokens/s: " if row else ""
    print(textwrap.fill(f"{step.name} ({step.chapter}): {speed}{step.why}", 88,
                        subsequent_indent="    "))  # fmt: skip
    for run in sides.get(step.name, {"runs": ()})["runs"]:
        print(f"    {sides[step.name]['what']}, {run['name']}: {run['tokens_per_s']:.0f} tokens/s")
print(told)

# %% [markdown] id="14-story-read"
# "16 bit first, then int8, then the settings of the batch": the usual advice is the usual order of
# these rows, and a good one. Some rows win nothing *here*, and only measuring says which.
#
# ## 4. Your own workload, in four figures
#
# Say these four before a rental starts. Write them down.

# %% exercise 14.2

# %%
asked = question("14.2")  # your numbers
config = find_model(asked["model"].lower()).config
each = asked["bits"] / 8 + 2 / asked["group"]  # bytes a weight
peak = clock.PAPER_GPU.peak if "paper" in asked["device"] else a100.peak
device = clock.Device(asked["bandwidth"], peak, 0, launch=10e-6)
batch = [(1, asked["tokens"])] * asked["requests"]
watch = clock.VirtualClock(device)
watch.charge(clock.batch_cost(config, batch, each, asked["kv_bytes"]))
dollars = asked["price"] / 3600 * watch.now / asked["requests"] * 1e6

# %%
form = Format(f"int{asked['bits']}", asked["group"])
count = of_count(round(asked["count"]), asked["model"].lower())
kv = "int8" if asked["kv_bytes"] == 1 else "auto"
made = plan(Question(count, a100, form, kv, asked["tokens"], requests=asked["requests"]))
cache = asked["requests"] * asked["tokens"] * made.kv_token
counted = {"weights_gb": made.weights.total / 1e9, "cache_gb": cache / 1e9}
counted |= {"step_ms": 1000 * watch.now, "dollars": dollars}
measured("14.2", counted, "", "bytes: the planner; time: the paper clock, not a real device")

# %% [markdown] id="14-four-read"
# The clock also charges arithmetic and 10 µs for each launch, and int8 K/V has scales. If the
# difference is small, bytes were all that counted.
#
# But "it goes on like that" is a best case. In real life prompts must be read, and answers end at
# different times. The same workload on paper, request by request:

# %%
from minillm.engine.on_paper import PaperJob, serve_on_paper

rng, seats = random.Random(14), asked["requests"]
size = 20 if FAST else 1
jobs = [PaperJob(0.0, asked["tokens"] * 3 // 4 // size, rng.randrange(50, asked["tokens"] // 2))
        for _ in range(2 * seats // (4 if FAST else 1))]  # fmt: skip
engine = minillm.EngineConfig(
    max_num_seqs=seats, num_blocks=10**6, clock=clock.VirtualClock(device)
)
times = serve_on_paper(config, jobs, engine, each, asked["kv_bytes"])
seconds, written = max(t.finished for t in times), sum(job.answer for job in jobs)
real = asked["price"] / 3600 * seconds / written * 1e6
if my_solution("14.2"):
    print(f"{real:.2f} dollars a million instead of {dollars:.2f}")
print(f"with prompts and answers of different lengths: {real / dollars:.2f} times the dollars")

# %% [markdown] id="14-situations"
# ## 5. Which change helps?
#
# Five ways to spend an afternoon: int4 weights, int8 K/V, more seats, prefix caching, smaller
# chunks. Each is the best one somewhere, and useless elsewhere. To decide, ask: **which bytes, or
# which arithmetic, make this figure?**
#
# One situation as an example, with fewer people than seats: four short requests. A step reads all
# weights and four small caches. **Guess:** which letter? And what would 300 requests change?

# %%
from exercises.ch14_choice import situations

four = situations.situation(random.Random(1), "queue", users=4)
words = {"W": "int4 weights", "K": "int8 K/V", "S": "64 seats", "P": "prefix caching",
         "C": "chunks of 64 tokens"}  # fmt: skip
print(four["text"])
for letter, gain in situations.gains(four).items():
    print(f"  {letter}, {words[letter]:20} {gain:.2f} times as good")

# %% exercise 14.3

# %%
if my_solution("14.3") is None:
    print("solve 14.3, run this cell again: the gains of all changes in your situations stand here")
    table = "no picture yet"
else:
    asked = question("14.3")["asked"]
    gains = [list(situations.gains(one).values()) for one in asked]
    rows = [f"{i}:{one['kind']}" for i, one in enumerate(asked, 1)]
    table = show.heatmap(gains, rows, list(situations.CHANGES), xlabel="change")
table

# %% [markdown] id="14-situations-caption"
# *Picture, once 14.3 is solved: how many times better each change makes the figure of each
# situation (1.00: no help). W: int4 weights, K: int8 K/V, S: seats, P: prefix caching, C: chunks.*
# No column is the best everywhere. That is why the question "what is the best optimisation?" has no
# answer, and "for which workload?" has one.
#
# ## 6. The capstone: serve it for less
#
# 100 requests, a budget of bytes, a floor of quality, limits for waiting. You get one of three
# products, by your id. Three names from the chapters that the evening path may have left out: int3
# is 3 bits a weight; 2:4 means that two of every four weights are 0 (chapter 12); SparseGPT chooses
# which. First look at what comes.

# %%
from exercises.ch14_choice import serving, workload

case = question("14.4")
print(
    f"The {case['product']} {case['does']}.\n100 requests in {case['jobs'][-1][0]:.2f} s:",
    case["mix"],
)
system = workload.system_tokens(case["system"], tokenizer.encode)
own = [len(workload.job_tokens(job, tokenizer.encode)[0]) for job in case["jobs"]]
print(f"system prompt: {len(system)} tokens; a request's own: {min(own)} to {max(own)} tokens")
print(
    f"budget {case['megabytes']} MB; p95 TTFT <= {case['ttft_ms']} ms, TPOT <= {case['tpot_ms']} ms"
)
print(f"right answers: {case['floors_text']}; speed >= {case['least']} tokens/s")

# %% [markdown] id="14-quality"
# *Printed: your case.* Quality first, because it is a wall and not a trade. The products have
# different walls. Here are the two that are *not* yours: how far is each format above its floors?

# %%
others = [name for name in workload.KINDS if name != case["product"]]
margins = {}
for name in others:
    floors = workload.PRODUCTS[name]["floors"]
    for pruning in serving.PRUNING:
        for kind in serving.BITS:
            shares = workload.quality(name, kind, pruning, "int8")
            least = min(100 * (shares[task] - floor) for task, floor in floors.items())
            kept = workload.name_of(kind, pruning).replace(" ", "+")
            margins.setdefault(kept, []).append(max(least, -9.9))
show.heatmap(list(zip(*margins.values())), others, list(margins), format=".1f")

# %% [markdown] id="14-quality-caption"
# *Picture: points above (or below: negative, cut at -9.9) the nearest floor, for each format, by
# recorded answers (300 a task).* The smallest format that is still above 0 is another one for each
# product. So there are different winners: fewer bits are *right* in one product, and *wrong* in the
# next.
#
# ### A workbench
#
# `tried` serves all 100 requests with a configuration of yours, by the paper clock, and says which
# limits break: bytes, quality, TTFT, TPOT, speed. The blocks fill what the budget leaves (at least
# 20, even over the budget). Two **tempting losers** are in it.

# %%
from exercises.ch14_choice import workbench
from exercises.grading import spec

bench = {}
print("Where every try starts:", workbench.START)


def tried(name, **changes):
    """Serve all 100; keep the outcome, and which limits it breaks -> its name."""
    answer = workbench.answer(case, changes)
    outcome = serving.serve(case, answer, text=False)
    broken = [limit for limit, _ in spec.check_of("14.4").limits(case, answer, outcome)]
    found = outcome, ", ".join(dict.fromkeys(broken)) or "none"
    name = workbench.keep(name, cells(name, found)[1:], changes)  # your portfolio shows it
    bench[name] = found
    return name


# %%
def cells(name, found):
    """One line of the table."""
    o, broken = found
    held = f"{(o.weights + o.pool) / 1e6:.2f}"
    return [name, held, f"{1000 * o.ttft:.0f}", f"{1000 * o.tpot:.1f}", f"{o.score:.0f}", broken]


def results(mine=()):
    """All that was tried, as a table."""
    rows = [(tuple(cells(*one)), one[0] in mine) for one in bench.items()]
    columns = ("tried", "MB", "TTFT p95, ms", "TPOT p95, ms", "tokens/s", "limits broken")
    return show.Table(columns, tuple(rows), "the paper GPU's clock, 2,000 times smaller")


tried("int8, as it comes")
tried("int8, prefix cache", prefix_caching=True)
tried("the fewest bytes", weights="int3", pruning="2:4", prefix_caching=True)
alone = tried("one seat", weights="int4", max_num_seqs=1, prefix_caching=True)
results()

# %% [markdown] id="14-losers"
# *Table: what each try needs, and which limits it breaks (see the limits above).*
#
# - **The fewest bytes** leaves the most room for requests. And it answers wrongly.
# - **One seat** has the smallest time between tokens. And everybody waits at the door (chapter 05).
#
# Now you. Add lines such as `tried("mine", weights="int4", max_num_seqs=32)`, and run the cell
# again. Other settings under an old name become "mine (2)". When no limit is broken, hand it in.
# The last 100 tries are kept for your portfolio (see the end), with what you changed: its memo asks
# which ones you rejected, and why.

# %% exercise 14.4

# %%
mine = my_solution("14.4")
name = alone if mine is None else "yours"
if mine is None:
    print("nothing handed in yet: here is how the one seat fared")
else:
    name = tried("yours", **mine)
show.served(bench[name][0].times)

# %% [markdown] id="14-served-caption"
# *Picture: above, requests that wait. Below, seats over the seconds of the paper clock, one colour
# a request: hatched while its prompt is read, plain while it writes.* Look for the reason of your
# p95: empty seats with people waiting (blocks ran out), or full seats (more of them, if TPOT
# allows).

# %%
results(() if mine is None else (name,))

# %% [markdown] id="14-queue"
# *Table: all that was tried; yours in colour.*
#
# ## 7. Who is next?
#
# So far: first come, first served. When long answers hold the seats, short ones wait behind them.
# The obvious cure is **shortest first**. Here are 120 requests on four seats. **Guess:** what
# happens to the longest wait?

# %%
from exercises.ch14_choice import traces

rules = {"first come": None, "shortest first": lambda request, now: request["answer"]}
if my_solution("14.5"):
    rules["yours"] = my_solution("14.5")
waits = {name: sorted(m.ttft for m in traces.serve(2, rule)) for name, rule in rules.items()}
for name, ttft in waits.items():
    p95, longest = traces.figures(ttft)
    print(f"{name:15} p95 {p95:.2f} s, longest {longest:.2f} s until the first token")
share = range(5, 121, 5)
show.lines(share, {name: [t[i - 1] for i in share] for name, t in waits.items()},
           "requests, in the order of their wait", "s to the first token")  # fmt: skip

# %% [markdown] id="14-queue-caption"
# *Picture: time to the first token on the paper GPU, the requests sorted by it.* Most wait less. A
# few, the long ones, wait for those who came later; the more load, the longer. They **starve**.
# A good rule uses both: length, and how long somebody has waited.

# %% exercise 14.5

# %% [markdown] id="14-vllm"
# ## From minillm to vLLM
#
# You would not serve users with this engine. vLLM and SGLang do the same, on many GPUs, with years
# of work in their kernels. (TGI, which older articles name beside vLLM, is archived.) But you know
# their settings now: most are yours.

# %%
flags = {"block_size": "--block-size", "num_blocks": "--num-gpu-blocks-override",
         "max_num_seqs": "--max-num-seqs", "max_batch_tokens": "--max-num-batched-tokens",
         "max_model_len": "--max-model-len", "memory_fraction": "--gpu-memory-utilization",
         "kv_dtype": "--kv-cache-dtype", "prefix_caching": "--enable-prefix-caching",
         "policy": "(no static mode; --scheduling-policy fcfs, priority)",
         "cuda_graphs": "(on; --enforce-eager: off)", "clock": "(only here)"}  # fmt: skip
for field in fields(minillm.EngineConfig):
    print(f"{field.name:17} {field.default!s:11} {flags[field.name]}")

# %% [markdown] id="14-vllm-flags"
# *Printed: our EngineConfig with its defaults, and vLLM's flag.* Its defaults are larger, since its
# devices are. Now the figures. vLLM gives them to **Prometheus**, a program that collects figures
# of servers. We serve eight requests with a shared beginning, and print ours under its names:

# %%
shared = tokenizer.encode("recall: the red box holds a lamp. the old jar holds a key. ") * 3
llm = minillm.LLM(tiny, tokenizer, minillm.EngineConfig(num_blocks=64, max_num_seqs=4))
params = minillm.SamplingParams(max_tokens=12, ignore_eos=True)
done = llm.generate([[*shared, 5 + i] for i in range(8)], params)
m = llm.metrics
names = {"prompt_tokens_total": m.prompt_tokens, "generation_tokens_total": m.written,
         "num_preemptions_total": m.preemptions, "prefix_cache_queries_total": m.prompt_tokens,
         "prefix_cache_hits_total": m.cached_tokens,
         "request_queue_time_seconds": mean(d.metrics.queue for d in done),
         "time_to_first_token_seconds": mean(d.metrics.ttft for d in done),
         "inter_token_latency_seconds": mean(g for d in done for g in d.metrics.gaps)}  # fmt: skip
for name, value in names.items():
    print(f"vllm:{name:30} {value:.4g}" + (" (mean)" if "seconds" in name else ""))

# %% [markdown] id="14-vllm-metrics"
# *Printed: our figures, measured here, under its names.* Why not more hits? Four seats: the first
# four requests start together and find nothing. Only the other four find what is shared.
#
# Names of flags and metrics are those of vLLM's public documentation; the metrics were read in that
# of version 0.12 (docs.vllm.ai/en/v0.12.0/design/metrics). Check yours: `vllm serve --help`, and
# the page `/metrics` of a running server.
#
# **Its files.** If you know ours, you can read these (paths of its V1 engine):
#
# | here | vLLM |
# |---|---|
# | `minillm/engine/llm.py` | `vllm/v1/engine/llm_engine.py`, `vllm/v1/engine/core.py` |
# | `minillm/engine/scheduler.py` | `vllm/v1/core/sched/scheduler.py` |
# | `minillm/cache/blocks.py` | `vllm/v1/core/kv_cache_manager.py`, `vllm/v1/core/block_pool.py` |
# | `minillm/engine/runner.py` | `vllm/v1/worker/gpu_model_runner.py` |
# | `minillm/engine/request.py`, `metrics.py` | `vllm/v1/request.py`, `vllm/v1/metrics/` |
# | `minillm/sampling.py` | `vllm/sampling_params.py`, `vllm/v1/sample/sampler.py` |
# | `minillm/model.py` | `vllm/model_executor/models/llama.py`, and hundreds beside it |
# | `kernels/paged_attention.py` | `vllm/v1/attention/` |
# | `minillm/compress/` | `vllm/model_executor/layers/quantization/`; made by llm-compressor |
#
# **What they do that we do not:** models on several GPUs (tensor and pipeline parallel), an HTTP
# server, speculative decoding, LoRA adapters, structured output, images and sound, mixtures of
# experts, K/V on other machines, compiled graphs and kernels for each kind of hardware.

# %% [markdown] id="14-format"
# ### One format
#
# Your models are not locked in. What `save` writes is the common format. The proof: transformers
# loads our dense and our int4 `tiny`. **Guess** how far the logits differ.

# %%
ids = torch.tensor(tokenizer.encode("add: 347+589="))


def apart(folder, model):
    """Largest difference of the logits: transformers reads the folder, we have the model."""
    from transformers import AutoModelForCausalLM
    from transformers.utils import logging

    logging.set_verbosity_error()
    logging.disable_progress_bar()
    with contextlib.redirect_stderr(io.StringIO()):  # its progress bars
        theirs = AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32).eval()
        logits = theirs(ids[None]).logits[0]
    return (logits - model(ids)).abs().max(), logits.abs().max()


# %%
needs = {"dense": ["transformers"], "int4": ["transformers", "compressed_tensors"]}
for name, model in {"dense": tiny, "int4": minillm.quantize(tiny, "int4")}.items():
    missing = [package for package in needs[name] if find_spec(package) is None]
    with tempfile.TemporaryDirectory() as folder:
        minillm.save(model, tokenizer, Path(folder) / name)
        size = (Path(folder) / name / "model.safetensors").stat().st_size
        said = "not compared: " + ("fast mode" if FAST else f"{', '.join(missing)} not installed")
        if not FAST and not missing:
            off, largest = apart(Path(folder) / name, model)
            said = f"logits up to {largest:.1f}, at most {off:.1e} apart"
    print(f"{name:5} {size / 1e6:6.2f} MB; transformers: {said}")

# %% [markdown] id="14-format-read"
# *Printed: size of the file, and the largest difference of the logits.* Rounding, no more. With a
# real model and a GPU, `vllm serve FOLDER` takes such a folder, too (not run here).
#
# ## The scoreboard
#
# The last row: shrunk and trained again, weights and activations in int8, int8 K/V, the whole
# engine.

# %%
from minillm import scoreboard
from minillm.scoreboard_rows import RECORDED, read_rows

result = scoreboard.run("all together")
most = {"here": max(read_rows(RECORDED), key=lambda row: row.total).name}
if report:
    most["story of section 3"] = max(report["rows"], key=lambda row: row["tokens_per_s"])["name"]
print("most tokens a second, recorded:", most)
scoreboard.table([result])

# %% [markdown] id="14-calibration"
# *Table: workload W, one row a chapter, from "no cache" to here. MB is weights and cache together,
# in a budget that never changed. Grey rows were recorded on the machine that is named below.*
#
# The last row need not be the best one. The line above the table says which recorded row writes
# most, on this model of 100 MB, and on the larger one of the story. More methods are not always
# more speed, and each lossy one costs quality: compare the last columns, too. Measure each.
#
# ## Predicted and measured
#
# All your guesses of the course:

# %%
from exercises.notebook import calibration

guesses = calibration()
show.calibration_plot(guesses) if guesses else "no guess measured yet: answer a [predict] exercise"

# %% [markdown] id="14-takeaway"
# ## Takeaway
#
# | | exact | lossy |
# |---|---|---|
# | **bytes stored** | paging, shared blocks | fewer bits for weights and K/V, smaller models |
# | **bytes moved** | batching: weights are read once for all | the same |
# | **arithmetic** | KV cache, prefix cache | smaller models, W8A8 |
# | **waiting** | continuous batching, chunks, seats, a good queue | none is needed |
#
# Choose in this order: **quality is a wall, bytes decide what fits, seats decide the total, the
# queue decides who waits.** Exact methods first: they cost nothing but care.
#
# **Where this loses.** The paper clock charges nothing for unpacking, for Python, for noise. The
# planner's speeds are bounds. Recorded quality is that of 300 items. And a workload changes: what
# wins today is measured again in a month.
#
# ## What you can do now
#
# You have built an engine: model, cache, pages, scheduler, formats, pruning. You can say what a
# device can do before you rent it, and where an article promises too much.
#
# - **Show it:** `make portfolio` writes one page: your capstone beside its limits, your timeline,
#   your predictions, your scoreboard, and a half-page memo that you write: what I chose, what I
#   rejected, where it loses. It works before everything is solved, and says what is missing.
#   (Without make: `python -m tools.portfolio`, in the course's folder.)
# - **Your own model:** `minillm plan --model OWNER/NAME`, `minillm quantize`, then serve the folder
#   with vLLM.
# - **Where to go next:** serving over HTTP, speculative decoding, CUDA graphs and torch.compile,
#   more than one GPU. With what you know now, their papers are readable.
#
# Thank you for measuring.
