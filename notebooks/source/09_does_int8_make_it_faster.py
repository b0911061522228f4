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

# %% [markdown] id="09-title"
# # 09 · Does int8 make it faster?
#
# **After this notebook** you can build a layer that holds int8, say which of three "int8" programs
# is fast and why, put activations and the K/V cache into int8, and say where int8 loses.
#
# **Time:** 45 minutes for the notebook, 30 for the exercises of the evening path, 120 for the rest.
# **Hardware:** any laptop. This chapter measures on the processor, also where there is a GPU.

# %% bootstrap

# %% [markdown] id="09-test-out"
# ## Test out
#
# Do you know this already? Solve 9.1 and 9.2 below. If the grader says "right" twice, go on to
# chapter 10.

# %%
import os

import torch
import torch.nn.functional as F

import minillm
from minillm import machine, ops, show
from minillm.turns import in_turns

FAST = os.environ.get("MINILLM_FAST") == "1"  # small sizes: a check that everything runs
torch.set_grad_enabled(False)  # we only compute, we do not train
limit = machine.read_bandwidth("cpu").bytes_per_second
cache = (machine.last_level_cache() or 0) / 1e6
here = f"{machine.cpu_model()}, {torch.get_num_threads()} threads"
print(f"{here}: reads {limit / 1e9:.1f} GB/s, largest cache {cache:.0f} MB")

# %% [markdown] id="09-layer"
# ## 1. A layer that holds int8
#
# Chapter 08 turned numbers into codes and a scale: weight ≈ code × scale. A layer needs both, and
# nothing else. With one scale for each row of the matrix, a weight takes one byte and a little: the
# scale is shared by the whole row.

# %%
torch.manual_seed(0)
weight_NK = torch.randn(1024, 512) * 0.02
scale_N1 = weight_NK.abs().amax(1, keepdim=True) / 127
codes_NK = (weight_NK / scale_N1).round().to(torch.int8)
x_TK = torch.randn(3, 512)
exact_TN, ours_TN = x_TK @ weight_NK.T, x_TK @ (codes_NK * scale_N1).T
print("row 0, weights:", [f"{w:+.4f}" for w in weight_NK[0, :4].tolist()])
print("row 0, codes:  ", codes_NK[0, :4].tolist(), f"x {scale_N1[0, 0].item():.6f}")
print(f"results: {(ours_TN - exact_TN).norm() / exact_TN.norm():.2%} of their size off")

# %%
held = {
    "fp32": {"weights": weight_NK.nbytes / 1e3},
    "bf16": {"weights": weight_NK.nbytes / 2e3},
    "int8": {"weights": codes_NK.nbytes / 1e3, "scales": scale_N1.nbytes / 1e3},
}
show.stack(held, "kB")

# %% [markdown] id="09-layer-caption"
# *Picture: bytes of one matrix, 1,024 x 512, in three formats. The scales of int8 are there: look
# for the narrow piece at the end.*
#
# Int8 is lossy: the results differ a little. How much that matters is chapter 11. Here we ask for
# bytes and time.

# %% exercise 9.1

# %% [markdown] id="09-package"
# The package has this layer too: `QuantLinear`. Its codes go from -128 to 127, and its scale is
# 2 × max / 255, as in the file format of vLLM. So its codes are not ours, but its error is nearly
# the same.

# %%
from minillm.compress.linear import QuantLinear
from minillm.compress.quant import encode

layer = QuantLinear(encode(weight_NK, "int8", None, True), "int8")
off = (layer(x_TK) - exact_TN).norm() / exact_TN.norm()
print(layer)
print(f"results: {off:.2%} of their size off; bytes held: {layer.weight_bytes()}")

# %% [markdown] id="09-three"
# ## 2. Three programs, one name
#
# "We run the model in int8" can mean three things:
#
# 1. **fake-quantised**: weights are rounded to the int8 grid, and stored as floats again. Papers do
#    this to study quality.
# 2. **dequantise first**: int8 in memory. Each call makes a float matrix, then multiplies.
# 3. **packed**: the product itself reads int8, and converts each code inside the processor.
#
# All three give (nearly) the same results. Which bytes do they move for one token?

# %%
moved = {  # bytes a weight
    "fp32": {"read float": 4},
    "1": {"read float": 4},
    "2": {"read float": 4, "write float": 4, "read int8": 1},
    "3": {"read int8": 1},
}
show.stack(moved, "bytes moved for each weight")

# %% [markdown] id="09-three-caption"
# *Picture: what each program moves, if matrices are larger than the caches. 2 reads the codes,
# writes the float matrix, and reads it again.*
#
# Guess the times first. The question is about another machine.

# %% exercise 9.2

# %% [markdown] id="09-measure"
# Now measure. `blank` has random weights and is larger than the cache. We take all its matrices,
# one row through each, as for one token. The programs run **in turns**: each once, then all again
# in the opposite order, and so on. So a machine that slows down slows all of them. The first time
# only warms up. `in_turns` does this, and gives each program's median.

# %%
from minillm.blank import blank_model

blank = blank_model(1024)
linears = [m for m in blank.modules() if isinstance(m, torch.nn.Linear)]
linears = [m for m in linears if m is not blank.head]
weights = sum(m.weight.numel() for m in linears)
often = 2 if FAST else 9  # how many times each program runs

# %%
coded = []  # for each matrix: codes, scales, and the fake-quantised matrix
for m in linears:
    scale = m.weight.abs().amax(1, keepdim=True) / 127
    codes = (m.weight / scale).round().to(torch.int8)
    coded.append((codes, scale, codes * scale))
token = {n: torch.randn(1, n) for n in {m.in_features for m in linears}}


# %%
from minillm import quant_ops

layouts = [quant_ops.int8_layout(codes, scale) for codes, scale, _ in coded]
row = lambda codes: token[codes.shape[1]]
programs = {
    "fp32": lambda: [ops.linear(row(m.weight), m.weight) for m in linears],
    "fake": lambda: [ops.linear(row(fake), fake) for _, _, fake in coded],
    "first": lambda: [ops.linear(row(c), c * scale) for c, scale, _ in coded],
    "packed": lambda: [quant_ops.int8_matmul(row(c), (c, s)) for c, s in layouts],
}
seconds = in_turns(programs, often)

# %%
stored = {"fp32": 4, "fake": 4, "first": 1, "packed": 1}
traffic = {"fp32": 4, "fake": 4, "first": 9, "packed": 1}
print(f"{here}, {weights / 1e6:.0f} million weights")
print("          MB held   bound, ms   measured, ms")
for name, s in seconds.items():
    bound = traffic[name] * weights / limit
    print(f"{name:8} {stored[name] * weights / 1e6:8.0f} {bound * 1e3:11.1f} {s * 1e3:14.1f}")
show.bars({name: s * 1e3 for name, s in seconds.items()}, "ms a token")

# %% [markdown] id="09-measure-caption"
# *Table and picture: the bound is bytes moved / the reading speed of this machine. (MB without
# scales.)*
#
# The guess was about another machine. The next cell carries this machine's share of its bounds over
# to the machine of your question.

# %%
from exercises.notebook import measured, question

asked = question("9.2")
shares = [seconds[n] / (traffic[n] * weights / limit) for n in ("fake", "first", "packed")]
paper = [b * asked["P"] / asked["B"] for b in (4, 9, 1)]
measured("9.2", [s * p for s, p in zip(shares, paper)], "ms", "carried over from this machine")

# %% [markdown] id="09-belief"
# ### "Fewer bits are faster"
#
# Only if fewer bytes **move**.
#
# - *Fake* changes no byte: it holds floats. It takes as long as fp32, and as much memory.
# - *First* holds a quarter, and is the slowest of all. The bound counts bytes. On a processor there
#   is more: converting every number, and memory that must be got for a new matrix each time. So it
#   lies far above its bound.
# - *Packed* moves a quarter. It gains at most 4 times over fp32, and 2 times over 16 bit.

# %% [markdown] id="09-dtype"
# ## 3. What enters the multiplication?
#
# Another belief: "int8 and int4 use the integer units (the tensor cores) of the chip". Let us look.
# A **dispatch mode** sees every operation of PyTorch. We print the formats that enter the product.

# %%
from torch.utils._python_dispatch import TorchDispatchMode


class Watch(TorchDispatchMode):
    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        out, name = func(*args, **(kwargs or {})), func._schema.name.split("::")[1]
        if ("mm" in name or "qlinear" in name) and isinstance(out, torch.Tensor):
            kinds = [str(a.dtype)[6:] for a in args if isinstance(a, torch.Tensor)]
            print(f"   {name}: {' x '.join(kinds[:2])} -> {str(out.dtype)[6:]}")
        return out


# %%
for scheme, compute in (("int8", "exact"), ("int8", "fast"), ("int4", "fast"), ("w8a8", "fast")):
    group = 64 if scheme == "int4" else None
    kept = torch.bfloat16 if compute == "fast" else None
    # 1,000 rows: 1,024 would go to a library that rounds activations where we cannot look
    part = QuantLinear(encode(weight_NK[:1000], scheme, group, True, kept), scheme, compute=compute)
    part(x_TK)  # the first call makes the layout
    print(f"{scheme}, {compute}")
    with Watch():
        part(x_TK)

# %% [markdown] id="09-dtype-read"
# *Printed: what enters the product -> its result.* No unit multiplies a float by an integer.
#
# - `int4` multiplies floats: its codes (uint8 is only the packing, chapter 10) become floats on the
#   way. "int8, exact" even makes the whole float matrix first, program 2.
# - `w8a8` has 8-bit integers on both sides. (One side may be stored with 128 added: uint8.) They
#   are added up in int32, and the sum is scaled.
# - "int8, fast" may print int8 x int8, too. Still it is **weight-only**: it keeps 16 bits of each
#   activation. Where a processor has integer instructions, our layer cuts them into two bytes and
#   multiplies twice (section 5). Else it multiplies floats.
#
# So weight-only quantisation saves bytes, and no arithmetic. It even adds some.
#
# Now mend a layer of the slow kind.

# %% exercise 9.6

# %% [markdown] id="09-both"
# ## 4. Integers on both sides
#
# For integer units the activations must be integers as well: **W8A8**, 8 bits for weights and
# activations. Weights are coded once. Activations are new in every step, so they are coded on the
# fly (**dynamic**), each token with its own scale.
#
# Both scales come out of the sum: Σ (a·q)(b·w) = a·b · Σ q·w. The sum is one of whole numbers.

# %%
layer = QuantLinear(encode(weight_NK, "w8a8", None, True), "w8a8", compute="fast")
q_TK, scale_T1 = quant_ops.quantize_rows(x_TK)
codes_NK, scale_N1 = layer.codes(), layer.scales()
sum_TN = torch._int_mm(q_TK, codes_NK.T)
by_hand = sum_TN * scale_T1 * scale_N1.float().T
print(f"token 0: codes {q_TK[0, :5].tolist()}, scale {scale_T1[0, 0].item():.5f}")
print(f"sums: {sum_TN.dtype}, the largest {sum_TN.abs().max().item():,} (int16 ends at 32,767)")
print(f"ours against the layer: {(by_hand - layer(x_TK)).abs().max():.1e} apart")
print(f"against the exact result: {(by_hand - exact_TN).norm() / exact_TN.norm():.2%} off")

# %% exercise 9.4

# %% [markdown] id="09-rows"
# ## 5. How many rows?
#
# One row reads a matrix and does little with it: bytes decide. With many rows (many users, or a
# prompt) arithmetic decides (chapter 01). **Predict:** weight-only int8 may not round the
# activations to 8 bits. So it saves no arithmetic, and has more to do around it. What becomes of
# its gain at 256 rows? And of that of W8A8?

# %%
some = linears[: max(7, len(linears) // 4)]  # enough to be larger than most caches
wide = [m.weight.bfloat16() for m in some]
only = [QuantLinear(encode(m.weight, "int8", None, True, torch.bfloat16), "int8") for m in some]
both = [QuantLinear(encode(m.weight, "w8a8", None, True), "w8a8") for m in some]
for q in only + both:
    q.compute = "fast"
each = lambda layers, x: [q(x[m.in_features]) for q, m in zip(layers, some)]


# %%
def ways(rows):
    x = {n: torch.randn(rows, n) for n in {m.in_features for m in some}}
    half = {n: a.bfloat16() for n, a in x.items()}
    return {
        "fp32": lambda: each(some, x),
        "bf16": lambda: [F.linear(half[w.shape[1]], w) for w in wide],
        "int8": lambda: each(only, x),
        "w8a8": lambda: each(both, x),
    }


# %%
counts = (1, 4, 32) if FAST else (1, 2, 4, 8, 16, 32, 64, 128, 256)
swept = {rows: in_turns(ways(rows), 1 if FAST else 5) for rows in counts}
byte = {"fp32": 4, "bf16": 2, "int8": 1, "w8a8": 1}
size = sum(m.weight.numel() for m in some)
bounds = "  ".join(f"{n} {b * size / limit * 1e3:.1f}" for n, b in byte.items())
print(f"{here}\nbound by bytes, ms: {bounds}")
print(" rows " + "".join(f"{name:>9}" for name in byte) + "   (ms)")
for rows, found in swept.items():
    print(f"{rows:5} " + "".join(f"{found[name] * 1e3:9.1f}" for name in byte))

# %%
better = {rows: min(found["fp32"], found["bf16"]) for rows, found in swept.items()}
gain = {n: [better[r] / swept[r][n] for r in counts] for n in ("int8", "w8a8")}
if not FAST:  # small sizes prove nothing
    for name, factors in gain.items():
        loses = [r for r, g in zip(counts, factors) if g < 1]
        print(f"{name}: {factors[0]:.2f} times at 1 row, {factors[-1]:.2f} at {counts[-1]}; "
              f"loses at {loses or 'none of these'}")  # fmt: skip
show.lines(counts, gain, "rows", "times faster than fp32 and bf16", log="x", bound=1)

# %% [markdown] id="09-rows-caption"
# *Picture: how many times faster than the better of fp32 and bf16, over the number of rows. Below
# the dashed line it loses.*
#
# Weight-only int8 is for few rows. It must keep more than 8 bits of each activation. Either it
# multiplies floats, as before, and converts codes on top. Or, where the processor has integer
# instructions (VNNI on x86), our layer cuts each activation of 16 bits into two bytes, and
# multiplies twice. W8A8 multiplies once: there the arithmetic itself is cheaper, so it keeps its
# gain. Without such instructions it may lose too.
#
# So "lower bits run faster on integer hardware" is true of W8A8. Weight-only int8 and int4 gain by
# fewer bytes. On a GPU it should be the same: not measured here yet.
#
# Where the gain ends depends on the matrices, too: the project's longer run with 2,048 × 2,048 is
# in `docs/results.md`.

# %% [markdown] id="09-tokens"
# ### Tokens per second of `blank`
#
# The articles say that int8 halves the weights of fp16 and speeds up **decoding** (writing, one
# token a step). Whole models now, one user. The head is coded too; the embedding stays dense (it is
# only looked up).

# %%
from minillm.cache.simple import StripCache
from minillm.compress.quant import quantize

models = {"fp32": blank}
for scheme in ("int8", "w8a8"):
    models[scheme] = quantize(blank, scheme, head="int8", compute="fast")


def step_of(model, past=32):
    """A function that runs one step: one more token after `past` tokens."""
    memory = StripCache.for_model(model, past + 100)
    model(torch.arange(past), memory=memory)
    return lambda: model(torch.tensor([5]), memory=memory)


steps = in_turns({name: step_of(model) for name, model in models.items()}, often)

# %%
read = {}
for name, model in models.items():
    parts = {part: sum(kinds.values()) for part, kinds in model.weight_bytes().items()}
    untied = name != "fp32"  # with a head of its own, a step reads one row of the embedding
    read[name] = sum(parts.values()) - (parts["embedding"] if untied else 0)
    print(f"{name:5} {sum(parts.values()) / 1e6:6.1f} MB held, {1 / steps[name]:6.1f} tokens/s "
          f"(bound {limit / read[name]:6.1f}: {read[name] / 1e6:.0f} MB a token)")  # fmt: skip
if not FAST:
    print("gain:", {n: f"{steps['fp32'] / steps[n]:.1f} times" for n in ("int8", "w8a8")})

# %% [markdown] id="09-tokens-read"
# The bound is the reading speed divided by the bytes of a step. The smaller the bytes, the more of
# a step is something else: attention, norms, the program itself. So the gain is below 4.
#
# And "halves": that is against 16 bit. Against fp32 it is three quarters.

# %% [markdown] id="09-outliers"
# ## 6. Outliers
#
# A token has one scale. One very large number makes it coarse: all others become 0, 1 or -1. In
# large models a few columns of the activations are like that, the same ones for every token.
# **LLM.int8()** (Dettmers et al. 2022) multiplies those columns in float, all others in int8.

# %%
many_TK = torch.randn(64, 512)
sizes, plain, split = (1, 3, 10, 30, 100), [], []
for large in sizes:
    x = many_TK.clone()
    x[:, 7] *= large  # one column of 512
    want = x @ weight_NK.T
    for found, outlier in ((plain, None), (split, 6.0)):
        got = quant_ops.w8a8_matmul(x, codes_NK, scale_N1.float(), outlier)
        found.append(float((got - want).norm() / (many_TK @ weight_NK.T).norm()))
show.lines(sizes, {"one scale": plain, "split": split}, "column 7 times", "error", log="xy")

# %% [markdown] id="09-outliers-caption"
# *Picture: error of a W8A8 layer, relative to the size of the result without the large column, when
# one of 512 columns is made larger. Split: columns with any |x| above 6 are multiplied in float.*

# %% exercise 9.5

# %% [markdown] id="09-split-cost"
# The split has a price: columns must be found and picked out in each step. Weight-only int8 has no
# such trouble, for it leaves activations alone.

# %%
x = many_TK.clone()
x[:, 7] *= 30
call = lambda outlier: quant_ops.w8a8_matmul(x, codes_NK, scale_N1.float(), outlier)
cost = in_turns({"one scale": lambda: call(None), "split": lambda: call(6.0)}, 20)
print({name: f"{1e6 * s:.0f} us" for name, s in cost.items()}, "on", here)

# %% [markdown] id="09-kv"
# ## 7. Keys and values in int8
#
# For long texts and many users the cache is the larger part (chapter 04). It can be int8 as well:
# one scale for each token and head. A token is coded once, when it comes. **Never code it again**:
# each time would add an error.

# %%
from minillm.cache.paged import PagedCache

c = blank.config
pools = {n: PagedCache(c, num_blocks=8, block_size=16, kv_dtype=n) for n in (None, "int8")}
for name, pool in pools.items():
    a_token = pool.nbytes / (8 * 16)
    print(f"{name or 'fp32'}: pool {pool.nbytes / 1e6:.2f} MB, {a_token:,.0f} bytes a token")
numbers = 2 * c.num_layers * c.num_kv_heads
print(f"formula: {numbers * c.head_size * 4:,} and {numbers * (c.head_size + 4):,}")

# %% [markdown] id="09-kv-read"
# A head of size K takes K + 4 bytes (its scale) instead of 4 K. So in the same memory more tokens
# fit, nearly four times. Against 16 bit it is nearly twice.

# %% exercise 9.3

# %% [markdown] id="09-kv-quality"
# Is it still right? `tiny` reads tales through both pools, token by token. And is it faster? We
# give `blank` a long text that is in the pool already, and time one step.

# %%
from minillm.scoreboard_engines import PagedAlone
from minillm.scoreboard_quality import tale_perplexity


def in_int8(model, max_len):
    memory = PagedAlone(model, max_len)
    blocks, weight = memory.cache.num_blocks, model.embedding.weight
    memory.cache = PagedCache(model.config, blocks, 16, weight.dtype, "int8", weight.device)
    return memory


tiny, tokenizer = minillm.load("tiny", device="cpu")
for name, memory in (("fp32", PagedAlone), ("int8", in_int8)):
    print(
        f"{name} K/V: perplexity {tale_perplexity(tiny, tokenizer, memory, 2 if FAST else 6):.4f}"
    )


# %%
def step_after(make, past):
    memory = make(blank, past + 64)
    memory.cache.kv.random_(-90, 90) if memory.cache.int8 else memory.cache.kv.normal_()
    memory.length = past  # as if `past` tokens had been read
    return lambda: blank(torch.tensor([5]), memory=memory)


# %%
past = 256 if FAST else 3000
long = {"fp32": step_after(PagedAlone, past), "int8": step_after(in_int8, past)}
long = in_turns(long, often)
for name, pool in zip(long, pools.values()):
    moved = read["fp32"] + past * pool.nbytes / 128
    print(f"{name} K/V, {past} tokens: {long[name] * 1e3:.1f} ms, bound {moved / limit * 1e3:.1f}")
if not FAST:
    print(f"int8 K/V: {long['int8'] / long['fp32']:.2f} times the time of fp32 K/V")

# %% [markdown] id="09-kv-time"
# The bound falls with the bytes. The time follows less, or not at all (see the last line): on the
# processor our pool turns the codes into floats first, in memory. That is program 2 of this
# chapter! Here int8 K/V buys **room**. A kernel that reads codes directly should buy time, too (not
# measured here yet).

# %% [markdown] id="09-kernel"
# ## 8. Program 3 as a kernel
#
# (For readers of appendix A1. If you have not read it, go on to section 9.)
#
# On a GPU program 3 is a few lines of Triton: the GEMV of A1.3, with int8 codes. One byte a weight
# comes from memory, and the float exists only inside the program. What can it win over 16 bit? We
# count on the paper GPU: bytes / 300 GB/s, and 10 us for the launch.

# %%
from minillm.clock import PAPER_GPU

print("   N = K   16 bit, us   int8, us   times faster")
for n in (256, 1024, 4096, 16384):
    bytes_of = {"16 bit": 2 * n * n, "int8": n * n + 4 * n}  # int8: with a scale for each row
    us = [1e6 * (b / PAPER_GPU.bandwidth + PAPER_GPU.launch) for b in bytes_of.values()]
    print(f"{n:8,} {us[0]:12.1f} {us[1]:10.1f} {us[0] / us[1]:14.2f}")

# %% [markdown] id="09-kernel-read"
# *Table: counted on paper, not measured.* A small matrix is all launch, and int8 wins nothing. A
# large one comes near 2 times. (On a GPU: not measured yet.)
#
# The scale belongs to a whole row. So the kernel may add up code × x, and multiply by the scale
# once, at the end.

# %% exercise 9.7

# %% [markdown] id="09-scoreboard"
# ## 9. The scoreboard
#
# Workload W with W8A8: the budget is the same, so what the weights no longer take becomes room for
# K/V, and more requests run at once.

# %%
from minillm import scoreboard

result = scoreboard.run("W8A8")
scoreboard.table([result])

# %% [markdown] id="09-calibration"
# *Table: MB is weights and cache together. TTFT is the time to the first token, the median over all
# requests. Grey rows were recorded on the machine that is named below.*
#
# Compare W8A8 with the grey row of int8 weights. One user reads the same bytes with both: there
# W8A8 cannot be far ahead, and may be behind. With all users together its cheaper arithmetic may
# count: look at `total`.
#
# ## Predicted and measured

# %%
from exercises.notebook import calibration

guesses = calibration()
show.calibration_plot(guesses) if guesses else "no guess measured yet: answer a [predict] exercise"

# %% [markdown] id="09-takeaway"
# ## Takeaway
#
# | | int8, weights only | W8A8 | int8 K/V |
# |---|---|---|---|
# | **bytes stored** | a quarter of fp32, half of 16 bit | the same | nearly so, for the cache |
# | **bytes moved** | the same share, if packed; more, if a matrix is made first | the same | less |
# | **arithmetic** | in floats, or twice in integers | in integers | as before, and converting |
# | **waiting** | less for few rows, more for many | less | more users fit, so less queueing |
#
# **Lossy:** all three. W8A8 also loses in the activations, and outliers make it worse.
#
# **Where this loses.**
#
# - *Fake-quantised* saves nothing. It is a tool to study quality.
# - *Dequantise first* is slower than fp32 at one row.
# - *Weight-only* loses from some number of rows on: see your own picture in section 5.
# - *W8A8* needs integer instructions, and care with outliers.
# - *Int8 K/V* buys room, not speed, on this processor (section 7), and little on short texts.
#
# ## The same thing in vLLM
#
# | here | vLLM |
# |---|---|
# | `quantize(model, "int8")`, saved | a compressed-tensors checkpoint, `pack-quantized` (W8A16) |
# | `quantize(model, "w8a8")`, saved | a compressed-tensors checkpoint, `int-quantized` |
# | `save(model, tokenizer, folder)` | `vllm serve folder`: it reads the format from config.json |
# | `kv_dtype="int8"` | `--kv-cache-dtype fp8`: 8 bits too, as floats |
#
# **Next:** [10 · How do you pack 4 bits?](10_how_do_you_pack_4_bits.ipynb) A byte is the smallest
# thing that memory knows. How do two weights share one?
