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

# %% [markdown] id="01-title"
# # 01 · Why is inference slow?
#
# **After this notebook** you can say from two numbers of a machine how fast it will write, before
# you try it. You know which of four things takes the time: bytes stored, bytes moved, arithmetic,
# or waiting. And you have seen where this prediction fails.
#
# **Time:** 40 minutes; 35 for the evening exercises, 40 for the others. **Hardware:** any laptop.
# If there is a GPU, this notebook uses it.
#
# **Inference** is using a trained model: it reads a prompt and writes an answer.

# %% bootstrap

# %% [markdown] id="01-test-out"
# ## Test out
#
# Solve 1.2, 1.3 and 1.4 (the evening path). If they are easy, read the takeaway and go on.
#
# Also useful: 1.1, 1.6 and 1.7 are needed again in chapters 04, 10 and 14.

# %% [markdown] id="01-two-models"
# ## 1. One token, every weight
#
# Two models stand side by side here. `tiny` writes real text, and may fit into the processor's
# cache. `blank` has random weights made in memory. Its text is noise. But it is so large that its
# weights must come from main memory, as those of every useful model do. So `blank` is our model
# for speed.

# %%
import os
import time
from statistics import median

import torch
import torch.nn.functional as F

import minillm
from minillm import StripCache, clock, machine, ops, show

FAST = os.environ.get("MINILLM_FAST") == "1"  # small sizes: the tests use it
torch.set_grad_enabled(False)  # nothing is trained here
tiny, _ = minillm.load("tiny")
blank, _ = minillm.load("blank")
device, dtype = blank.embedding.weight.device, blank.embedding.weight.dtype
width, size = blank.config.width, dtype.itemsize  # bytes of one number

# %% [markdown] id="01-count"
# **How many bytes does a step read?** We ask every matrix to report when it is used.

# %%
used = []
matrices = [m for m in blank.modules() if isinstance(m, torch.nn.Linear)]
hooks = [m.register_forward_hook(lambda m, *_: used.append(m.weight.nbytes)) for m in matrices]
memory = StripCache.for_model(blank, max_len=8)
for token in (5, 6, 7):
    used.clear()
    blank(torch.tensor([token], device=device), memory=memory)
    print(f"a token: {len(used)} matrices used, {sum(used) / 1e6:.1f} MB of weights read")
for hook in hooks:
    hook.remove()
model_bytes = sum(sum(kinds.values()) for kinds in blank.weight_bytes().values())
print(f"in memory: {blank.num_parameters():,} weights, {model_bytes / 1e6:.1f} MB")

# %% [markdown] id="01-all-of-it"
# All of it, for every token. One token needs every matrix, and the next token cannot begin before
# this one is known. (The few vectors of the norms are the small rest.)
#
# So the first question is: how many bytes? A large model in the usual formats:

# %%
formats = {"fp32": 32, "fp16": 16, "int8": 8, "int4": 4}
print("GB, weights alone  " + "".join(f"{name:>8}" for name in formats))
for name, weights in (("7B", 7e9), ("70B", 70e9)):
    sizes = [weights * bits / 8 / 1e9 for bits in formats.values()]
    print(f"{name:<19}" + "".join(f"{s:8.1f}" for s in sizes))

# %% [markdown] id="01-scales"
# A 4-bit number has only 16 values. So a group of neighbours shares a **scale**, a number of 16
# bits by which they are multiplied. With groups of 128 a weight takes 4 + 16/128 bits. And the
# embedding and the head usually stay in 16 bits. "4 bits" is never 4.00 bits:

# %%
llama2 = minillm.ModelConfig(
    family="llama", vocab_size=32000, width=4096, mlp_width=11008, num_layers=32,
    num_heads=32, num_kv_heads=32, head_size=128, max_len=4096,
)  # fmt: skip
llama3 = minillm.ModelConfig(
    family="llama", vocab_size=128256, width=4096, mlp_width=14336, num_layers=32,
    num_heads=32, num_kv_heads=8, head_size=128, max_len=8192,
)  # fmt: skip


# %%
for group in (128, 32):
    print(f"7e9 weights in groups of {group:>3}: {7e9 * (4 + 16 / group) / 8 / 1e9:.2f} GB")
bars = {}
for name, config in (("Llama-2-7B", llama2), ("Llama-3-8B", llama3)):
    everything = clock.num_parameters(config)
    inside = sum(m.parameters for m in clock.matrices(config) if m.name != "head")
    gb = bars[name] = {"4 bits": inside * 4 / 8 / 1e9, "scales": inside * 16 / 128 / 8 / 1e9}
    gb["16 bits"] = (everything - inside) * 2 / 1e9  # embedding, head, norms
    total = sum(gb.values())
    print(f"{name}: {total:.2f} GB ({total * 1e9 / 2**30:.2f} GiB), "
          f"{total * 8e9 / everything:.2f} bits a weight")  # fmt: skip
show.stack(bars, "GB")

# %% [markdown] id="01-scales-read"
# *Picture: the bytes of two models "in 4 bits", groups of 128. Blue: the 4-bit numbers. Orange:
# their scales. Black: what stays in 16 bits.*
#
# Articles give 3.5 GB for a 7B model in 4 bits. No file is so small. A large vocabulary costs most:
# look at Llama-3-8B. Model files have been 16 bits for years, so "8 times smaller than fp32" is not
# what you gain: compare with fp16.

# %% exercise 1.1

# %% [markdown] id="01-bandwidth"
# ## 2. How fast do bytes move?
#
# **Bandwidth** is the number of bytes that memory delivers in a second. A **cache** is small and
# fast; behind it lies the large, slow main memory. We multiply one row by matrices of growing size,
# as a step does, and divide bytes by seconds.
#
# **Before you run it:** where will the curve fall, and how deep?

# %%
wait = torch.cuda.synchronize if device.type == "cuda" else (lambda: None)


def seconds_of(work, tries=3 if FAST else 9):
    """Median time of work(), after one run that does not count."""
    found = []
    for _ in range(tries + 1):
        wait()
        start = time.perf_counter()
        work()
        wait()
        found.append(time.perf_counter() - start)
    return median(found[1:])


# %%
def share(part, whole):
    """A share in per cent; fast mode is too small for one."""
    return "(fast mode)" if FAST else f"{part / whole:.0%}"


# %%
most = machine.buffer_size(device.type)[0] // 2**20  # MB; at least 4 times the cache
big = torch.ones(most * 2**20 // (width * size), width, dtype=dtype, device=device)
row = torch.ones(1, width, dtype=dtype, device=device)
sizes, speeds = [2**k for k in range(12) if 2**k < most] + [most], []
for mb in sizes:
    part, again = big[: len(big) * mb // most], max(1, 32 // mb)
    seconds = seconds_of(lambda m=part, n=again: [ops.linear(row, m) for _ in range(n)])
    speeds.append(part.nbytes * again / seconds / 1e9)
show.lines(sizes, {"row x matrix": speeds}, "MB", "GB/s", log="x")

# %% [markdown] id="01-bandwidth-caption"
# *Picture: size of the matrix against the speed at which a product of one row with it gets its
# bytes. Left: the matrix stays in a cache. Right: it comes from main memory every time.*
#
# Two figures of this machine go into everything that follows. The **limit** is the fastest reading
# that we can get: a sum over a large buffer, or a search for the largest number. The **row speed**
# is what the products of a step get: one row times many matrices of a layer's size, one after
# another, outside the cache. (`ops.linear` is the product that our models use.) A product does more
# than read, so it gets less.

# %%
limit = machine.read_bandwidth(device.type).bytes_per_second
pieces = big.split(4 * width)
row_speed = big.nbytes / seconds_of(lambda: [ops.linear(row, m) for m in pieces])
cache = machine.last_level_cache() or 0
name = torch.cuda.get_device_name() if device.type == "cuda" else machine.cpu_model()
print(f"{name}, {torch.get_num_threads()} threads, largest cache {cache / 1e6:.0f} MB")
print(f"limit:      {limit / 1e9:6.1f} GB/s")
print(f"row speed:  {row_speed / 1e9:6.1f} GB/s, of the limit: {share(row_speed, limit)}")

# %% [markdown] id="01-law"
# ## 3. The law of one user
#
# If a step reads every weight once, and reading is all that counts, then
#
#     tokens a second = bytes a second / bytes of the weights
#
# Guess first. The question is about another laptop, so that nobody can look the answer up.

# %% exercise 1.3

# %% [markdown] id="01-law-now"
# Now our machine. A step is one token after a few earlier ones. We measure the row speed once more,
# in turns with the step, so that both meet the same moods of the machine.


# %%
def step_of(model, past=32):
    """A function that runs one step: one more token after `past` tokens."""
    memory = StripCache.for_model(model, past + 200)
    model(torch.arange(past, device=device), memory=memory)
    token = torch.tensor([5], device=device)
    return lambda: model(token, memory=memory)


# %%
one_row, one_step, pairs = (lambda: [ops.linear(row, m) for m in pieces]), step_of(blank), []
for _ in range(3 if FAST else 15):  # in turns: a machine that slows down slows both
    pairs.append((seconds_of(one_row, tries=1), seconds_of(one_step, tries=1)))
row_seconds, step = (median(column) for column in zip(*pairs))
row_speed = big.nbytes / row_seconds
predicted = row_speed / model_bytes
print(f"predicted: {predicted:6.1f} tokens/s from a row speed of {row_speed / 1e9:.1f} GB/s")
print(f"measured:  {1 / step:6.1f} tokens/s, {step * 1e3:.1f} ms a token")
print(f"(the limit would give {limit / model_bytes:.1f} tokens/s)")
if not FAST:  # small sizes prove nothing
    off = 1 / step / predicted - 1
    print(f"the prediction is {abs(off):.0%} off; within 30%: {abs(off) <= 0.3}")

# %%
from exercises.notebook import measured, question

asked = question("1.3")  # the numbers of your question
bound = asked["bandwidth"] * 1e9 / (asked["millions"] * 1e6 * 4)
note = "this machine's share of its prediction, carried over to the laptop of the question"
measured("1.3", bound / step / predicted, "tokens/s", note)

# %% [markdown] id="01-busy"
# ### "100% busy" is not "efficient"
#
# Tools show a processor or a GPU at 100% during all this. It is: it waits for bytes. What tells you
# how good a program is, is the **share of the bandwidth**, or for much arithmetic the share of the
# **peak**, the most operations a second. One addition or multiplication of floats is a **FLOP**. We
# measure the peak with large square matrices.


# %%
def peak_of(n):
    """FLOP/s of an [n, n] by [n, n] product, the best of five."""
    a = torch.randn(n, n, dtype=dtype, device=device)
    times = [seconds_of(lambda: a @ a, tries=1) for _ in range(5)]
    return 2 * n**3 / min(times)


peak = max(peak_of(n) for n in ((512, 768) if FAST else (1024, 1536, 2048)))

# %%
work, processor, start = step_of(blank), time.process_time(), time.perf_counter()
for _ in range(10):
    work()
wait()
seconds = time.perf_counter() - start
busy = (time.process_time() - processor) / seconds / torch.get_num_threads()
flops = 2 * blank.num_parameters() * 10 / seconds  # two operations a weight
print(f"processor busy:      {share(busy, 1)}")
print(f"share of the peak:   {share(flops, peak)} of {peak / 1e9:.0f} GFLOP/s")
print(f"share of the limit:  {share(model_bytes * 10 / seconds, limit)} of {limit / 1e9:.0f} GB/s")

# %% [markdown] id="01-busy-read"
# On a GPU it is the same: the "utilization" of `nvidia-smi` only says that some kernel (a program
# of the GPU) was running.
#
# ## 4. Arithmetic for each byte
#
# A step may bring several rows at once: the tokens of a prompt, or one token of each of many users.
# Every matrix is read once for all of them. The **intensity** of a piece of work is its arithmetic
# for each byte that it moves. It grows with the rows: the weights are read once for all, only
# inputs and results add bytes.

# %% exercise 1.2

# %% [markdown] id="01-cost"
# The same for `blank`, from the list of its matrices. The package counts it too, in
# `minillm/clock.py`. It leaves the inputs and results of the matrices out, so it moves a little
# less.

# %%
shapes = [(m.out, m.in_) for m in clock.matrices(blank.config) for _ in range(m.count)]
costs = {}
print(" rows      GFLOP         MB   FLOP/byte    package: MB")
for rows in (1, 2, 4, 8, 16, 64, 256, 512):
    flops = sum(2 * o * i * rows for o, i in shapes)
    moved = sum(o * i + rows * (o + i) for o, i in shapes) * size
    costs[rows] = clock.Cost(flops, moved, launches=len(shapes))
    package = clock.step_cost(blank.config, rows, rows, size, size)
    package = package.linears + package.head
    print(f"{rows:5} {flops / 1e9:10.2f} {moved / 1e6:10.1f} {flops / moved:11.1f}"
          f" {package.bytes / 1e6:14.1f}")  # fmt: skip

# %% [markdown] id="01-roofline"
# ## 5. The roofline
#
# A machine has two limits: the bandwidth, and the peak. Moving and computing overlap, so the slower
# one decides. Where both take equally long lies the **ridge**: peak / bandwidth, in FLOPs a byte.
# Work left of the ridge is **memory-bound**, right of it **compute-bound**.

# %% exercise 1.4

# %% [markdown] id="01-measure-rows"
# We send 1 to 512 rows through all matrices of `blank`, and compare with the law. **Before you run
# it:** how much longer do 16 rows take than one?


# %%
def linears_seconds(model, rows, product=ops.linear):
    """All matrices of the model, one after another, for so many rows."""
    weights = [m.weight for m in model.modules() if isinstance(m, torch.nn.Linear)]
    x = {w.shape[1]: torch.randn(rows, w.shape[1], dtype=dtype, device=device) for w in weights}
    return seconds_of(lambda: [product(x[w.shape[1]], w) for w in weights], tries=3)


# %%
here = clock.Device(bandwidth=row_speed, peak=peak, memory=machine.total_memory(), launch=0)
times = {rows: linears_seconds(blank, rows) for rows in costs}
print(f"ridge at the row speed: {here.ridge:.1f} FLOP/byte; at the limit: {peak / limit:.1f}")
print("rows  law, ms  measured  a row   bound by    PyTorch's default")
for rows, cost in costs.items():
    law = clock.step_seconds(cost, here)
    bound = "bytes" if cost.intensity < here.ridge else "arithmetic"
    print(f"{rows:4} {law * 1e3:8.1f} {times[rows] * 1e3:9.1f} "
          f"{times[rows] / rows * 1e3:6.2f}   {bound:10}", end="")  # fmt: skip
    print(f" {linears_seconds(blank, rows, F.linear) * 1e3:19.1f}" if rows <= 16 else "")

# %% [markdown] id="01-jump"
# The law says which limit counts. It does not say that a program gets there. Look at the last
# column: PyTorch's default product is made for many rows. For one row it may use a single core, and
# two rows may take twice as long, although both only have to read the weights. So for few rows this
# package takes other routines on a CPU (`minillm/few_rows.py`; on a GPU both columns are the same).
#
# Attention is different. It reads keys and values, which chapter 04 explains. All you need now:
# each user has their own. We give 16 users 1,024 earlier tokens each.

# %%
c, users, length = blank.config, 4 if FAST else 16, 256 if FAST else 1024
shape = (c.num_layers, 2, users, c.num_kv_heads, length, c.head_size)
kv = torch.randn(shape, dtype=dtype, device=device)  # keys and values of everybody
query = torch.randn(
    users, c.num_kv_heads, c.queries_per_kv, c.head_size, dtype=dtype, device=device
)


# %%
def attend_all(together):
    """One token of all users, `together` of them in one operation; every layer."""
    for layer in range(c.num_layers):
        for first in range(0, users, together):
            k, v = kv[layer, :, first : first + together]
            scores = query[first : first + together] @ k.transpose(-1, -2) * c.attention_scale
            scores.softmax(-1) @ v


attention = {}
for together in (s for s in (1, 2, 4, 8, 16) if s <= users):
    seconds = seconds_of(lambda s=together: attend_all(s), tries=3)
    attention[together] = seconds * together / users  # of one group
    print(f"attention of {together:2} users: {attention[together] * 1e3:7.2f} ms")

# %% [markdown] id="01-dots"
# Now the picture that the whole course comes back to: three dots under the roof of this machine.

# %%
per_user = clock.step_cost(c, 1, length, size, size).attention
roof = clock.Device(bandwidth=limit, peak=peak, memory=1, launch=0)


def three_dots(rows):
    """Where the measured times lie: a linears of S users, b of a prompt of 512, c attention."""
    s = min(rows, users)
    own = clock.Cost(per_user.flops * s, per_user.bytes * s, 0)
    dots = {
        "a": (costs[rows], times[rows]),
        "b": (costs[512], times[512]),
        "c": (own, attention[s]),
    }
    return show.roofline(roof, dots)


show.widget(three_dots, list(costs), label="S", static=(1, 16, 256))

# %% [markdown] id="01-dots-caption"
# *Picture: FLOPs a byte against FLOPs a second, both in powers of ten. Black: the roof, the most
# this machine can do, with the limit as bandwidth: so its ridge (dotted) lies further left than the
# table's. a: the matrices, one token of each of S users.
# b: the matrices, one prompt of 512 tokens. c: attention, one token of each user. The thin line
# above a dot is what it leaves unused. Frames: S = 1, 16, 256. (c is measured with at most 16
# users.)*
#
# Three things to see:
#
# - **a moves right when S grows.** More users share every byte of weights.
# - **b lies beyond the ridge.** "Inference is memory-bound" is true of writing for few users.
#   Reading a prompt is compute-bound.
# - **c never moves.** Every user brings their own bytes.

# %% [markdown] id="01-reading"
# ### Reading 512 tokens, writing 512 tokens
#
# Both need the same arithmetic, but for attention. Guess how different they are.

# %% exercise 1.6

# %%
asked = question("1.6")
gpu = clock.Device(asked["bandwidth"] * 1e9, asked["peak"] * 1e12, memory=80e9, launch=10e-6)
seconds = lambda rows, context, requests: clock.step_seconds(
    clock.step_cost(llama2, rows, context, 2, 2, requests), gpu
)
reading = seconds(512, 512, 1)
writing = sum(seconds(1, 512 + i, 1) for i in range(512))
note = "on paper, Llama-2-7B in fp16: attention and 10 us a launch counted as well"
measured("1.6", writing / reading, "times", note)

# %% [markdown] id="01-reading-here"
# And with real tokens on this machine. For writing we time one step and take it 512 times.

# %%
prompt = torch.arange(512, device=device)
last = torch.tensor([511], device=device)
reading = seconds_of(
    lambda: blank(prompt, memory=StripCache.for_model(blank, 512), rows=last), tries=2
)
writing = 512 * seconds_of(step_of(blank, past=512), tries=9)
law = here.ridge * size / 2  # `size` bytes a weight and step, 2 FLOPs a weight and row
print(f"reading 512 tokens: {reading:6.2f} s, {512 / reading:7.0f} tokens/s")
print(f"writing 512 tokens: {writing:6.2f} s, {512 / writing:7.0f} tokens/s")
if not FAST:
    print(f"writing takes {writing / reading:.0f} times as long; the law says {law:.0f}")

# %% [markdown] id="01-batching"
# ## 6. What users share, and what they do not
#
# **Batching** means one step for many users. The weights are read once for all. This is the largest
# gain of the whole course, and it is exact. But it is not free. The next picture shows both parts
# of a step.

# %%
shown = sorted(set(times) & set(attention))
parts = {
    "linears": [times[s] * 1e3 for s in shown],
    "attention": [attention[s] * 1e3 for s in shown],
}
show.scaling([show.Panel(shown, parts, "S", "ms")])

# %% [markdown] id="01-batching-caption"
# *Picture: users in a step against milliseconds, measured on this machine, 1,024 earlier tokens a
# user. In the legend stands how each part grows at the end of its line: a power of 1 means twice
# the users, twice the time. Attention is near 1, the matrices stay far below.*
#
# The same on the **paper GPU**, a device that exists only in `minillm/clock.py`: 300 GB/s, 60
# TFLOP/s, 16 GB, 10 microseconds a **launch** (the fixed cost of starting an operation). It charges
# every step by the roofline, so its times are the same on every machine. We take the shape of
# Llama-3.2-3B, in fp16, 4,096 earlier tokens a user.

# %%
llama3b = minillm.ModelConfig(
    family="llama", vocab_size=128256, width=3072, mlp_width=8192, num_layers=28, num_heads=24,
    num_kv_heads=8, head_size=128, max_len=131072, tie_embeddings=True,
)  # fmt: skip
print("paper GPU      milliseconds                         tokens/s")
print("      S   linears  attention   head   step      a user     all")
for s in (1, 2, 4, 8, 16):
    cost = clock.step_cost(llama3b, s, 4096, 2, 2)
    ms = [clock.step_seconds(p) * 1e3 for p in (cost.linears, cost.attention, cost.head, cost)]
    print(f"{s:7} {ms[0]:9.1f} {ms[1]:10.1f} {ms[2]:6.1f} {ms[3]:6.1f} "
          f"{1000 / ms[3]:11.0f} {1000 * s / ms[3]:7.0f}")  # fmt: skip

# %% [markdown] id="01-batching-read"
# The matrices cost the same for 1 and for 16 users. Attention costs about 14 times as much. So
# the total grows, but less and less, and every single user becomes slower. Chapter 05 batches,
# chapters 04 and 09 make keys and values smaller.
#
# And how many users fit at all? **Memory = weights + keys and values + slack.** **Slack** is what
# must stay free for everything else.

# %%
weights = clock.num_parameters(llama3b) * 2
token = llama3b.kv_bytes_per_token(2)
loads = [
    show.Load(f"{length:,}", weights=weights, slack=1.6e9, request=length * token)
    for length in (2048, 4096, 16384, 65536)
]
show.seats(clock.PAPER_GPU.memory, loads)

# %% [markdown] id="01-seats-caption"
# *Picture: the 16 GB of the paper GPU, for users with 2,048 to 65,536 tokens (left). Grey:
# weights. Hatched: slack. Each blue tile: keys and values of one user. The number at the right: how
# many fit.*

# %% exercise 1.7

# %% [markdown] id="01-tiny"
# ## 7. Why does `tiny` miss the law?
#
# `tiny` has few bytes. The law promises a very fast model. Let us see.

# %%
tiny_bytes = sum(sum(kinds.values()) for kinds in tiny.weight_bytes().values())
tiny_step = seconds_of(step_of(tiny), tries=20 if FAST else 60)
print(f"law:      {tiny_bytes / row_speed * 1e3:.2f} ms a token, from main memory")
print(f"measured: {tiny_step * 1e3:.2f} ms a token")

# %% [markdown] id="01-suspects"
# Who took the time? Two clues. First, we count the operations of one step, and take the matrices
# out of it.

# %%
from exercises.grading.counting import Count

work = step_of(tiny)
with Count() as count:  # writes down every operation that PyTorch runs
    work()
operations = count.ops.total()
inside = linears_seconds(tiny, 1)
print(f"operations in a step: {operations}; the most frequent ones:")
print(", ".join(f"{name} {times_}" for name, times_ in count.ops.most_common(6)))
for part, seconds in (("matrices", inside), ("all the rest", tiny_step - inside)):
    print(f"{part:<13}{seconds * 1e3:6.2f} ms, of a step: {share(seconds, tiny_step)}")

# %% [markdown] id="01-floor"
# Second, we take the bytes away and leave the operations: models with as many layers as `tiny`,
# narrower and narrower. And `blank` at the other end.

# %%
from dataclasses import replace

points = {}
for w in (32, 64, 128):
    small = replace(tiny.config, width=w, mlp_width=2 * w, head_size=w // 8)
    model = minillm.Transformer(small).to(device=device, dtype=dtype)
    held = sum(sum(kinds.values()) for kinds in model.weight_bytes().values())
    points[held / 1e6] = seconds_of(step_of(model), tries=20 if FAST else 60) * 1e3
points |= {tiny_bytes / 1e6: tiny_step * 1e3, model_bytes / 1e6: step * 1e3}
law = [mb * 1e9 / row_speed for mb in points]
series = {"measured": list(points.values()), "law": law}
show.lines([round(mb, 1) for mb in points], series, "MB", "ms", log="xy")

# %% [markdown] id="01-floor-caption"
# *Picture: bytes of the weights against milliseconds a step, both in powers of ten. Dashed: the
# law. The last two points are `tiny` and `blank`.*
#
# At the right the points follow the law. At the left they lie on a floor: fewer bytes do not help.

# %% exercise 1.5

# %% [markdown] id="01-floor-read"
# A better law has one more term, the launches of the paper GPU:
#
#     time = max(bytes / bandwidth, FLOPs / peak) + operations x cost of starting one
#
# From the narrowest model we read the floor, and predict `tiny` again. (Its matrices may come from
# the cache, so this time the law may be too high.)

# %%
floor = min(points.values())
print(f"floor: {floor:.2f} ms for {operations} operations: "
      f"{floor / operations * 1e3:.1f} us each")  # fmt: skip
print(
    f"floor + bytes: {floor + tiny_bytes / row_speed * 1e3:.2f} ms; measured {tiny_step * 1e3:.2f}"
)

# %% [markdown] id="01-takeaway"
# ## Takeaway
#
# Everything in this chapter is **exact**: nothing was changed, only measured.
#
# | box | what you know now |
# |---|---|
# | bytes stored | weights + keys and values + slack; bits a weight with scales; GB and GiB |
# | bytes moved | all weights, for every step: tokens/s = bandwidth / bytes for one user |
# | arithmetic | 2 FLOPs a weight and row; it decides beyond the ridge: prompts, large batches |
# | waiting | a fixed cost for every operation: it decides for small models |
#
# Below: what was predicted and measured on this machine. From chapter 03 on a **scoreboard** stands
# here too: the same 32 **requests** (a prompt and the answer wanted) for every way of serving them.

# %%
print(f"{name}, {torch.get_num_threads()} threads, {dtype}")
print(f"blank, one user:  law {predicted:7.1f} tokens/s   measured {1 / step:7.1f}")
print(
    f"tiny, one user:   law {row_speed / tiny_bytes:7.1f} tokens/s   measured {1 / tiny_step:7.1f}"
)
law = clock.step_seconds(costs[512], here)
print(f"blank, 512 rows:  law {law * 1e3:7.1f} ms         measured {times[512] * 1e3:7.1f}")

# %% [markdown] id="01-loses"
# **Where the law loses.** Small models: the fixed cost of operations rules. (For a fast GPU even
# `blank` is small.) Weights that fit into a cache: they come faster than the law says. A few rows
# on a CPU: which routine runs matters, and from one to the next there may be a jump. Long texts:
# keys and values are bytes too. And the law never says that a program reaches it. It tells you how
# much there is to win before you begin to work.
#
# **The same thing in vLLM.** At its start vLLM prints how many tokens of keys and values fit beside
# the weights, and how many requests of full length that is: your exercise 1.7.
# `gpu_memory_utilization` leaves the slack. `vllm bench latency` and `vllm bench throughput`
# measure one user and all users. On a GPU the fixed cost is fought with CUDA graphs, which start
# hundreds of operations at once.
#
# **Next:** [02 · What does a transformer compute?](02_what_does_a_transformer_compute.ipynb) You
# know what the matrices cost. Now you build them.
