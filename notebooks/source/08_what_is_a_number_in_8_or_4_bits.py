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

# %% [markdown] id="08-title"
# # 08 · What is a number in 8 or 4 bits?
#
# **After this notebook** you can write weights as 8-bit and 4-bit codes, and say how large the
# error can be, what one very large weight does to all others, what groups cost, and when 8 bits are
# better spent on a float (FP8) than on a whole number (int8).
#
# **Time:** 45 minutes for the notebook, 60 for the exercises of the evening path, 55 for the rest.
# **Hardware:** any laptop.

# %% bootstrap

# %% [markdown] id="08-test-out"
# ## Test out
#
# Do you know this already? Solve 8.1, 8.3, 8.4 and 8.7 below. If the grader says "right" four
# times, go on to chapter 09.
#
# Until chapter 07 all was exact: the tokens never changed. From here on it is lossy: we
# save bytes, and pay in quality. So we must know the price.

# %%
import os

import torch
import torch.nn.functional as F

import minillm
from minillm import show
from minillm.compress import formats

FAST = os.environ.get("MINILLM_FAST") == "1"  # small sizes: a check that everything runs
torch.set_grad_enabled(False)  # we only compute, we do not train
torch.manual_seed(8)
model, tokenizer = minillm.load("tiny", dtype="fp32", device="cpu")

# %% [markdown] id="08-float"
# ## 1. What is a float?
#
# A **float** is three fields of bits: a **sign**, an **exponent** and a **mantissa**. The exponent
# says between which two powers of two the number lies. The mantissa says where between them. More
# exponent bits: a wider range. More mantissa bits: finer steps.

# %%
show.float_bits(0.1)

# %% [markdown] id="08-float-caption"
# *Picture: 0.1 in five formats. s: sign, e: exponent, m: mantissa. At the right: the number that is
# really kept. None of them holds 0.1 exactly. (fp32 is off too, in the ninth digit.) E4M3 and E5M2
# are floats of 8 bits: FP8. Their names say how many bits e and m have.*
#
# Let us read one by hand. The exponent is stored with a **bias** added, so that it is never
# negative. In E4M3 the bias is 7.

# %%
from minillm.show.numbers import bits_of

sign, e, m = bits_of(6.5, "E4M3")
print("6.5 in E4M3:", sign, e, m)
exponent, fraction = int(e, 2) - 7, int(m, 2) / 8
print(f"exponent {int(e, 2)} - 7 = {exponent}, mantissa {int(m, 2)} of 8 steps")
print(f"2^{exponent} x (1 + {fraction}) = {2**exponent * (1 + fraction)}")
print("neighbours of 6.5: 6.0 and 7.0, for a step is 2^2 / 8 =", 2**2 / 8)

# %%
kinds = [torch.float32, torch.float16, torch.bfloat16, torch.float8_e5m2, torch.float8_e4m3fn]
print("format           bits     largest  smallest normal  step after 1")
for kind in kinds:
    f = torch.finfo(kind)
    print(f"{str(kind)[6:]:15} {f.bits:5} {f.max:11.4g} {f.tiny:16.2g} {f.eps:13.2g}")

# %% [markdown] id="08-limits"
# fp16 and bf16 have equally many bits, and fail in different ways. **Predict** the three results
# before you run the next cell.

# %%
print("70,000 in fp16:", torch.tensor(70_000.0).half().item())
print("257 in bf16:   ", torch.tensor(257.0).bfloat16().item())
total = torch.tensor(0.0, dtype=torch.bfloat16)
for _ in range(1000):
    total += 1
print("1 + 1 + ... + 1 in bf16, 1,000 times:", total.item())

# %% [markdown] id="08-limits-read"
# - **fp16** ends at 65,504. One large **activation** (a number that a layer computes), and it is
#   inf.
# - **bf16** has the range of fp32, but only 7 mantissa bits. From 256 on its step is 2, and 256 + 1
#   is rounded back to 256. So sums are kept in fp32, also on GPUs.
#
# Weights are small and need no sums. Bf16 is enough for them: it is the usual format of checkpoints
# (chapter 01).
#
# ### Bits and bytes
#
# The articles say: fp32, fp16, bf16, int8, int4 have sizes 4 : 2 : 2 : 1 : 0.5. We ask memory
# itself. A tensor has no 4-bit type: two codes share a byte (they are packed, chapter 10).

# %%
from minillm.compress.packing import pack

w_NK = torch.randn(1024, 1024)
codes_NK = torch.randint(-8, 8, (1024, 1024), dtype=torch.int8)
one_byte = {"int8": codes_NK, "E4M3": w_NK.to(torch.float8_e4m3fn), "int4": pack(codes_NK, 4)}
tensors = {"fp32": w_NK, "fp16": w_NK.half(), "bf16": w_NK.bfloat16(), **one_byte}
held = {name: {"codes": t.nbytes / 1e6} for name, t in tensors.items()}
held["int8"]["scales"] = 1024 * 2 / 1e6  # one a row, in 16 bits
held["int4"]["scales"] = 1024 * (1024 // 64) * 2 / 1e6  # one for 64 weights
show.stack(held, "MB")

# %% [markdown] id="08-bytes-caption"
# *Picture: one matrix, 1,024 x 1,024, as it is allocated. Int4 with one scale for 64 weights is not
# an eighth of fp32, but a little more. E4M3 takes one byte, like int8 (its one scale is too small
# to see).*
#
# The articles are right about the codes. But codes alone are no weights: see the next section.
#
# ## 2. A scale and codes
#
# Integers have no exponent. So all weights of a tensor share one number, the scale: how much is one
# step? A weight is kept as a whole number of steps, its **code**. Writing numbers with fewer bits
# like this is called quantisation: we **quantise** the weights. Here the largest |w| gets the last
# code. This is called **absmax**. By hand, for four weights:

# %%
step = 2 / 127  # the largest |w| is 2
for value in (0.5, -2.0, 1.0, 0.013):
    code = round(value / step)
    print(f"{value:6} = {value / step:7.2f} steps: code {code:4}, again {code * step:7.4f}")

# %% [markdown] id="08-int8-read"
# *Printed: four weights become four small integers and one float. The last one suffers most: 0.013
# is less than a step, and comes back as 0.0157.*

# %% exercise 8.1

# %% [markdown] id="08-conventions"
# There are other choices. The package (and the file format of vLLM) takes 2 × max / 255 as a step,
# and the codes -128 to 127. Its step is a little smaller, and the largest weight comes back half a
# step too small. The errors are nearly the same. When you compare figures, ask which one was used.

# %%
w = torch.randn(4096)
for bits in (8, 4):
    top = 2 ** (bits - 1) - 1
    ours = (w / (w.abs().max() / top)).round() * w.abs().max() / top
    theirs = formats.symmetric(w[None], bits, None).dequantize()[0]
    rms = lambda back: (back - w).norm() / w.norm()
    print(f"int{bits}: max/{top}: {rms(ours):.3%} off, 2 max/{2 * top + 1}: {rms(theirs):.3%} off")

# %% [markdown] id="08-zero"
# ## 3. Zero points
#
# Some tensors lie mostly on one side. SiLU, the function inside the MLP, never goes below -0.28.
# With a symmetric range nearly half of the codes are then never used. **Asymmetric** codes cover
# only min to max. The code that means 0 is the **zero point**.

# %%
x = F.silu(torch.randn(4096))
low, high = float(x.min()), float(x.max())
step, half = (high - low) / 15, high / 7
zero = round(-low / step)
lanes = {"w": x[:300].tolist(), "a": [(c - zero) * step for c in range(16)]}
show.number_line({**lanes, "s": [c * half for c in range(-7, 8)]})

# %% [markdown] id="08-zero-caption"
# *Picture: w, 300 values of SiLU; a, the 16 values of asymmetric int4; s, the 15 of symmetric int4.
# At the right: how many there are. Half of s is where no value is.*
#
# The range always includes 0, and 0 has a code of its own. So zeros stay zeros: padding and pruned
# weights need that.
#
# One trap: codes 0 to 255 are a `uint8`, and `uint8` has no numbers below 0. There 3 - 189 is 70:
# it wraps round. Make the codes float before you subtract the zero point.

# %% exercise 8.2

# %%
rows = {"SiLU": x[None], "weights": model.layers[2].mlp.gate_up.weight}
for name, w_NK in rows.items():
    for bits in (8, 4):
        found = (formats.symmetric(w_NK, bits, None), formats.asymmetric(w_NK, bits, None))
        errors = [(c.dequantize() - w_NK).norm() / w_NK.norm() for c in found]
        print(f"{name:8} int{bits}: symmetric {errors[0]:.2%} off, asymmetric {errors[1]:.2%}")

# %% [markdown] id="08-zero-read"
# *Printed: the root of the mean squared error, relative to the numbers.* Zero points help much for
# one-sided numbers. The weights of a layer lie on both sides of 0, about evenly, and there they
# help little. They cost bytes and arithmetic. So int8 formats for weights mostly go without. Some
# int4 formats have them (AWQ), where every bit of precision counts.
#
# ## 4. How large can an error be?
#
# A weight lies between two values of the format, and goes to the nearer one.

# %%
grid = torch.linspace(-1, 1, 561)
back = (grid * 7).round() / 7
error = (grid - back).abs().tolist()
alt = "Error of int4 over the weight: 14 equal teeth, each from 0 up to half a step, 1/14."
show.lines(grid.tolist()[::4], {"int4": error[::4]}, "weight", "error", bound=1 / 14, alt=alt)

# %% [markdown] id="08-saw-caption"
# *Picture: error over the weight, for int4 with max |w| = 1. It is 0 at the 15 values of the
# format. Dashed: half a step. Nothing is above it.*
#
# Now say it in numbers, for three formats.

# %% exercise 8.6

# %%
from exercises.notebook import measured, question

asked = question("8.6")
w = torch.linspace(-asked["low"], asked["high"], 20_001, dtype=torch.float64)
span = asked["low"] + asked["high"]
steps = (asked["high"] / 127, asked["high"] / 7, span / 15)
firsts = (0, 0, -asked["low"])  # the value from which steps are counted
found = [((w - a) / s).round() * s + a for s, a in zip(steps, firsts)]
measured("8.6", [float((w - back).abs().max()) for back in found], "at most")

# %% [markdown] id="08-bound-read"
# This bound always holds, whatever the weights are: **error ≤ step / 2**. One bit less makes the
# step about twice as long. Int4 has 4 bits less than int8: 2 × 2 × 2 × 2 = 16 times as coarse.
#
# Our scales make it 127 / 7 = 18 times. The reason: ±127 uses 255 of the 256 codes, ±7 only 15 of
# the 16. The code left out is a larger part of int4.
#
# All errors between 0 and half a step are about equally likely. So the typical error (root of the
# mean square) is step / √12 = 0.29 steps.
#
# And the step depends on **one** weight: the largest.
#
# ## 5. One outlier
#
# Trained models have **outliers**: single weights that are much larger than all others. The scale
# must reach them. What happens to the rest? Guess first.

# %% exercise 8.4

# %%
asked = question("8.4")
row = torch.randn(4096).clamp(-4, 4)
row[0] = 4


def zeros(row):
    """The share of the other weights that get code 0 in int4, one scale for all."""
    return float(((row / (row.abs().max() / 7)).round() == 0)[1:].float().mean())


before, row[0] = zeros(row), asked["outlier"]
measured("8.4", [before, zeros(row)], "of the weights", "4,096 random weights, seeded")

# %% [markdown] id="08-microscope"
# ### The number-line microscope
#
# The next picture puts a row of 256 weights under the microscope, in four formats. Move the slider:
# **one** weight grows.

# %%
row = torch.randn(256)
show.microscope(row, (4, 16, 64) if FAST else (4, 6, 8, 12, 16, 24, 32, 48, 64))

# %% [markdown] id="08-microscope-caption"
# *Picture: the size of the outlier is given in standard deviations of the other weights. Bars: how
# many weights have this value; the dark part becomes 0. Ticks: the values that the format can hold,
# one lane a group. Arrow: the outlier, outside of the picture. At the right: the share of weights
# that become 0. int4: one scale for all. g64: one scale for each 64 weights. NF4: 16 values that
# are not evenly spaced (chapter 10). E4M3 has 8 bits, the others have 4.*
#
# - **int4**: the ticks run out of the picture. In the end only 0 is left: one weight has erased all
#   others.
# - **g64**: the same, but only in the outlier's own group. Look at the lane that empties.
# - **E4M3** hardly cares: half of its values lie below 1/200 of the largest.
#
# ## 6. Groups, and what they cost
#
# So cut each row into **groups** of neighbours, and give each group its own scale. An outlier then
# harms only its group.

# %% exercise 8.3

# %% [markdown] id="08-price"
# Groups are not free: each has a scale. Bits per weight = bits of a code + bits of a scale / size
# of a group. A zero point adds its bits, too.

# %%
print("bits per weight, scales of 16 bits, and a model of 7 billion weights")
for group in (128, 32):
    symmetric, asymmetric = 4 + 16 / group, 4 + (16 + 4) / group
    size = 7e9 * symmetric / 8 / 1e9
    print(f"group {group:5}: {symmetric:.3f}, with zero points {asymmetric:.3f}; 7B: {size:.2f} GB")

# %% [markdown] id="08-price-read"
# "4 bits" is never 4.00 bits. A 7B model is not 3.5 GB, but 3.61 GB with groups of 128, and 3.94 GB
# with groups of 32. (And the embedding stays in 16 bits: more on top.) Does the real allocation
# agree? Our model is in fp32, and so are its scales: 4 + 32 / group.

# %%
from minillm.compress.compare import bits_per_weight
from minillm.compress.quant import quantize

for group in (128, 64, 32):
    small = quantize(model, "int4", group)
    print(
        f"tiny, groups of {group:3}: {bits_per_weight(small):.3f} bits allocated per weight, ",
        end="",
    )
    print(f"formula {4 + 32 / group:.3f}")

# %% [markdown] id="08-buys"
# What do those bits buy? Random weights, once clean, once with one outlier in each row.

# %%
clean = torch.randn(64, 4096)
spiked = clean.clone()
spiked[:, 7] = 20
groups, errors = (4096, 256, 128, 64, 32, 16), {"clean": [], "outlier": []}
others = torch.arange(4096) != 7  # judged without the outlier itself
for group in groups:
    for name, w_NK in (("clean", clean), ("outlier", spiked)):
        off = (formats.symmetric(w_NK, 4, group).dequantize() - w_NK)[:, others]
        errors[name].append(float(off.norm() / w_NK[:, others].norm()))
show.lines([4 + 16 / g for g in groups], errors, "bits per weight", "error", log="y")

# %% [markdown] id="08-buys-caption"
# *Picture: relative error of int4 over bits per weight, from one scale a row (left) to groups of 16
# (right). With an outlier in each row, the first groups buy most.*
#
# Also without outliers small groups are better: the largest of 32 weights is smaller than the
# largest of 4,096. From some size on a whole bit more would be the better buy. In practice groups
# have 32 to 128 weights.
#
# A group has one trap more. What is the scale of weights that are all 0?

# %% exercise 8.7

# %% [markdown] id="08-fp8"
# ## 7. Eight bits: int8 or FP8?
#
# Both have 256 codes. Int8 puts its values at equal distances. E4M3 puts them close together near
# 0, and far apart at the ends. Both are stretched to the same largest weight here.

# %%
from minillm.show.numbers import e4m3_values

ends = {"int8": torch.arange(-127, 128) * 448 / 127, "E4M3": e4m3_values()}
show.number_line({name: values.tolist() for name, values in ends.items()})

# %% [markdown] id="08-fp8-caption"
# *Picture: all values of int8 (step 448 / 127) and of E4M3. At the right: how many there are. E4M3
# gives two codes to NaN, and has 0 twice.*
#
# So int8 has one **absolute** bound on the error, the same for all weights. E4M3 has a **relative**
# one: half of 1/8 of a power of two, at most 1/16 of the number itself (as long as it is not very
# near 0). Write E4M3 by hand:

# %% exercise 8.5

# %% [markdown] id="08-yours"
# Is it what the machine does? The next cell takes *your* function if it is solved. Else it says so.

# %%
from exercises.notebook import my_solution

x = torch.cat([e4m3_values(), torch.randn(10_000) * 10, torch.randn(10_000) / 100])
torch_says = x.to(torch.float8_e4m3fn).float()
yours = my_solution("8.5")
if yours:
    print(f"your function: {int((yours(x) != torch_says).sum())} of {len(x):,} differ from torch")
else:
    print("8.5 is not solved yet: torch's own type is used below")
normal = x.abs() >= 2**-6
worst = ((torch_says - x).abs() / x.abs())[normal].max()
print(f"largest relative error of normal numbers: {worst:.4f}; bound 1/17 = {1 / 17:.4f}")

# %% [markdown] id="08-seventeen"
# (1/17, for the worst place is just above a power of two: 1 + 1/16, in the middle between 1 and
# 1 + 1/8. There the error is 1/16 of 17/16.)
#
# **Predict:** which one has the smaller error on normal weights without outliers? And with an
# outlier of 100 standard deviations?


# %%
def eighth(w):
    """Through E4M3, with one scale for all: the largest |w| is 448."""
    scale = w.abs().max() / 448
    return (w / scale).clamp(-448, 448).to(torch.float8_e4m3fn).float() * scale


by_row = lambda w: formats.symmetric(w[None], 8, None).dequantize()[0]

# %%
sizes, off = (4, 8, 16, 32, 64, 128), {"int8": [], "E4M3": []}
for size in sizes:
    row = torch.cat([torch.tensor([float(size)]), torch.randn(4095).clamp(-4, 4)])
    for name, through in (("int8", by_row), ("E4M3", eighth)):
        off[name].append(float((through(row) - row)[1:].norm() / row[1:].norm()))
print("outlier   " + "".join(f"{size:8}" for size in sizes))
for name, errors in off.items():
    print(f"{name:9} " + "".join(f"{error:8.2%}" for error in errors))
print("better:   " + "".join(f"{'int8' if a < b else 'E4M3':>8}" for a, b in zip(*off.values())))

# %%
show.lines(sizes, off, "outlier / std", "error", log="xy")

# %% [markdown] id="08-fp8-read"
# *Table and picture: relative error of the other weights, over the size of one outlier.* The error
# of int8 grows with the outlier. That of E4M3 stays at about 2 to 3%: it has exponents for the
# small ones.
#
# On **clean** weights int8 is several times better. So "FP8 is better than int8, for it is a float"
# is not true by itself. It is better where sizes differ much and all share one scale. Weights with
# a scale for each row are rather clean: int8. Activations have outliers: there FP8 is strong. And
# FP8 needs a GPU with units for it (not measured here).
#
# ## 8. Real weights
#
# Enough of random numbers. Which share of the weights of `tiny` becomes 0, if each matrix has one
# scale in int4?

# %%
per_tensor = lambda w, bits: formats.symmetric(w.reshape(1, -1), bits, None).dequantize().view_as(w)
share = lambda back, w: float(((back == 0) & (w != 0)).float().mean())
found = {}
for i, layer in enumerate(model.layers):
    for name, linear in (("gate_up", layer.mlp.gate_up), ("down", layer.mlp.down)):
        found[f"{i} {name}"] = 100 * share(per_tensor(linear.weight, 4), linear.weight)
show.bars(found, "% of weights that become 0")

# %% [markdown] id="08-real-caption"
# *Picture: the MLP matrices of all layers of `tiny`, in int4, one scale a matrix.*
#
# One matrix loses nearly everything. Nobody put an outlier there: training did. Let us see the row
# where it lies.

# %%
w_NK = model.layers[5].mlp.down.weight
n, k = divmod(int(w_NK.abs().argmax()), w_NK.shape[1])
far = w_NK[n, k].abs() / w_NK.std()
print(f"largest weight: row {n}, column {k}: {w_NK[n, k]:.2f} = {far:.0f} standard deviations")
show.weight_row(w_NK[n, :256] if k < 256 else w_NK[n, 256:], span=5 * float(w_NK.std()))

# %% [markdown] id="08-row-caption"
# *Picture: the half row with the outlier, under the microscope. (One scale for these 256 weights in
# int4 and E4M3.)*
#
# Now the whole model, in several formats. What do zeros and errors mean for the **answers**? We ask
# for the perplexity of tales that `tiny` has not seen (chapter 03). The matrices are only rounded
# here, and stored as floats. Nothing is smaller: this is to judge quality.

# %%
import copy

from minillm.compress import evaluate


def rounded(through):
    """tiny with every linear layer put through a format -> (model, share of zeros)."""
    new, gone, total = copy.deepcopy(model), 0, 0
    for linear in (m for m in new.layers.modules() if isinstance(m, torch.nn.Linear)):
        back, count = through(linear.weight), linear.weight.numel()
        gone, total = gone + share(back, linear.weight) * count, total + count
        linear.weight.copy_(back)
    return new, gone / total


# %%
coded = lambda make, *how: lambda w: make(w, *how).dequantize()
ways = {  # name: (bits per weight with scales of 16 bits, what is done to a matrix)
    "int8, a matrix": (8, lambda w: per_tensor(w, 8)),
    "int8, a row": (8 + 16 / 256, coded(formats.symmetric, 8, None)),
    "E4M3, a matrix": (8, eighth),
    "int4, a matrix": (4, lambda w: per_tensor(w, 4)),
    "int4, a row": (4 + 16 / 256, coded(formats.symmetric, 4, None)),
    "int4, groups of 64": (4 + 16 / 64, coded(formats.symmetric, 4, 64)),
    "NF4, groups of 64": (4 + 16 / 64, coded(formats.nf4, 64)),
}

# %%
tales = 2 if FAST else 40
print(f"one scale for ...   bits   zeros  perplexity of {tales} tales")
plain = evaluate.tale_perplexity(model, tokenizer, tales)
print(f"fp32              {32:6.2f}       -  {plain:.4f}")
results = {}
for name, (bits, through) in ways.items():
    new, gone = rounded(through)
    results[name] = evaluate.tale_perplexity(new, tokenizer, tales)
    print(
        f"{name:18}{bits:6.2f}  {gone:6.1%}  {results[name]:.4f} ({results[name] / plain - 1:+.2%})"
    )

# %% [markdown] id="08-real-read"
# *Printed: in brackets the price, against fp32. A few hundredths of a percent are noise: by chance
# a rounded model may even come out better.* (Bits for rows of 256 weights. The rows of `down` have
# 512, so a little less.)
#
# - 8 bits cost next to nothing, in whatever form.
# - With 4 bits the scales decide. One scale a matrix costs far more than all others. Groups
#   repair it, for a quarter of a bit.
# - With groups of 64 more than a tenth of the weights is 0, and the model hardly notices. NF4 has
#   fewer zeros than int4, and is not better for it. A zero is only one more small error. What
#   counts is the sum of all errors.
#
# Better ways to *choose* the codes come in chapter 11. There the other tasks are judged, too.
#
# ## 9. The scoreboard
#
# Workload W with int8 weights, one scale a row. Its bytes and its quality are what this chapter is
# about. Its speed is the question of the next one.

# %%
from minillm import scoreboard

result = scoreboard.run("int8 weights")
scoreboard.table([result])

# %% [markdown] id="08-calibration"
# *Table: MB is weights and cache together. TTFT is the time to the first token, the median over all
# requests. Grey rows were recorded on the machine that is named below.*
#
# ## Predicted and measured

# %%
from exercises.notebook import calibration

guesses = calibration()
show.calibration_plot(guesses) if guesses else "no guess measured yet: answer a [predict] exercise"

# %% [markdown] id="08-takeaway"
# ## Takeaway
#
# | | int8 | int4, groups | FP8 (E4M3) |
# |---|---|---|---|
# | **bytes stored** | 1 a weight, and scales | 4.13 to 4.5 bits with scales | 1 a weight |
# | **bytes moved** | the same, if the product reads codes (09) | the same (10) | the same |
# | **arithmetic** | codes to floats, or all in integers (09) | unpack first | own units, new GPUs |
# | **waiting** | fewer bytes to wait for | fewer still | as int8 |
#
# **Lossy:** all of them. **Bound:** half a step, and a step is set by the largest weight of the
# group.
#
# **Where this loses.**
#
# - *One scale for much*: one outlier erases the others.
# - *Small groups*: 16 weights a group is already 5 bits.
# - *Zero points* on weights: more bytes, little gain.
# - *FP8 on clean weights*: a larger error than int8 for the same byte.
# - *Short formats* for sums: never. Add in fp32 (or int32).
#
# ## The same thing in vLLM
#
# | here | vLLM |
# |---|---|
# | `group_size=64`, symmetric | `"group_size"`, `"symmetric"` in `quantization_config` |
# | one scale a row | `"strategy": "channel"` |
# | zero points | `"symmetric": false`, and a tensor `weight_zero_point` |
# | E4M3, one scale a matrix | `--quantization fp8`, from a 16-bit checkpoint |
#
# **Next:** [09 · Does int8 make it faster?](09_does_int8_make_it_faster.ipynb) Fewer bytes are
# stored. Do fewer bytes *move*?
