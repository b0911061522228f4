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

# %% [markdown] id="10-title"
# # 10 · How do you pack 4 bits?
#
# **After this notebook** you can put eight weights into one word, say how many bits "4 bit" really
# is, say for how many users int4 is faster, and show why its greatest gift is memory.
#
# **Time:** 45 minutes for the notebook, 65 for the exercises of the evening path, 80 for the rest.
# **Hardware:** any laptop. This chapter measures on the processor, also where there is a GPU.

# %% bootstrap

# %% [markdown] id="10-test-out"
# ## Test out
#
# Do you know this already? Solve 10.1, 10.2 and 10.3 below. If the grader says "right" three times,
# go on to chapter 11.

# %%
import os
import time

import torch
import torch.nn.functional as F

import minillm
from minillm import clock, machine, ops, show
from minillm.compress import formats
from minillm.compress.linear import QuantLinear
from minillm.compress.packing import pack, unpack
from minillm.compress.quant import encode, quantize
from minillm.turns import in_turns

FAST = os.environ.get("MINILLM_FAST") == "1"  # small sizes: a check that everything runs
torch.set_grad_enabled(False)  # we only compute, we do not train
limit = machine.read_bandwidth("cpu").bytes_per_second
cache = (machine.last_level_cache() or 0) / 1e6
here = f"{machine.cpu_model()}, {torch.get_num_threads()} threads"
print(f"{here}: reads {limit / 1e9:.1f} GB/s, largest cache {cache:.0f} MB")

# %% [markdown] id="10-words"
# ## 1. Eight codes in one word
#
# A byte is the smallest thing that memory knows, and PyTorch has no tensor of 4-bit numbers to
# compute with. So codes share: eight of them lie side by side in one **word** of 32 bits. Half a
# byte is called a **nibble**.
#
# A code q lies in -8 .. 7. A nibble holds q + 8: 0 .. 15, no sign.

# %%
codes = [0, -8, 7, 3, -1, 5, -4, 2]
show.nibbles(codes)

# %% [markdown] id="10-words-caption"
# *Picture: above, eight codes with their places 0 to 7. Below, the word, written as numbers are:
# the highest bit left. So the first code stands at the right end. The small numbers are the lowest
# bit of each nibble.*
#
# To pack: shift each nibble to its place, and add. To unpack: shift back, keep 4 bits, subtract 8.

# %%
word = sum((q + 8) << (4 * place) for place, q in enumerate(codes))
print(f"word: {word:#010x}")
print("back:", [((word >> (4 * place)) & 15) - 8 for place in range(8)])

signed = pack(torch.tensor([codes], dtype=torch.int8), 4)
print(f"the package: {signed.item()} as int32, which is the word - 2^32: {word - 2**32}")
print("back:", unpack(signed, 4, 8).tolist())

# %% [markdown] id="10-words-order"
# The order is a promise. This one is that of compressed-tensors, which vLLM reads. AWQ files put
# the nibbles in the order 0, 2, 4, 6, 1, 3, 5, 7. GPTQ files pack down the columns. A wrong order
# raises no error: the model just talks nonsense.

# %% exercise 10.1

# %% [markdown] id="10-not-packed"
# A tensor of `int8` that holds numbers from -8 to 7 is **not** int4. It has 8 bits a weight. Look
# at the bytes, not at the name.

# %%
torch.manual_seed(0)
side = 1024 if FAST else 4096
matrix_NK = torch.randn(side, side)
coded = encode(matrix_NK, "int4", 64, True, torch.bfloat16)
print(f"codes, one a byte: {coded.codes_NK.nbytes / matrix_NK.numel() * 8:.2f} bits a weight")
print(f"codes, packed:     {pack(coded.codes_NK, 4).nbytes / matrix_NK.numel() * 8:.2f}")
print(f"scales:            {coded.scale_NG.nbytes / matrix_NK.numel() * 8:.2f}")

# %% [markdown] id="10-bits"
# ## 2. How many bits are "4 bits"?
#
# Codes alone are useless: each group of g neighbours shares a scale of 16 bits. So it is 4 + 16 / g
# bits a weight (chapter 08), if all weights are coded. But most "4 bit" files keep the embedding
# and the head in 16 bit.
#
# **Predict:** Llama-3-8B has 8.03 billion weights, groups of 128. Its embedding and its head have
# 128,256 × 4,096 weights each. How many GB is such a file?

# %%
shape = dict(family="llama", width=4096, num_layers=32, num_heads=32, head_size=128, max_len=4096)
llama7b = minillm.ModelConfig(vocab_size=32000, mlp_width=11008, num_kv_heads=32, **shape)
llama8b = minillm.ModelConfig(vocab_size=128256, mlp_width=14336, num_kv_heads=8, **shape)
print("if all weights were coded:  codes alone    group 128     group 32")
for name, c in (("Llama-2-7B", llama7b), ("Llama-3-8B", llama8b)):
    count = clock.num_parameters(c)
    sizes = [count * (4 + scale) / 8 / 1e9 for scale in (0, 16 / 128, 16 / 32)]
    print(f"{name}, {count / 1e9:.2f}e9:         " + "".join(f"{size:10.2f} GB" for size in sizes))

# %% [markdown] id="10-bits-read"
# *Printed: GB are 10^9 bytes. Some tools count GiB, 2^30 bytes, 7% more: always ask which one.*
#
# Now with embedding and head in 16 bit. With a large vocabulary that is a lot.

# %%
rows = {}
for name, c in (("7B", llama7b), ("8B", llama8b)):
    inside = sum(m.parameters for m in clock.matrices(c) if m.name != "head")
    outside = clock.num_parameters(c) - inside
    for group in (128, 32):
        scales = inside * 2 / group
        parts = {"codes": inside / 2, "scales": scales, "embedding, head": outside * 2}
        rows[f"{name} g{group}"] = {part: held / 1e9 for part, held in parts.items()}
show.stack(rows, "GB")

# %% [markdown] id="10-bits-caption"
# *Picture: GB of Llama-2-7B and Llama-3-8B in int4, with embedding and head in 16 bit.*
#
# People often say: a 7B model in 4 bits is 7 x 4 / 8 = 3.5 GB. That is off by 10 to 20%, and for
# the 8B model by more. In 16 bit the files are 13.5 GB
# and 16.1 GB. So int4 is 2.7 to 3.5 times smaller, not 8 times.
#
# And back to weights: column k of a row belongs to group k // g, and a weight is its code times the
# scale of that group. The groups need not fill the row: then the last one is **short**. Here are 10
# columns in groups of 4.

# %%
small = encode(torch.randn(1, 10), "int4", 4, True, torch.bfloat16)
print("column   group    code     scale    weight")
for k, code in enumerate(small.codes_NK[0].tolist()):
    scale = small.scale_NG[0, k // 4].item()
    print(f"{k:6} {k // 4:7} {code:7} {scale:9.4f} {code * scale:9.4f}")

# %% exercise 10.2

# %% [markdown] id="10-held"
# The package's `QuantLinear` does this too. `weight_bytes()` counts what is **really** held. We
# look twice: after packing, and after the first fast product.

# %%
print(f"{side} x {side}                bytes held, MB    bits a weight")
show_held = lambda name, n: print(f"{name:26} {n / 1e6:15.2f} {n * 8 / side**2:15.3f}")
show_held("fp32", matrix_NK.nbytes)
for scheme, group in (("int8", None), ("int4", 128), ("int4", 64), ("int4", 32), ("nf4", 64)):
    layer = QuantLinear(encode(matrix_NK, scheme, group, True, torch.bfloat16), scheme)
    show_held(f"{scheme} {layer.group}", sum(layer.weight_bytes().values()))
    if scheme == "int4":
        layer.compute = "fast"
        layer(matrix_NK[:1])
        show_held("   laid out for the CPU", sum(layer.weight_bytes().values()))

# %% [markdown] id="10-held-read"
# The fast product of the processor wants another layout. It keeps a scale **and** an offset for
# each group, so 32 / g bits. There is only ever one copy: the packed words go, the layout comes.
# Saving brings them back. NF4 keeps its scales in 32 bit here.
#
# And a whole model:

# %%
tiny, tokenizer = minillm.load("tiny", device="cpu")
held = {}
for name, model in (("fp32", tiny), ("int8", quantize(tiny, "int8")), ("int4", quantize(tiny))):
    parts = {part: sum(kinds.values()) / 1e6 for part, kinds in model.weight_bytes().items()}
    held[name] = {part: size for part, size in parts.items() if size}
show.stack(held, "MB")

# %% [markdown] id="10-held-caption"
# *Picture: bytes of `tiny`, measured. Linear layers shrink. The embedding stays, and so it becomes
# a larger share.*

# %% [markdown] id="10-groups"
# ## 3. How large should a group be?
#
# One large weight makes the scale of its whole group coarse. Small groups keep the harm small, and
# cost more scales. So the group size trades bits for error. We measure both, on random (normal)
# weights and on real ones, those of `tiny`.

# %%
real = [m.weight for m in tiny.modules() if isinstance(m, torch.nn.Linear) and m is not tiny.head]
normal = [torch.randn(512, 1024)]
sizes = (16, 32, 64, 128, 256)


def error(matrices, coder):
    """Size of the error over size of the weights, over all matrices."""
    off = sum(float((coder(w).dequantize() - w).square().sum()) for w in matrices)
    return (off / sum(float(w.square().sum()) for w in matrices)) ** 0.5


int4 = lambda g: lambda w: formats.symmetric(w, 4, g, torch.bfloat16)

# %%
curves = {
    name: [error(which, int4(g)) for g in sizes]
    for name, which in (("normal", normal), ("tiny", real))
}
bits = [4 + 16 / g for g in sizes]
for i, g in enumerate(sizes):
    print(f"group {g:3}: {bits[i]:.3f} bits, error " + ", ".join(
        f"{name} {c[i]:.2%}" for name, c in curves.items()))  # fmt: skip
show.lines(sizes, curves, "group", "error", log="x")

# %% [markdown] id="10-groups-caption"
# *Picture and table: relative error of the weights, over the group size. Scale: 2 × max / 15.*
#
# 64 and 128 are what most people use. Error of weights is not yet quality of answers: that is
# chapter 11.
#
# A short last group again: 288 columns in groups of 256 leave one of 32. Can the package do it?

# %%
ragged = encode(torch.randn(64, 288), "int4", 256, True, torch.bfloat16)
layer = QuantLinear(ragged, "int4", compute="fast")
packed_product = layer.fits(torch.device("cpu"))
print(f"scales of each row: {ragged.scale_NG.shape[1]}; packed product fits: {packed_product}")
print(f"result has NaN: {bool(layer(torch.randn(2, 288)).isnan().any())}")

# %% [markdown] id="10-groups-ragged"
# The fast product cannot do this shape. So the layer takes the slow, sure path. Never call a packed
# operation with a shape that it does not know: some read past the end of memory.

# %% exercise 10.6

# %% [markdown] id="10-nf4"
# ## 4. Sixteen values, better placed
#
# The 16 values of int4 have equal distances. Weights do not: most lie near zero. **NF4** (Dettmers
# et al. 2023) puts its 16 values where a normal distribution has its weights: close together near
# zero, far apart outside.
#
# There are 8 values above zero, 7 below, and 0 itself, so that a zero weight stays zero. A block of
# neighbours is divided by its largest |w|: then all lie from -1 to 1, as the values do. Weights are
# read as one long row, so a block may go over the end of a row.
#
# **Predict:** NF4 or int4, with the same bits (groups of 64, scales of 16 bit). Which has the
# smaller error on normal weights? On those of `tiny`? On uniform ones, where all sizes are equally
# common?

# %%
levels = formats.nf4_levels().tolist()
print("NF4: ", " ".join(f"{x:+.2f}" for x in levels))
print("int4:", " ".join(f"{x / 7.5:+.2f}" for x in range(-8, 8)))
lie = [
    sum(1 for x in values if abs(x) < 0.5) for values in (levels, [q / 7.5 for q in range(-8, 8)])
]
print(f"values between -0.5 and 0.5: NF4 {lie[0]}, int4 {lie[1]}")

# %%
nf4 = lambda w: formats.nf4(w, 64, torch.bfloat16)
found = {}
for name, which in (("normal", normal), ("tiny", real), ("uniform", [torch.rand(512, 1024) - 0.5])):
    found[f"{name}, int4"], found[f"{name}, NF4"] = error(which, int4(64)), error(which, nf4)
    change = found[f"{name}, NF4"] / found[f"{name}, int4"] - 1
    print(f"{name:8}: NF4 changes the error by {change:+.0%}")
show.bars({name: 100 * value for name, value in found.items()}, "error, % of the weights")

# %% [markdown] id="10-nf4-caption"
# *Picture: relative error at 4.25 bits a weight.* NF4 wins on normal weights, and about as much on
# those of `tiny`: trained weights are almost normal. On uniform weights, which have no crowd near
# zero, it loses: it pays for its large steps outside.
#
# NF4 costs a look-up in a table for each weight, and it has no fast product on the processor. It is
# made for small error, and for training on top of it (QLoRA).

# %% exercise 10.4

# %% [markdown] id="10-rows"
# ## 5. When is int4 faster?
#
# The product turns codes into floats on the way (chapter 09). No integers are multiplied: only
# fewer bytes move. First one row, as for one user.

# %%
from minillm.blank import blank_model

blank = blank_model(1024)
linears = [m for m in blank.modules() if isinstance(m, torch.nn.Linear) and m is not blank.head]
some = linears[: max(7, len(linears) // 4)]
exact = [QuantLinear(encode(m.weight, "int4", 64, True, torch.bfloat16), "int4") for m in some]
packed = [QuantLinear(encode(m.weight, "int4", 64, True, torch.bfloat16), "int4") for m in some]
fake = [q.dequantize(torch.float32) for q in exact]
half = [m.weight.bfloat16() for m in some]
for q in packed:
    q.compute = "fast"
    q.prepare()
weights = sum(m.weight.numel() for m in some)

# %%
x = {n: torch.randn(1, n) for n in {m.in_features for m in some}}
programs = {
    "fp32": lambda: [m(x[m.in_features]) for m in some],
    "int4 fake": lambda: [ops.linear(x[w.shape[1]], w) for w in fake],
    "int4 first": lambda: [q(x[q.in_features]) for q in exact],
    "int4 packed": lambda: [q(x[q.in_features]) for q in packed],
}
one = in_turns(programs, 1 if FAST else 7)
traffic = {"fp32": 4, "int4 fake": 4, "int4 first": 4.25 / 8 + 4 + 4, "int4 packed": 4.5 / 8}
print(f"{here}, {weights / 1e6:.0f} million weights, one row")
for name, s in one.items():
    print(f"{name:12} {s * 1e3:8.1f} ms, bound {traffic[name] * weights / limit * 1e3:7.1f} ms")

# %% [markdown] id="10-rows-read"
# *Printed: fake is int4 stored as floats; "first" unpacks the whole matrix in each call; packed
# unpacks inside the product.* "First" moves about 8.5 bytes a weight: half a byte read, four
# written, four read again. It is worse than with int8: more steps for each weight.
#
# The bound counts bytes at the speed of main memory. Codes that fit into the cache of your
# processor (above) can be faster than their bound.
#
# Now more rows. Guess first: the question is about the paper GPU.

# %% exercise 10.5


# %%
def ways(rows):
    x = {n: torch.randn(rows, n) for n in {m.in_features for m in some}}
    b = {n: a.bfloat16() for n, a in x.items()}
    return {
        "fp32": lambda: [m(x[m.in_features]) for m in some],
        "bf16": lambda: [F.linear(b[w.shape[1]], w) for w in half],
        "int4": lambda: [q(x[q.in_features]) for q in packed],
    }


counts = (1, 4, 16) if FAST else (1, 2, 4, 8, 16, 32, 64, 128, 256)
swept = {rows: in_turns(ways(rows), 1 if FAST else 5) for rows in counts}

# %%
byte = {"fp32": 4, "bf16": 2, "int4": 4.5 / 8}
bound = "  ".join(f"{n} {b * weights / limit * 1e3:.1f}" for n, b in byte.items())
print(f"{here}\nbound by bytes, ms: {bound}")
print(" rows " + "".join(f"{name:>9}" for name in byte) + "   (ms)")
for rows, ms in swept.items():
    print(f"{rows:5} " + "".join(f"{ms[name] * 1e3:9.1f}" for name in byte))
gain = [min(s["fp32"], s["bf16"]) / s["int4"] for s in swept.values()]
show.lines(counts, {"int4": gain}, "rows", "times faster than fp32 and bf16", log="x", bound=1)

# %% [markdown] id="10-rows-caption"
# *Picture: how many times faster than the better of fp32 and bf16. Below the dashed line it loses.*
#
# With few rows bytes decide, and int4 has the fewest. With many rows arithmetic decides, and int4
# has **more** of it: unpacking comes on top. A GPU has such a bend as well, at another place (not
# measured here yet). The rows are the users of a step, or the tokens of a prompt: so reading a long
# prompt gains nothing from int4.
#
# The next two cells show this beside your guess, and the project's own longer run: a sweep of one
# matrix, in turns, each at least 15 times.

# %%
from exercises.notebook import measured, question

versus = {rows: s["bf16"] / s["int4"] for rows, s in swept.items()}
loses = next((rows for rows in counts if versus[rows] < 1), counts[-1])
# This layout has more bytes a weight than the one in your question. So the measured gain is
# carried over: times what yours can gain by bytes, over what this one can.
asked = 2 / (0.5 + 2 / question("10.5")["group"])
carried = versus[1] * asked / (2 / byte["int4"])
note = "against bf16 on this processor, whose bend lies at other rows than the paper GPU's"
measured("10.5", [carried, loses], "times, and rows", note)

# %%
from minillm import recorded

report = recorded.report("quant")
for row in ((report or {}).get("sweep") or {}).get("rows", []):
    ratio = row.get("ratios", {}).get("int4", {}).get("median")
    if ratio:
        print(
            f"{row['rows']:4} rows: int4 {ratio:.2f} times faster than the better of fp32 and bf16"
        )
print(recorded.told("quant", report))

# %% exercise 10.7

# %% [markdown] id="10-tokens"
# ### Tokens per second of `blank`
#
# Whole models, one user. Embedding dense, head in int8.

# %%
from minillm.cache.simple import StripCache

models = {"fp32": blank}
for scheme in ("int8", "int4"):
    models[scheme] = quantize(blank, scheme, head="int8", compute="fast")


def step_of(model, past=32):
    """A function that runs one step: one more token after `past` tokens."""
    memory = StripCache.for_model(model, past + 100)
    model(torch.arange(past), memory=memory)
    return lambda: model(torch.tensor([5]), memory=memory)


steps = in_turns({n: step_of(m) for n, m in models.items()}, 2 if FAST else 9)

# %%
for name, model in models.items():
    parts = {part: sum(kinds.values()) for part, kinds in model.weight_bytes().items()}
    moved = sum(parts.values()) - (parts["embedding"] if name != "fp32" else 0)
    faster = "" if FAST or name == "fp32" else f", {steps['fp32'] / steps[name]:.1f} times fp32"
    print(f"{name}: {sum(parts.values()) / 1e6:6.1f} MB, {1 / steps[name]:6.1f} tokens/s "
          f"(bound {limit / moved:6.1f}){faster}")  # fmt: skip

# %% [markdown] id="10-seats"
# ## 6. What is the rest of the memory for?
#
# Speed is half of the story. Weights, slack, and keys and values share one memory. What the weights
# no longer take becomes seats: places for requests that run at the same time.
#
# Guess first. How many requests of 4,096 tokens does a 70B model serve on one GPU of 80 GB?

# %% exercise 10.3

# %%
count, request = 70.55e9, 2 * 80 * 8 * 128 * 2 * 4096
size = {"fp16": 2, "int8": 1 + 2 / 8192, "int4 g32": 0.5 + 2 / 32, "int4 g128": 0.5 + 2 / 128}
in_bytes = {name: count * each for name, each in size.items()}
show.seats_filling(80e9, in_bytes, 8e9, request, static=("fp16", "int8", "int4 g32"))

# %% [markdown] id="10-seats-caption"
# *Picture: one bar is one GPU of 80 GB (black frame). Grey: weights. Hatched: slack, 8 GB. Each
# blue tile: keys and values of one request of 4,096 tokens. Red: what does not fit. The large
# number: seats. Move the slider (in a running notebook) to see the seats fill.*
#
# The picture has 4,096 tokens and groups of 32; your file may ask for other numbers. As in the
# exercise, all weights are coded. (On the README's cover embedding and head stay in 16 bits, and
# int8 has no seat left.) 16 bit: not even the weights fit. Int8: they fit, and one user is served.
# Int4 halves the weights once more, and 24 users are served. Little more than half the bytes, 24
# times the seats: the last bytes that are saved count most.

# %%
slack, token = 1.6e9, llama8b.kv_bytes_per_token(2)
for name, each in (("fp16", 2), ("int8", 1), ("int4", 4.25 / 8)):
    held_8b = clock.num_parameters(llama8b) * each
    fit = int((clock.PAPER_GPU.memory - slack - held_8b) // (4096 * token))
    seats_8b = (
        f"{fit} requests of 4,096 tokens" if fit > 0 else "no place for the weights and slack"
    )
    print(f"Llama-3-8B, {name}: {held_8b / 1e9:5.2f} GB of 16: {seats_8b}")

# %% [markdown] id="10-seats-small"
# *Printed: the same for a smaller model on the 16 GB of the paper GPU, all weights coded, groups of
# 64.* "Int4 puts large models on small GPUs": true, and for some models it is the only way.

# %% [markdown] id="10-story"
# ## 7. More seats, more tokens
#
# Now the real engine of chapter 07. **The budget is fixed:** what the 16-bit weights take, and room
# for four requests. Int8 and int4 weights get the same budget, and all that they leave is blocks
# for K/V. **Predict:** how many requests run at once? What becomes of tokens per second?
#
# The same run is timed twice: by the watch of this machine, and by the clock of the paper GPU,
# which charges each step for its bytes and its arithmetic.

# %%
from minillm.clock import VirtualClock
from minillm.engine.llm import LLM

prompt, answer, users = (16, 4, 6) if FAST else (128, 64, 48)
base = blank_model(1024, dtype=torch.bfloat16, size=(8 if FAST else 100) * 10**6)
served = {"bf16": base}
for scheme in ("int8", "int4"):
    served[scheme] = quantize(base, scheme, head="int8", compute="fast")
    served[scheme](torch.arange(4))  # the first call makes the layout
kv = base.config.kv_bytes_per_token(2)
bytes_of = lambda model: sum(sum(kinds.values()) for kinds in model.weight_bytes().values())
budget = bytes_of(base) + 4 * (prompt + answer) * kv
print(f"budget {budget / 1e6:.1f} MB, a request takes {(prompt + answer) * kv / 1e6:.2f} MB")


# %%
def serve(model, requests):
    """-> (blocks, most at once, mean at once, tokens/s of this machine, tokens/s on paper)."""
    blocks, paper = int((budget - bytes_of(model)) // (16 * kv)), VirtualClock()
    config = minillm.EngineConfig(16, blocks, 64, prefix_caching=False, clock=paper)
    llm, at_once = LLM(model, None, config), []
    for number in range(requests):
        text = [(7 * number + i) % 1024 for i in range(prompt)]
        llm.add(text, minillm.SamplingParams(max_tokens=answer, ignore_eos=True))
    start = time.perf_counter()
    while llm.unfinished:
        llm.step()
        at_once.append(len(llm.scheduler.running))
    written, real = requests * answer, time.perf_counter() - start
    return blocks, max(at_once), sum(at_once) / len(at_once), written / real, written / paper.now


# %%
story = {}
for name, model in served.items():
    story[name] = (*serve(model, 1)[3:], *serve(model, users))

print(f"{users} requests, {prompt} tokens to read and {answer} to write; CPU: {here}")
print("        weights  blocks    at once      one user, tok/s     all together, tok/s")
print("             MB          most mean       CPU      paper        CPU       paper")
for name, (cpu1, paper1, blocks, most, mean, cpu, paper) in story.items():
    print(f"{name:5} {bytes_of(served[name]) / 1e6:9.1f} {blocks:7} {most:6} {mean:4.0f} "
          f"{cpu1:9.0f} {paper1:10.0f} {cpu:10.0f} {paper:11.0f}")  # fmt: skip
show.bars({name: row[4] for name, row in story.items()}, "requests at once, mean over all steps")

# %% [markdown] id="10-story-read"
# *Table and picture: one budget of bytes, three formats. "CPU" is measured here, "paper" is the
# paper GPU's clock. With little memory a request may start, be sent away, and start again
# (preemption), so "most" can be a little above four.*
#
# Read it from left to right: **fewer bytes of weights → more blocks → more requests at once → more
# tokens per second.** On paper one user gains little here: this model is small, and starting each
# operation takes more time than its bytes. On the processor many rows are where int4 computes more
# (section 5), so its total grows less than its seats.

# %% [markdown] id="10-batch"
# ### Speed or seats?
#
# A larger model on the paper GPU separates the two. Llama-3-8B, a context of 1,024. How much faster
# is a **step** with int4 than with fp16, for the same number of users? (Memory is not looked at: in
# fp16 this model does not even fit.)

# %%
print("users   fp16 step, ms   int4 step, ms   times faster")
for s in (1, 4, 16, 64):
    cost = {b: clock.step_cost(llama8b, s, 1024, b, 2) for b in (2, 4.25 / 8)}
    wide, small = (clock.step_seconds(c) * 1e3 for c in cost.values())
    print(f"{s:5} {wide:15.1f} {small:15.1f} {wide / small:14.2f}")

# %%
from minillm.engine.on_paper import PaperJob, serve_on_paper

jobs = [PaperJob(0.0, 3072, 1024)] * 24
room = clock.PAPER_GPU.memory - slack
fits = {n: int((room - clock.num_parameters(llama8b) * b) // (4096 * token))
        for n, b in (("int8", 1), ("int4", 4.25 / 8))}  # fmt: skip
for name, b, places in (("int8", 1, fits["int8"]), ("int4", 4.25 / 8, fits["int8"]),
                        ("int4", 4.25 / 8, fits["int4"])):  # fmt: skip
    config = minillm.EngineConfig(16, places * 256, places, clock=VirtualClock())
    done = max(t.finished for t in serve_on_paper(llama8b, jobs, config, b, 2))
    print(f"{name}, {places:2} seats: {24 * 1024 / done:5.0f} tokens/s on the paper GPU, 16 GB")

# %% [markdown] id="10-batch-read"
# *Printed: a step, and then 24 requests of 3,072 + 1,024 tokens, served by the real scheduler. Line
# 2 gives int4 only the seats that int8 has. So from line 1 to 2 it is speed, from 2 to 3 seats.*
#
# The paper clock charges nothing for unpacking. So it is kind to int4 at many rows; your own
# picture in section 5 is not. Keep this: **with one user int4 buys only speed. With many users it
# buys less and less speed, and seats on top.**
#
# ## 8. The scoreboard
#
# Workload W with int4 weights (group 64, head in int8), in the same budget as all rows.

# %%
from minillm import scoreboard

result = scoreboard.run("int4 weights")
scoreboard.table([result])

# %% [markdown] id="10-calibration"
# *Table: MB is weights and cache together: the pool fills what the weights leave. Grey rows were
# recorded on the machine that is named below.*
#
# ## Predicted and measured

# %%
from exercises.notebook import calibration

guesses = calibration()
show.calibration_plot(guesses) if guesses else "no guess measured yet: answer a [predict] exercise"

# %% [markdown] id="10-takeaway"
# ## Takeaway
#
# | | int4 weights |
# |---|---|
# | **bytes stored** | 4 + 16 / g bits a weight, embedding and head on top |
# | **bytes moved** | the same, if unpacked inside the product; far more, if before |
# | **arithmetic** | in floats as before, and unpacking on top |
# | **waiting** | less for few rows; less queueing, since more requests have a seat |
#
# **Lossy:** yes, and more than int8. What it breaks is the subject of chapter 11.
#
# **Where this loses.**
#
# - *Many rows*: from some number of users on, a step with int4 is slower than one in 16 bit.
# - *Long prompts*: many rows as well.
# - *Unpacking first*: slower than not packing at all.
# - *Small models with large vocabularies*: embedding and head are most of the bytes.
# - *One user and short texts*: seats that nobody takes are worth nothing.
#
# ## The same thing in vLLM
#
# | here | vLLM |
# |---|---|
# | `quantize(model, "int4")`, saved | a compressed-tensors checkpoint, `pack-quantized` (W4A16) |
# | `group_size=128` | `group_size` in config.json: made with the checkpoint, not chosen at start |
# | `num_blocks` from the budget | `--gpu-memory-utilization`: it prints how many blocks it found |
# | `max_num_seqs` | `--max-num-seqs`: raise it, or the new seats stay empty |
#
# **You can stop here with something that works:** an engine that batches, pages its cache,
# schedules, and holds its weights in 8 or 4 bits.
#
# **Next:** [11 · Which weights matter?](11_which_weights_matter.ipynb) Rounding to nearest looks at
# weights only. What if we look at what goes through them?
