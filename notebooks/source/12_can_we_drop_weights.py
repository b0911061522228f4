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

# %% [markdown] id="12-title"
# # 12 · Can we drop weights?
#
# **After this notebook** you can set half of a model's weights to 0 in three ways, say what zeros
# cost in bytes and in time, store two of every four weights, and say when not to do any of this.
#
# **Time:** 40 minutes for the notebook, 30 for the exercises of the evening path, 75 for the rest.
# **Hardware:** any laptop.

# %% bootstrap

# %% [markdown] id="12-test-out"
# ## Test out
#
# Do you know this already? Solve 12.1 and 12.3 below. If the grader says "right" twice, go on to
# chapter 13.

# %%
import functools
import itertools
import os
import warnings

import torch
import torch.nn.functional as F

import minillm
from minillm import corpus, machine, ops, recorded, show
from minillm.bench_stats import summary
from minillm.compress import awq, calibrate, compare, evaluate, masks, sparse
from minillm.compress.folder import parts
from minillm.compress.prune import prune, sparsity_of
from minillm.compress.quant import quantize, simulate
from minillm.compress.sparsegpt import sparsegpt
from minillm.turns import in_turns, times_in_turns

FAST = os.environ.get("MINILLM_FAST") == "1"  # small sizes: a check that everything runs
warnings.filterwarnings("ignore", message="Sparse ")  # torch: "CSR is in beta"
torch.set_grad_enabled(False)  # we only compute, we do not train
limit = machine.read_bandwidth("cpu").bytes_per_second
here = f"{machine.cpu_model()}, {torch.get_num_threads()} threads"
print(f"{here}: reads {limit / 1e9:.1f} GB/s")

# %% [markdown] id="12-small"
# ## 1. Which weights are small?
#
# Chapters 08 to 11 gave each weight fewer bits. Now we ask whether a weight is needed at all. To
# **prune** is to set weights to 0. Single weights, anywhere in the matrix: this is called
# **unstructured**.
#
# The simplest rule is **magnitude**: the weights nearest to 0 go. How much do we lose? Take all
# weights of `tiny`, smallest first, and add up their squares.

# %%
tiny, tokenizer = minillm.load("tiny", device="cpu")
linears = [m for block in tiny.layers for m in block.modules() if hasattr(m, "in_features")]
squares = torch.cat([m.weight.flatten() for m in linears]).square().sort().values
held = (squares.cumsum(0, dtype=torch.float64) / squares.sum(dtype=torch.float64)).tolist()
shares = [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9]
lost = [100 * held[int(share * len(held)) - 1] for share in shares]
print(f"{len(held):,} weights: the smallest half holds {lost[4]:.1f}% of the squares")
show.lines([100 * s for s in shares], {"tiny": lost}, "% dropped", "% of the squares")

# %% [markdown] id="12-small-caption"
# *Picture: share of all squares that sits in the smallest weights.* Half of the weights hold very
# little. That is the hope of pruning.
#
# "Drop the smallest 30%" sounds easy: find the right threshold. But what if many weights are
# **equal**? Here the weights have been rounded to 15 levels, as 4-bit weights are. Only few sizes
# are left, and a threshold cannot split equal weights. So the package counts, and says who goes
# first among equals.

# %%
weight_NK = tiny.layers[2].mlp.down.weight
few_NK = (weight_NK / weight_NK.abs().max() * 7).round()
wanted = round(0.3 * few_NK.numel())
border = few_NK.abs().flatten().kthvalue(wanted).values
for name, dropped in (
    ("below the threshold", few_NK.abs() < border),
    ("up to the threshold", few_NK.abs() <= border),
    ("counted", ~masks.lowest(few_NK.abs(), wanted)),
):
    print(f"{name:20} {dropped.double().mean():.1%} dropped, wanted 30.0%")

# %% exercise 12.1

# %% [markdown] id="12-scope"
# In which set do we look for the smallest half? In each matrix by itself, or in all matrices
# together (**global**)? Where some matrices have smaller weights than others, this takes more away
# from them.

# %%
both = {scope: prune(tiny, sparsity=0.5, scope=scope) for scope in ("layer", "global")}
count = 4 if FAST else 16
found = {}
for place, share in sparsity_of(both["global"]).items():
    found.setdefault(place.split(".")[-1].removesuffix("_proj"), []).append(100 * share)
for scope, model in both.items():
    ruler = evaluate.tale_perplexity(model, tokenizer, count)
    print(f"half of each {scope}: perplexity of {count} tales {ruler:.3f}")
print(f"all weights: {evaluate.tale_perplexity(tiny, tokenizer, count):.3f}")
show.bars({name: sum(each) / len(each) for name, each in found.items()}, "% zeros", bound=50)

# %% [markdown] id="12-scope-caption"
# *Picture: with `scope="global"`, zeros in each kind of matrix (mean over the layers).* The model
# has 50% zeros, but its matrices do not: `down` loses most, `v` least. On `tiny` neither way is
# clearly better. Below, every matrix loses its own half.
#
# ## 2. Are zeros free?
#
# A zero still is a number. In a **dense** matrix it takes its 2 or 4 bytes, and it is multiplied
# like any other. To save bytes we must store only the others, **and where they stand**. Three ways:
#
# - **CSR** (compressed sparse rows): each value with the number of its column.
# - **bitmask**: the values, and one bit for each weight: zero or not.
# - **2:4**: of every four neighbours two stay. Two values, and a place of 2 bits for each.
#
# Guess first.

# %% exercise 12.3

# %% [markdown] id="12-bytes"
# Now store real matrices and count real bytes. The question above has its own size and bits; here
# are 16 bits. PyTorch's own CSR has column numbers of 64 bits; we also try 32, as usual.


# %%
def in_csr(weight_NK, index=torch.int32):
    made = weight_NK.to_sparse_csr()
    where = (made.crow_indices().to(index), made.col_indices().to(index))
    return torch.sparse_csr_tensor(*where, made.values(), made.shape)


def zeroed(weight_NK, share):
    return masks.lowest(weight_NK.abs(), masks.count_pruned(share, weight_NK.numel())) * weight_NK


def in_fours(weight_NK):
    return masks.lowest_of_groups(weight_NK.abs(), (2, 4)) * weight_NK


# %%
def forms_of(weight_NK):
    """Really stored in every form -> {form: bytes}."""

    def csr(t):
        return t.values().nbytes + t.col_indices().nbytes + t.crow_indices().nbytes

    bits = sparse.pack_bits(weight_NK)
    return {
        "CSR, 64 bit": csr(in_csr(weight_NK, torch.int64)),
        "CSR": csr(in_csr(weight_NK)),
        "bitmask": bits.values.nbytes + bits.bits.nbytes,
    }


# %%
rows, columns = (64, 256) if FAST else (1024, 4096)
full_NK = torch.randn(rows, columns, generator=torch.Generator().manual_seed(0)).bfloat16()
zeros = (0.0, 0.25, 0.5, 0.75, 0.9, 0.99)
stored = [forms_of(zeroed(full_NK, share)) for share in zeros]
curves = {name: [s[name] / full_NK.nbytes for s in stored] for name in stored[0]}
two = sparse.pack_24(in_fours(full_NK))
times = (two.values_NK2.nbytes + two.places.nbytes) / full_NK.nbytes
curves["2:4"] = [times if share == 0.5 else None for share in zeros]
print("bytes / dense  " + " ".join(f"{share:>6.0%}" for share in zeros) + "  zeros")
for name, line in curves.items():
    print(f"{name:14} " + " ".join(f"{'':6}" if v is None else f"{v:6.2f}" for v in line))
show.format_bytes(zeros, curves)

# %% [markdown] id="12-bytes-caption"
# *Picture and table: bytes over the share of zeros, as a multiple of dense, 16 bits a value. A ring
# marks where a form begins to be smaller than dense.*
#
# **"Zeros are free."** No. At 50% CSR is 1.5 times **larger** than dense: beside each value of 2
# bytes stands a column number of 4. Two thirds must be zeros before CSR saves anything. A bitmask
# pays much earlier, and 2:4 is as small as a bitmask at 50%.
#
# And time? Multiply by one row, as for one user, and by 32. Our dense product and PyTorch's
# CSR product run in one process, in turns. (This takes a quarter of a minute.)


# %%
def programs(weight_NK):
    """{form: a function x_TK -> x W^T}. Only dense and CSR have a program of their own."""
    csr, bits = in_csr(weight_NK), sparse.pack_bits(weight_NK)
    made = {
        "dense": lambda x_TK: ops.linear(x_TK, weight_NK),
        "CSR": lambda x_TK: csr @ (x_TK[0] if len(x_TK) == 1 else x_TK.T.contiguous()),
        "bitmask": lambda x_TK: ops.linear(x_TK, sparse.unpack_bits(bits)),
    }
    if not torch.backends.mkl.is_available():  # Intel's library, which has the CSR product
        del made["CSR"]
    return made


# %%
side, timed = 256 if FAST else 4096, {}
wide_NK = torch.randn(side, side, generator=torch.Generator().manual_seed(0))
for share, rows in itertools.product((0.5, 0.9, 0.99), (1, 32)):
    works = {"no zeros": lambda x_TK: ops.linear(x_TK, wide_NK), **programs(zeroed(wide_NK, share))}
    if share == 0.5:
        works["2:4"] = sparse.SparseLinear(in_fours(wide_NK), "2:4")
    if rows > 1:  # one row is enough to see how slow these are
        works = {name: work for name, work in works.items() if name not in ("bitmask", "2:4")}
    x_TK = torch.randn(rows, side)
    runs = {name: functools.partial(work, x_TK) for name, work in works.items()}
    times = times_in_turns(runs, 2 if FAST else 7)
    timed[share, rows] = {name: summary(each) for name, each in times.items()}

# %%
print(f"{here}; {side} x {side}, fp32; median (and range) of the times, ms")
print(f"bound, reading the dense matrix once: {wide_NK.nbytes / limit * 1e3:.2f} ms")
for (share, rows), each in timed.items():
    print(f"{share:.0%} zeros, rows: {rows}")
    for name, s in each.items():
        ms = [f"{1e3 * s[key]:.2f}" for key in ("median", "least", "most")]
        print(f"    {name:10} {ms[0]:>8} ({ms[1]} to {ms[2]})")
drawn = {}
for share in (0.5, 0.9, 0.99):
    drawn[f"{share:.0%}"] = {n: 1e3 * s["median"] for n, s in timed[share, 1].items()}
show.grouped(drawn, "ms, one row", log=True)

# %% [markdown] id="12-time-read"
# *Picture: the medians for one row, logarithmic.*
#
# - *Dense* with 50% zeros takes as long as dense without zeros. The program does not look.
# - *CSR* at 50% has as many bytes as dense here (fp32: 4 for a value, 4 for a column), and in 16
#   bits 1.5 times as many. So it cannot win by fewer bytes, and following its column numbers costs
#   time. At 90% and 99% it wins clearly: few bytes. But who can drop so many weights? Section 6
#   shows what is left of a model at 70%.
# - *Bitmask and 2:4* have no program of their own on a processor. The matrix is written out and
#   then multiplied, in each call. Small, but very slow.
#
# So at 50% unstructured zeros are a way to **store**, not a way to be fast. Here are your guesses.

# %%
from exercises.notebook import measured, question
from minillm.show.pruned import crossing

asked = question("12.3")
N, K = (32, 64) if FAST else (asked["N"], asked["K"])
some_NK = torch.randint(1, 99, (N, K)).to({8: torch.int8, 16: torch.bfloat16}[asked["bits"]])
dense, two = some_NK.nbytes, sparse.pack_24(in_fours(some_NK))
some, most = (forms_of(zeroed(some_NK, share)) for share in (0.5, 0.95))
got = {"csr": some["CSR"] / dense, "bitmask": some["bitmask"] / dense}
got["2:4"] = (two.values_NK2.nbytes + two.places.nbytes) / dense
got["time"] = timed[0.5, 1]["dense"]["median"] / timed[0.5, 1]["no zeros"]["median"]
# CSR falls on a straight line: where does it meet the bytes of dense?
got["even"] = crossing([0.5, 0.95], [some["CSR"], most["CSR"]], dense)
measured("12.3", got, "", "time: fp32, one row, on this processor")

# %% [markdown] id="12-wanda"
# ## 3. Small is not unimportant: Wanda
#
# Which zeros do the least harm? Chapter 11 had the answer: an output is a sum of weight × input. A
# small weight on a large input matters; a large weight on a small input does not.
#
# **Wanda** (Sun et al. 2024) multiplies the two: |w| × the norm of its input, over some calibration
# text. The lowest scores go, equally many in each row. We listen to `tiny`, as in chapter 11.


# %%
def texts_of(seed, count):
    """Training texts as token ids; no question of the tests is among them."""
    items = itertools.islice(corpus.training_items(seed), count)
    return [tokenizer.encode(item.prompt + item.answer)[:512] for item in items]


texts, seen = texts_of(7, 12 if FAST else 100), {}
keep = lambda number, block, found: seen.update({(number, n): x for n, x in found.items()})
calibrate.walk(tiny, calibrate.check_texts(tiny, texts), keep)
print(f"{sum(map(len, texts)):,} tokens went through {len(seen)} layers of tiny")


# %%
def half(weight_NK, inputs, method, pattern=None):
    """One matrix with half of its weights set to 0."""
    if method == "SparseGPT":
        return sparsegpt(weight_NK, inputs.hessian_KK, 0.5, pattern)
    scores = weight_NK.abs()
    if method == "Wanda":
        scores = scores * inputs.square_K.sqrt().to(scores.dtype)
    if pattern:
        return weight_NK * masks.lowest_of_groups(scores, pattern)
    if method == "Wanda":
        return weight_NK * masks.lowest_of_rows(scores, weight_NK.shape[1] // 2)
    return weight_NK * masks.lowest(scores, weight_NK.numel() // 2)


# %%
inputs, weight_NK = seen[2, "mlp.down"], tiny.layers[2].mlp.down.weight
window = (slice(0, 40), slice(0, 64))
size_K = (inputs.square_K / inputs.count).sqrt()
kept = {m: half(weight_NK, inputs, m) != 0 for m in ("magnitude", "Wanda", "SparseGPT")}
strip = size_K[window[1]].tolist()
show.kept_maps({m: mask[window].tolist() for m, mask in kept.items()}, dict.fromkeys(kept, strip))

# %% [markdown] id="12-wanda-caption"
# *Picture: a corner of one matrix of `tiny`; blue weights stay. Above, the size of the inputs.*
# Magnitude does not know the inputs. Wanda keeps almost whole columns where the input is large. (We
# come to SparseGPT in the next section.) What does it cost?


# %%
def error(weight_NK, other_NK, inputs):
    """|outputs - outputs with the other weights|^2 / |outputs|^2, over the calibration text."""
    off = lambda a, b: awq.output_error(a, b, inputs.hessian_KK)
    return float(off(weight_NK, other_NK) / off(weight_NK, torch.zeros_like(weight_NK)))


print("error of mlp.down at 50%   magnitude    Wanda")
for number, block in enumerate(tiny.layers):
    w, x = block.mlp.down.weight, seen[number, "mlp.down"]
    row = [error(w, half(w, x, method), x) for method in ("magnitude", "Wanda")]
    print(f"layer {number}                 {row[0]:12.2%} {row[1]:8.2%}")

# %% exercise 12.2

# %% [markdown] id="12-mend"
# ## 4. Mend the others: SparseGPT
#
# Chapter 11 rounded one weight and mended the others. Dropping is only a very hard rounding: the
# nearest "code" is 0. Two weights, 0.6 and 1.4, and two inputs that move together, as in 11.1. The
# first weight goes. The second one takes over its work.

# %%
hessian_22 = [[1.0, 0.9], [0.9, 1.0]]  # means of x1 x1, x1 x2, x2 x2
mended = 1.4 + 0.6 * 0.9 / 1.0
print(f"the second weight: 1.4, mended {mended:.2f}")
show.valley(hessian_22, (0.6, 1.4), {"dropped": (0, 1.4), "mended": (0, mended)})

# %% [markdown] id="12-mend-caption"
# *Picture: the star is the pair of exact weights; beside the marks, the error of the output.* The
# mended pair lies at the bottom of the valley, as far as weight 1 = 0 allows.
#
# What is left, 0.068, is the **price** of dropping this weight: w² / (H⁻¹)₀₀, counted from 0 as in
# 11.1. It knows the size of the weight, of the input, *and* how well the others can stand in.
#
# **SparseGPT** (Frantar and Alistarh 2023) goes column by column, like GPTQ, and only the columns
# after k can still mend. So the price in column k is w² / (H⁻¹)ₖₖ with the H of the columns from k
# on. The factor U of 11.2 holds it already: U[k, k]² is this (H⁻¹)ₖₖ. In each block of 128 columns
# the weights with the lowest prices go, over all rows together: one row may lose more than another.

# %% exercise 12.5

# %% [markdown] id="12-toy"
# ### Three methods, one layer
#
# The layer of chapter 11: 512 inputs that go together, of very unlike size. Half of the weights go:
# anywhere, or two of every four.

# %%
torch.manual_seed(0)
toy_NK, mix = torch.randn(256, 512) * 0.05, torch.randn(512, 512) / 512**0.5
x_TK = torch.randn(4096, 512) @ mix + 0.5 * torch.randn(4096, 512)
x_TK *= torch.randn(512).exp()
big = calibrate.Inputs.empty(512)
big.add(x_TK)
off = {}
for name, pattern in (("50%", None), ("2:4", (2, 4))):
    off[name] = {m: 100 * error(toy_NK, half(toy_NK, big, m, pattern), big) for m in kept}
    print(f"{name}: Wanda {off[name]['Wanda'] / off[name]['magnitude']:.2f} of magnitude's error,",
          f"SparseGPT {off[name]['SparseGPT'] / off[name]['Wanda']:.2f} of Wanda's")  # fmt: skip
show.grouped(off, "error of the outputs, %", log=True)

# %% [markdown] id="12-toy-caption"
# *Picture: error of the outputs, logarithmic.* Our tests ask that SparseGPT < Wanda < 0.3 ×
# magnitude on such a layer. And 2:4 costs more than free choice of the same number: four neighbours
# may all be important, and two must go.
#
# ### Inputs that are always 0
#
# A **dead** input was 0 in every token, and so its row in H is all zeros. H has no inverse then: a
# program must take care of this. Ours does. Let us kill a quarter of the inputs. Magnitude does not
# notice: it keeps half of the dead weights, and drops living ones in their place.

# %%
dead_TK = x_TK.clone()
dead_TK[:, torch.randperm(512, generator=torch.Generator().manual_seed(1))[:128]] = 0
some = calibrate.Inputs.empty(512)
some.add(dead_TK)
is_dead_K = some.square_K == 0
for method in kept:
    other_NK = half(toy_NK, some, method)
    left = float((other_NK[:, is_dead_K] != 0).double().mean())
    print(f"{method:10} keeps {left:5.1%} of the dead weights, "
          f"error {error(toy_NK, other_NK, some):.2%}")  # fmt: skip

# %% exercise 12.6

# %% [markdown] id="12-fours"
# ## 5. Two of every four
#
# A bitmask is small, but its values have no fixed place: a program must search for them. In 2:4
# every four neighbours hold exactly two. So all rows are equally long, and value 7 belongs to group
# 3, always. That is what hardware can read. (4:8 and others are called N:M.)

# %%
row = tiny.layers[2].mlp.down.weight[0, :12]
show.two_of_four((row / row.abs().max()).tolist())

# %% [markdown] id="12-fours-caption"
# *Picture: above, 12 weights in groups of four (largest = 1), the two largest of each in blue.
# Below, what is stored: two values, and the place of each, in 2 bits.*

# %% exercise 12.4

# %% [markdown] id="12-fours-bytes"
# With 16 bits a value: (2 × 16 + 2 × 2) / 4 = 9 bits a weight, not 8. In fp32, as `tiny` is: 17 of
# 32. A whole model, really stored:

# %%
pruned_24 = prune(tiny, "sparsegpt", pattern="2:4", calibration=texts)
small = sparse.sparsify(pruned_24)
bytes_of = lambda model: sum(model.weight_bytes()["linear"].values())
same = bool((small.layers[0].mlp.down.dense() == pruned_24.layers[0].mlp.down.weight).all())
for name, model in (("dense", tiny), ("dense with zeros", pruned_24), ("stored as 2:4", small)):
    print(f"{name:18} {bytes_of(model) / 1e6:6.2f} MB, {compare.bits_per_weight(model):5.2f} bits")
print(f"the same weights come back: {same}")

# %% [markdown] id="12-hardware"
# ### What the hardware needs
#
# NVIDIA's tensor cores, the units of a card that multiply matrices, read 2:4 directly: they skip
# the zeros and do half of the multiplications. They ask for much:
#
# - a card of "compute capability" 8.0 or later, also written sm_80 (A100, L4, H100; not T4): so
#   NVIDIA numbers its generations;
# - values of 16 bits (or 8): not the fp32 of a processor;
# - the places in an order of the card's own, and sizes that fit the small blocks in which it
#   multiplies.
#
# PyTorch offers it as `to_sparse_semi_structured`. Can your machine do it?

# %%
device = "cuda" if torch.cuda.is_available() else "cpu"
side = 256 if FAST else 4096
card_NK = in_fours(torch.randn(side, side, device=device)).bfloat16()
x_TK = torch.randn(64, side, device=device, dtype=torch.bfloat16)
layer = sparse.SparseLinear(card_NK, "2:4")
reason = sparse.why_not(x_TK, layer.values)
print(reason or "it can")
if reason is None:
    wait = lambda work: lambda: (work(x_TK), torch.cuda.synchronize())
    works = {"dense": wait(lambda x_TK: F.linear(x_TK, card_NK)), "2:4": wait(layer)}
    print({name: f"{1e3 * s:.3f} ms" for name, s in in_turns(works, 2 if FAST else 7).items()})

# %% [markdown] id="12-hardware-read"
# We have **not measured this on a GPU yet**. So no figure here. What to expect: with one row, the
# bytes decide. They are 9/16 of dense, but the places add work. With many rows (prompts, large
# batches) the arithmetic decides, and at most half of it is saved. Whether either gain arrives,
# only a measurement can tell.
#
# **"2:4 is how models are served."** The hardware offered it, and the users left. vLLM had a 2:4
# path and removed it in 2026, because such models were not widely used (its pull request 36799). To
# lose half of the weights costs more quality than to lose half of the bits. Section 8 measures
# this.
#
# ## 6. Is `tiny` still right?
#
# "Pruning needs long **fine-tuning** (training again) afterwards." Let us see how far we come
# without any. 30, 50 and 70% of the weights go, by three methods; then 2:4.
#
# **Predict:** up to which share do all tasks hold? Which method is the best one at 50%?

# %%
count, tales = (2, 2) if FAST else (40, 16)


def judge(model, method, share):
    """One row: right answers of each task, their mean, perplexity of tales."""
    tasks = evaluate.tasks(model, tokenizer, count)
    mean, ruler = sum(tasks.values()) / 5, evaluate.tale_perplexity(model, tokenizer, tales)
    return {"method": method, "sparsity": share, "tasks": tasks, "mean": mean, "tales": ruler}


# The longest cell of this notebook: time for a cup of tea.
rows, made = [judge(tiny, "dense", 0.0)], {}
shares = (0.5,) if FAST else (0.3, 0.5, 0.7, "2:4")
for share, method in itertools.product(shares, ("magnitude", "wanda", "sparsegpt")):
    how = {"pattern" if share == "2:4" else "sparsity": share}
    made[method, share] = prune(tiny, method, calibration=texts, **how)
    rows.append(judge(made[method, share], method, share))

# %%
if FAST:
    print(f"{count} items a task: too few to say anything")
print(f"{'zeros':17} perplexity   right " + "".join(f"{task:>8}" for task in rows[0]["tasks"]))
for row in rows:
    share = row["sparsity"] if row["sparsity"] == "2:4" else f"{row['sparsity']:.0%}"
    each = "".join(f"{right:8.0%}" for right in row["tasks"].values())
    print(f"{share:>4}  {row['method']:11} {row['tales']:10.3f} {row['mean']:7.1%} {each}")
show.survival(show.by_sparsity(rows))

# %% [markdown] id="12-tiny-read"
# *Table and picture: perplexity of unseen tales, share of right answers (40 a task). Dashed: the
# full model. No text of the calibration is in the tests.*
#
# - **No training, and 50% works.** With SparseGPT `tiny` answers as well as before, or nearly. So
#   "pruning needs long fine-tuning" is too strong: at 50%, single weights do not.
# - At **70%** every method loses a lot, and 2:4 costs more than a free 50%. There training helps;
#   so it does for heads and layers (chapter 13).
# - At 70% and 2:4 `sort` breaks most, `recall` least. And at 70% the two rulers disagree: with
#   SparseGPT the tales get worse than with magnitude, and still far more answers are right.
# - **Wanda is not better than magnitude here**, though its layers were. Why?
#
# Two things set Wanda apart from magnitude. It looks at the inputs, and it drops equally many
# weights in each **row**, not anywhere in the matrix. Let us change one at a time: |w| row by row,
# and Wanda's score over the whole matrix.


# %%
def layers_off(model):
    """Mean error of the outputs of all layers, each with the inputs of the full model."""
    each = []
    for (number, name), x in seen.items():
        pair = [m.layers[number].get_submodule(name).weight for m in (tiny, model)]
        each.append(error(*pair, x))
    return sum(each) / len(each)


# %%
def swapped(number, block, found, method):
    """Half of each matrix: |w| compared in each row, or Wanda's score in the whole matrix."""
    for name, x in found.items():
        weight_NK = block.get_submodule(name).weight
        if method == "magnitude":
            keep_NK = masks.lowest_of_rows(weight_NK.abs(), weight_NK.shape[1] // 2)
        else:
            scores_NK = weight_NK.abs().double() * x.square_K.sqrt()
            rows_of = parts(f"layers.{number}.{name}", len(weight_NK), tiny.config)  # q, k, v
            each = scores_NK.split([rows for _, rows in rows_of])
            keep_NK = torch.cat([masks.lowest(s, s.numel() // 2) for s in each])
        weight_NK.mul_(keep_NK)


# %%
halves = {(r["method"], r["method"] != "magnitude"): r for r in rows if r["sparsity"] == 0.5}
for method in ("magnitude", "wanda"):
    other = prune(tiny, sparsity=0.0)  # a copy
    change = functools.partial(swapped, method=method)
    calibrate.walk(other, calibrate.check_texts(other, texts), change)
    made[method, "swapped"] = other
    halves[method, method == "magnitude"] = judge(other, method, "swapped")
print("50%, compared in           error of layers   perplexity   right")
for (method, by_row), row in sorted(halves.items()):
    where = "blocks" if method == "sparsegpt" else "each row" if by_row else "the matrix"
    off = layers_off(made[method, row["sparsity"]])
    print(f"{method:11} {where:14} {off:14.2%} {row['tales']:12.3f} {row['mean']:7.1%}")

# %% [markdown] id="12-tiny-wanda"
# *Table: half-empty models, layer by layer and as a whole. The layers are judged on the text that
# SparseGPT mends for, so its layers must look good.*
#
# - On `tiny` most of Wanda's loss comes from the **rule of rows**. Over the whole matrix it comes
#   close to magnitude. It seems that some rows can spare more weights than others here.
# - What is left: over the whole matrix Wanda's layers are clearly closer to the full ones, and the
#   model is hardly better, if at all. The error of a layer is only a **stand-in**: it counts tokens
#   with large inputs most, and does not see how the errors of many layers meet.
#
# Wanda was made for large models. There a few inputs are far larger than all others, says its
# paper, and the rule of rows helps. So look at a larger model.
#
# ## 7. A real model
#
# Gemma 3 with 270 million parameters, pruned in the same ways, without training. Calibration text
# and test text are different texts.

# %%
report = recorded.report("prune")
told = recorded.told("prune", report)
show.pruned_table(report, told)

# %% [markdown] id="12-real-caption"
# *Table: windows of 1,024 tokens, each led by BOS. KL: how far the next token's probabilities
# moved. Other token: share of places where another one would be written. It comes from a file, it
# was not measured now.* (The dense perplexity is not chapter 11's: here only the first 8,192 tokens
# of the text are read.)
#
# On this real model Wanda, with its rule of rows, is far better than magnitude. `tiny` would have
# told us the opposite: judge a method on the model that you mean to use.
#
# The project's longer run of section 6 lies in the same file: 200 items a task.

# %%
methods = (report or {}).get("methods")
show.survival(show.by_sparsity(methods)) if methods else told

# %% [markdown] id="12-published"
# *Picture: recorded; dashed: the full model.*
#
# ### Published figures
#
# | Llama 2, WikiText-2, 4,096 tokens | dense | magnitude | SparseGPT | Wanda |
# |---|---|---|---|---|
# | 7B, 50% | 5.12 | 14.89 | 6.51 | 6.42 |
# | 7B, 2:4 | 5.12 | 54.59 | 10.17 | 11.02 |
# | 70B, 50% | 3.12 | 4.98 | 3.98 | 3.98 |
# | 70B, 2:4 | 3.12 | 6.33 | 5.40 | 5.16 |
#
# Source: the README of `locuslab/wanda`, the repository of the Wanda paper. Perplexity is theirs:
# their model, text and ruler. At 7 billion weights Wanda beats magnitude by far, at 70 billion by
# less. Wanda and SparseGPT are about equal, though Wanda mends nothing.

# %% [markdown] id="12-quantise"
# ## 8. First prune, then quantise
#
# Zero is one of the codes, in every format of this course. So a weight that is 0 stays exactly 0.
# (GPTQ must be told: mending would fill the holes again. Ours keeps them.)
#
# Below, rtn is "round to nearest", each weight by itself (chapter 11); nf4 has 16 levels, close
# together near 0 (chapter 10).


# %%
def is_zero(model):
    """One long mask of all weights of the blocks."""
    layers = [m for b in model.layers for m in b.modules() if hasattr(m, "in_features")]
    values = [m.dequantize() if hasattr(m, "dequantize") else m.weight for m in layers]
    return torch.cat([value.flatten() == 0 for value in values])


# %%
half_gone = made["sparsegpt", 0.5]
gone = is_zero(half_gone)
print(f"{gone.double().mean():.1%} pruned, then   still 0   perplexity   right")
packings = (("int8", "rtn"), ("int4", "gptq"), ("int4", "rtn"), ("nf4", "rtn"))
for scheme, method in packings[: 1 if FAST else 4]:
    model = quantize(half_gone, scheme, method=method, calibration=texts)
    still = is_zero(model)[gone].double().mean()
    right = sum(evaluate.tasks(model, tokenizer, count).values()) / 5
    ruler = evaluate.tale_perplexity(model, tokenizer, tales)
    print(f"{scheme:4} {method:17} {still:8.1%} {ruler:12.3f} {right:7.1%}")

# %% [markdown] id="12-quantise-read"
# *Table: of the weights that were pruned, how many are still exactly 0.*
#
# ### Zeros or fewer bits?
#
# Say we may use about 3.25 bits a weight, 0.25 of them for scales. Three ways:
#
# - 2:4 with 4-bit values: half of 4 bits, and 1 bit for the places;
# - 50% anywhere, with 4-bit values: half of 4 bits, and 1 bit for the mask;
# - all weights with 3 bits.
#
# And with 8 or 9 bits: 2:4 in 16 bits, or int8. Which is closer to the full model?

# %%
kinds, some = (*corpus.TASKS, "tales"), 1 if FAST else 8
unseen = [item for kind in kinds for item in corpus.test_items(kind, some)]
tests = [tokenizer.encode(item.prompt + item.answer) for item in unseen]
gptq = {} if FAST else dict(method="gptq", calibration=texts)
ways = {
    "9.00: 2:4, 16 bit": pruned_24,
    "8.06: int8": quantize(tiny, "int8"),
    "3.25: 2:4, int4": quantize(pruned_24, "int4", **gptq),
    "3.25: 50%, int4": quantize(half_gone, "int4", **gptq),
    "3.25: 3 bits": simulate(tiny, 3, 64, **gptq),
}
far = {name: compare.distance(tiny, model, tests).kl for name, model in ways.items()}
print("\n".join(f"{name:18} KL {kl:.4f} nats a token" for name, kl in far.items()))
show.bars(far, "KL, nats a token")

# %% [markdown] id="12-versus-caption"
# *Picture and list: how far the model moved, by bits a weight. (Counted with scales of 16 bits. The
# 3 bits are simulated, the values of "2:4, 16 bit" are not rounded to 16 bits, and no program here
# multiplies sparse int4.)*
#
# With about the same bits, a few bits for **all** weights beat more bits for **half** of them. (All
# three are mended by GPTQ. With plain rounding the order can change.) And
# int8, smaller than 2:4 in 16 bits, has hardly moved: its bar is too short to see. This is why 2:4
# alone did not win.

# %% [markdown] id="12-scoreboard"
# ## The scoreboard
#
# Workload W with half of the weights set to 0 by SparseGPT, in dense matrices.

# %%
from minillm import scoreboard

result = scoreboard.run("50% pruned")
scoreboard.table([result])

# %% [markdown] id="12-calibration"
# *Table: MB is weights and cache together. TTFT is the time to the first token, the median over all
# requests. Grey rows were recorded on the machine that is named below.* If yours is another one, do
# not compare speeds with them. On one machine this row and the whole engine of chapter 07 do the
# same work on the same bytes. Only quality changed.
#
# ## Predicted and measured

# %%
from exercises.notebook import calibration

guesses = calibration()
show.calibration_plot(guesses) if guesses else "no guess measured yet: answer a [predict] exercise"

# %% [markdown] id="12-takeaway"
# ## Takeaway
#
# | 50% zeros, to dense | dense | CSR | bitmask | 2:4 |
# |---|---|---|---|---|
# | **bytes stored** (16 bit) | 1 | 1.5 | 0.56 | 0.56 |
# | **bytes moved** | 1 | 1.5 | over 2 | over 2; tensor cores: 0.56 |
# | **arithmetic** | all, zeros too | half, and a search | all, and more | all; tensor cores: half |
# | **waiting** | as before | as before | as before | as before |
#
# "Over 2": 0.56 is read, 1 is written out, and 1 is read again. The entries of tensor cores follow
# from the format and are not measured here.
#
# **Lossy:** all of it. SparseGPT loses the least, because it mends.
#
# **Where this loses.**
#
# - *Speed*: zeros in a dense matrix bring none. On a processor no form at 50% does (section 2).
# - *Bytes*: int8 is smaller than 2:4 in 16 bits, and much closer to the full model.
# - *Beyond 50%* quality falls quickly, and CSR pays only where no model works any more.
# - *Layer error* misleads: judge the whole model on your task.
#
# ## The same thing in vLLM
#
# | here | vLLM |
# |---|---|
# | `prune(model, "sparsegpt", ...)` | its sister llm-compressor: `SparseGPTModifier` |
# | `prune(model, "wanda", ...)` | the same: `WandaPruningModifier` |
# | a dense model with zeros, saved | a usual model folder: loads, no faster |
# | `sparse.sparsify` (2:4) | removed in 2026 |
#
# **Next:** [13 · Can we drop heads, channels, layers?](13_can_we_drop_heads_channels_layers.ipynb)
# Take out whole rows and columns, and what is left is a smaller *dense* model. Then bytes fall, and
# it is really faster.
