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

# %% [markdown] id="04-title"
# # 04 · Why keep keys and values?
#
# **After this notebook** you can build a KV cache, show that it changes nothing, say how many bytes
# it takes for any model, and say when it does not pay.
#
# **Time:** 45 minutes for the notebook, 60 for the exercises of the evening path, 80 for the rest.
# **Hardware:** any laptop; a GPU is used if there is one.

# %% bootstrap

# %% [markdown] id="04-test-out"
# ## Test out
#
# Do you know this already? Solve 4.1, 4.2, 4.4 and 4.5 below. If the grader says "right" four
# times, go on to chapter 05.

# %%
import os

import torch

import minillm
from minillm import SamplingParams, generate, ops, show
from minillm.cache.simple import NoCache, StripCache

FAST = os.environ.get("MINILLM_FAST") == "1"  # small sizes: a check that everything runs
torch.set_grad_enabled(False)  # we only compute, we do not train
model, tokenizer = minillm.load("tiny", dtype="fp32")  # also on a GPU: we compare exactly
config, device = model.config, model.embedding.weight.device
on_device = lambda tokens: torch.tensor(tokens, device=device)
print(f"tiny: {config.num_layers} layers, heads of size {config.head_size}: ", end="")
print(f"{config.num_heads} for queries, {config.num_kv_heads} for keys and values")

# %% [markdown] id="04-again"
# ## 1. What is computed again?
#
# The loop of chapter 00 reads the whole text for every new token. Each token passes through all
# layers again and again. Let us draw which tokens each step computes.

# %%
for count in (16, 128, 1024):
    print(f"{count:5} tokens written: {count * (count + 1) // 2:7,} tokens computed")
shown = 6  # and a picture of the first few steps
again = [[float(token == step) for token in range(shown)] for step in range(shown)]
absent = [[token > step for token in range(shown)] for step in range(shown)]
said = "A triangle: every step computes all earlier tokens again, and one new one."
show.heatmap(again, masked=absent, format=".0f", xlabel="token", ylabel="step", alt=said)

# %% [markdown] id="04-again-caption"
# *Picture: one row is one step. Dark cells (1) are new. White cells (0) are tokens that an earlier
# step has computed already. Grey cells do not exist yet.*
#
# White is wasted, if its result is the same each time. Is it?

# %% [markdown] id="04-key-value"
# ## 2. Do earlier keys and values change?
#
# In attention each token makes three vectors: a query (what do I look for?), a key (what am I?) and
# a value (what do I give?). The query is used once. Keys and values of *earlier* tokens are needed
# in every later step.
#
# Texts say: "they are always the same". Are they? Measure it before you read on.
#
# Not right, and no idea why? In a terminal, one after another: `python -m exercises explain 4.1`
# (the smallest input that fails), `trace 4.1` (the first variable that differs), `hint 4.1`,
# `solution 4.1`. Or `park 4.1` for later.

# %% exercise 4.1

# %% [markdown] id="04-recorder"
# Now the same question for `tiny`. The model hands its queries, keys and values to a **memory**, an
# object with one method: `attend`. We give it one that writes down what passes by. It can also
# attend without the causal mask. We compute in 64 bits, so that rounding does not disturb us.


# %%
import torch.nn.functional as F


class Recorder:
    length = 0  # it keeps nothing for the next step

    def __init__(self, causal):
        self.causal, self.seen = causal, []

    def attend(self, layer, q_THK, k_TGK, v_TGK):
        self.seen.append(torch.cat([k_TGK, v_TGK], dim=1))
        q, k, v = (x.transpose(0, 1)[None] for x in (q_THK, k_TGK, v_TGK))
        out = F.scaled_dot_product_attention(q, k, v, is_causal=self.causal, enable_gqa=True)
        return out[0].transpose(0, 1)


# %%
exact, _ = minillm.load("tiny", dtype="fp64")
text = on_device(tokenizer.encode("Once upon a time there was a small"))
change = {}
for name, causal in (("mask", True), ("no mask", False)):
    before, after = Recorder(causal), Recorder(causal)
    exact(text[:-1], memory=before)
    exact(text, memory=after)
    pairs = zip(before.seen, after.seen)
    change[name] = [float((b[: len(a)] - a).abs().max()) for a, b in pairs]
    print(f"{name:>8}:", "  ".join(f"{x:.1e}" for x in change[name]))
drawn = {name: [max(x, 1e-17) for x in row] for name, row in change.items()}  # a log has no zero
show.lines(range(config.num_layers), drawn, xlabel="layer", ylabel="largest change", log="y")

# %% [markdown] id="04-why-same"
# *Picture and numbers: for each layer, the largest change of an earlier key or value when one token
# is appended. From one line to the other are many powers of ten.*
#
# - **With the mask** there is nothing but rounding. A token sees only itself and what is before it.
#   So nothing that comes later can change it.
# - **Without the mask** the keys and values change, from the second layer on. They are "always the
#   same" *because of the causal mask*. A model that looks both ways (BERT) cannot have this cache.
# - The first layer never changes: its keys and values come from the token itself. No attention has
#   run yet.

# %% [markdown] id="04-build"
# ## 3. The cache in a few lines
#
# So keep them. A **KV cache** is a piece of memory for keys and values, with room for `max_len`
# tokens. A step writes the new rows behind the old ones. Then the new queries attend to all rows in
# use. That is the whole idea.


# %%
class MyCache:
    def __init__(self, config, max_len):
        shape = (config.num_layers, 2, max_len, config.num_kv_heads, config.head_size)
        self.config, self.length = config, 0
        self.kv = torch.empty(shape, device=device)

    def attend(self, layer, q_THK, k_TGK, v_TGK):
        end = self.length + len(k_TGK)
        self.kv[layer, :, self.length : end] = torch.stack([k_TGK, v_TGK])
        k_LGK, v_LGK = self.kv[layer, :, :end]
        self.length = end if layer == self.config.num_layers - 1 else self.length
        return ops.attention(q_THK, k_LGK, v_LGK, self.config.attention_scale)


# %% [markdown] id="04-only-new"
# The model does not change by a single line. Only what we feed it does: the whole prompt first (the
# **prefill**), then one token a step. The next cell runs both loops side by side and compares the
# logits of every step.
#
# Are they equal? In 32 bits, sums in another order are rounded in another way. The rule of this
# course: logits differ by less than 1e-4 of their spread (largest minus smallest).


# %%
prompt = tokenizer.encode("Once upon a time there was a")
tokens, cache, found = list(prompt), MyCache(config, max_len=64), []
for step in range(32):
    full_V = model(on_device(tokens), memory=NoCache(config))[-1]
    cached_V = model(on_device(tokens[cache.length :]), memory=cache)[-1]
    off = float((full_V - cached_V).abs().max() / (full_V.max() - full_V.min()))
    found.append((full_V.argmax() == cached_V.argmax(), off))
    tokens.append(int(full_V.argmax()))
    if step < 6:
        print(f"step {step}: {tokenizer.decode(tokens[-1:])!r:12} logits {off:.1e} apart")
print(f"largest of {len(found)} steps: {max(off for _, off in found):.1e} (the rule: below 1e-4)")
print("the same token in every step:", all(bool(same) for same, _ in found))

# %% [markdown] id="04-package"
# The cache of the package is `StripCache`: the same, with an error message when it is full. Ours
# must equal it, and `generate` must write the same tokens with it and without it.
#
# Ours calls `ops.attention`. After the comparison, write the method yourself, attention included.

# %%
package = StripCache.for_model(model, max_len=64)
model(on_device(tokens[: cache.length]), memory=package)
ours, theirs = cache.kv[:, :, : cache.length], package.kv[:, :, : cache.length]
gap = (ours - theirs).abs().max() / theirs.abs().max()
print(f"contents, ours against StripCache (filled in one step): {gap:.1e} apart")
params = SamplingParams(max_tokens=32, ignore_eos=True)
same = generate(model, prompt, params) == generate(model, prompt, params, NoCache(config))
print("generate writes the same with StripCache and with NoCache:", same)

# %% exercise 4.2

# %% [markdown] id="04-mask"
# ## 4. Which keys may a new token see?
#
# One new token sees every key: no mask is needed. But a step may bring several tokens: a prompt
# after a cached beginning, or a long prompt cut into pieces. Then there are T queries and L keys,
# with T < L. The **last** query belongs to the **last** key.

# %%
T, L = 3, 7
right = ops.causal_mask(T, L, window=None)
top_left = torch.ones(T, L, dtype=torch.bool).tril()
both = torch.cat([right, top_left])
names = [f"{which}{t}" for which in "ab" for t in range(L - T, L)]
said = "Rows a: a mask aligned bottom-right. Rows b: aligned top-left."
look = dict(rows=names, columns=range(L), xlabel="key", ylabel="query", alt=said)
show.heatmap(both.float(), format=".0f", **look)

# %% [markdown] id="04-mask-caption"
# *Picture: 1 is a key that may be seen. Rows a: the right mask, for the queries at positions 4, 5
# and 6. Rows b: the same triangle pushed into the top left corner. The queries see what tokens 0, 1
# and 2 may see.*
#
# PyTorch's attention has a switch `is_causal=True`. Which of the two is it?

# %%
q, k, v = (torch.randn(1, 4, n, 16) for n in (T, L, L))
switch = F.scaled_dot_product_attention(q, k, v, is_causal=True)
for name, mask in (("right mask", right), ("top-left mask", top_left)):
    out = F.scaled_dot_product_attention(q, k, v, attn_mask=mask)
    print(f"is_causal=True against the {name}: {(switch - out).abs().max():.1e} apart")

# %% [markdown] id="04-ex3-intro"
# It is the top-left one. The model runs and writes, and no error tells you that it cannot see most
# of the text. Several real engines had this fault.

# %% exercise 4.3

# %% [markdown] id="04-hunt"
# A cache makes new faults possible, and the text still looks sensible. So compare logits, not only
# the look of the text. **Exercise 4.8** is an engine with a fault. Where is it?

# %% exercise 4.8

# %% [markdown] id="04-position"
# ### And which position has a new token?
#
# Without a cache the positions are simply 0, 1, 2 and so on. With a cache the step sees one token,
# and somebody must know that it is, say, the 8th. Its **position** is the number of tokens before
# it. What happens if we are off by one?


# %%
def last_logits(shift_prompt, shift_new):
    """Logits after the last token of `text`, with wrong positions."""
    memory, end = StripCache.for_model(model, max_len=len(text)), len(text) - 1
    pos_T = torch.arange(end, device=device) + shift_prompt
    model(text[:end], pos_T, memory)
    return model(text[end:], on_device([end + shift_new]), memory)[0]


want_V = last_logits(0, 0)
for name, shifts in (("only the new token", (0, 1)), ("all tokens", (1, 1))):
    off = (last_logits(*shifts) - want_V).abs().max() / (want_V.max() - want_V.min())
    print(f"{name} one too far: logits differ by {off:.1e} of their spread")

# %% [markdown] id="04-time"
# A shift of *all* positions changes nothing but rounding: RoPE sees only distances (chapter 02). A
# shift of *one* token changes its distance to all others.
#
# ## 5. What does it gain?
#
# The belief: "without a cache it is O(n²), with it O(n)". Of what? Let us count the arithmetic of
# **one step** when the text has n tokens.
#
# | | matrices (q, k, v, o, MLP, head) | attention |
# |---|---|---|
# | without cache | n tokens: grows with **n** | n queries × n keys: grows with **n²** |
# | with cache | 1 token: **constant** | 1 query × n keys: grows with **n** |
#
# A whole answer is the sum over its steps: one power more.
#
# **Predict.** On log-log axes, n to the power k is a straight line of slope k. Which slope has a
# step without the cache at n = 64? And at n = 8,192?
#
# The n² part must first become larger than the n part. For one layer, a token costs 2 operations a
# weight in the matrices. In attention it costs 4 operations for each key and each number of a query
# (`num_heads * head_size` of them). Where are the two equal?

# %%
from minillm.clock import matrices


def crossing(c):
    """Keys at which attention needs as much arithmetic as the matrices of the layers."""
    weights = sum(m.parameters for m in matrices(c) if m.name != "head") / c.num_layers
    return 2 * weights / (4 * c.num_heads * c.head_size)


print(f"tiny: {crossing(config):,.0f} keys, {crossing(config) / config.width:.1f} x its width")
print(f"its context ends at {config.max_len:,}")

# %% [markdown] id="04-crossing"
# A classical layer has 12 D² weights: 24 D² / 4 D = **6 times the width D**. Only behind that does
# n² win. A program that skips the masked half of the square gets there twice as late. `tiny`
# hardly reaches it: compare with its context.
#
# So we measure on another model: random weights, and *narrow* (width 128, 4 layers). Then 6 times
# the width comes early, and we can afford long texts. Its words are noise; its time is real.

# %%
from minillm.config import ModelConfig
from minillm.model import Transformer

torch.manual_seed(0)
longest = 2048 if FAST else 8192
sizes = dict(width=128, mlp_width=384, num_layers=4, vocab_size=256, max_len=longest)
heads = dict(num_heads=4, num_kv_heads=1, head_size=32)
narrow_config = ModelConfig(family="llama", **sizes, **heads, tie_embeddings=True)
narrow = Transformer(narrow_config).to(device)
noise = torch.randint(256, (longest,), device=device)
print(f"{narrow.num_parameters():,} parameters; equal at {crossing(narrow_config):,.0f} keys")

# %% [markdown] id="04-bound"
# Every measurement stands beside its bound. We measure how fast this machine reads memory and how
# fast it multiplies. The bound of a step is the slower of the two (chapter 01).
#
# Then we measure one step at each length, without and with the cache. We also time the attention
# alone, to see when it takes more than half of the step.

# %%
import time


def seconds(work, tries=1):
    """The shortest of a few runs."""
    finish = torch.cuda.synchronize if device.type == "cuda" else (lambda: None)
    best = float("inf")
    for _ in range(tries):
        finish()
        start = time.perf_counter()
        work()
        finish()
        best = min(best, time.perf_counter() - start)
    return best


# %%
from minillm import machine
from minillm.clock import Device, step_cost, step_seconds

read = machine.read_bandwidth(str(device)).bytes_per_second
square = torch.randn(1024, 1024, device=device)
peak = 2 * 1024**3 / seconds(lambda: square @ square, tries=5)
here = Device(bandwidth=read, peak=peak, memory=0, launch=0)
print(f"this machine reads {read / 1e9:.1f} GB/s and multiplies {peak / 1e9:.0f} GFLOP/s (fp32)")


def bound_ms(c, rows, context):
    return 1e3 * step_seconds(step_cost(c, rows, context, 4, 4, requests=1), here)


# %%
def one_length(n):
    """ms of a step without cache, of its attention alone, and of a step with cache."""
    c, tries, last = narrow_config, 3 if n > 1024 else 7, on_device([n - 1])
    without = seconds(lambda: narrow(noise[:n], rows=last), tries)
    cache = StripCache.for_model(narrow, max_len=n)
    narrow(noise[: n - 1], memory=cache)  # the prompt; now one step with the cache, a few times
    cached = seconds(lambda: narrow(noise[n - 1 : n], memory=back(cache, n)), 7)
    q, (k, v) = torch.randn(n, c.num_heads, c.head_size, device=device), cache.kv[0]
    attend = seconds(lambda: ops.attention(q, k, v, c.attention_scale), tries)
    return 1e3 * without, 1e3 * attend * c.num_layers, 1e3 * cached


def back(cache, n):
    """The cache as it was before token n."""
    cache.length = n - 1
    return cache


# %%
lengths = [2**i for i in range(4, longest.bit_length())]
one_length(64)  # warm up
steps_ms = [one_length(n) for n in lengths]
print("     n | without (bound)      attention | with (bound), ms")
for n, (without, attend, cached) in zip(lengths, steps_ms):
    low, low_cached = bound_ms(narrow_config, n, n), bound_ms(narrow_config, 1, n)
    print(f"{n:6} | {without:8.2f} ({low:8.2f})    {attend / without:6.0%}", end="")
    print(f"    | {cached:6.2f} ({low_cached:.2f})")

# %% [markdown] id="04-steps-meaning"
# The column *attention* is its share of a step without cache. Where it passes one half, n² has won.
# Our counting said when the *arithmetic* is equal. The time need not agree: softmax is not counted,
# and small multiplications run slower than large ones.
#
# With the cache a short step is all overhead: starting some dozens of small operations. (A model
# this small stays in the processor's cache, so the bound, which is for main memory, says little.)
#
# A whole answer of n tokens is the sum of its steps. We add up the measured steps, with straight
# lines between them, and check the sum by really writing one answer without the cache.


# %%
def added_up(column, upto):
    """Seconds of all steps from 1 to `upto`, straight lines between the measured lengths."""
    total = lengths[0] * steps_ms[0][column]
    for (a, row_a), (b, row_b) in zip(zip(lengths, steps_ms), zip(lengths[1:], steps_ms[1:])):
        if b <= upto:
            total += (b - a) * (row_a[column] + row_b[column]) / 2
    return total / 1e3


check = 64 if FAST else 256
params = SamplingParams(max_tokens=check, ignore_eos=True)
real = seconds(lambda: generate(narrow, [1], params, NoCache(narrow_config)), tries=2)
print(f"answer of {check} tokens, no cache: {real:.2f} s; added up: {added_up(0, check):.2f} s")

# %%
x, rows = lengths[2:], steps_ms[2:]
left = {"no cache": [row[0] for row in rows], "cache": [row[2] for row in rows]}
right = {"no cache": [added_up(0, n) for n in x], "cache": [added_up(2, n) for n in x]}
for name, series in (("one step", left), ("whole answer", right)):
    for label, y in series.items():
        low, high = show.slope(x[:3], y[:3]), show.slope(x[-3:], y[-3:])
        print(f"{name:>12}, {label:8}: slope {low:5.2f} at n = {x[0]}-{x[2]}", end="")
        print(f", {high:5.2f} at {x[-3]}-{x[-1]}")
show.scaling([show.Panel(x, left, "n", "ms / step"), show.Panel(x, right, "n", "s / answer")])

# %% [markdown] id="04-slopes-meaning"
# *Picture: left one step, right the whole answer, both axes logarithmic. The powers in the legend
# are fitted to the last three points. The slope is not one number: see the lines above it.*
#
# - **Without the cache** a step begins near slope 1 (or below: overhead) and bends towards 2. So
#   "O(n²) a step" is the far end, not what most texts meet. The whole answer goes from 2 to 3.
# - **With the cache** a step is flat, then it rises slowly: all K and V so far are read. "O(n) a
#   step" is again the far end. The whole answer goes from 1 to 2.
#
# ### What does `tiny` gain?
#
# "The KV cache is always a win." We let `tiny` write answers of 1, 4, 16 and 64 tokens after a
# prompt of 8, without and with the cache, in turns, 15 times each.

# %%
from minillm.bench_stats import summary


def one_pair(count, turn):
    """Seconds without and with cache, one right after the other, in changing order."""
    params = SamplingParams(max_tokens=count, ignore_eos=True)
    run = {
        "no": lambda: generate(model, prompt[:8], params, NoCache(config)),
        "yes": lambda: generate(model, prompt[:8], params),
    }
    order = ["no", "yes"] if turn % 2 else ["yes", "no"]
    took = {name: seconds(run[name], tries=1) for name in order}
    return took["no"], took["yes"]


# %%
counts, pairs = ((1, 16), 2) if FAST else ((1, 4, 16, 64), 15)
one_pair(4, 0)  # warm up
for count in counts:
    times = [one_pair(count, turn) for turn in range(pairs)]
    gain = summary([no / yes for no, yes in times])
    text_gain = f"{gain['median']:.2f} times as fast" if not FAST else "fast mode: no ratio"
    if gain["low"]:
        text_gain += f" [95%: {gain['low']:.2f} to {gain['high']:.2f}]"
    computed = sum(8 + i for i in range(count)) / (8 + count - 1)
    print(f"{count:3} tokens: {text_gain}; tokens: {computed:.1f} times fewer")

# %% [markdown] id="04-tiny-meaning"
# With one token there is nothing to reuse: the cache can only cost. With 16 the model computes many
# times fewer tokens, and gains much less time: a step of a few tokens costs `tiny` nearly the same
# as a step of one. The saved arithmetic was cheap. The cache pays when the text is long and the
# model is large.
#
# ## 6. How many bytes?
#
# Both K and V, for every layer, every KV head, every token. The formula that articles give uses the
# model's width. Check it.

# %% exercise 4.4

# %% [markdown] id="04-gqa"
# The width is right only where every query head has its own key: **multi-head attention**. Most
# models now use grouped-query attention (GQA, chapter 02): several query heads share one KV head.
# The next cell takes the numbers from each model's published `config.json`, and compares both
# formulas with the bytes that a real `StripCache` holds.


# %%
def published(layers, width, mlp, heads, kv_heads, vocab, **more):
    sizes = dict(num_layers=layers, width=width, mlp_width=mlp, vocab_size=vocab)
    sizes |= dict(num_heads=heads, num_kv_heads=kv_heads, head_size=128, max_len=8192)
    return ModelConfig(**{"family": "llama", **sizes, **more})


qwen = dict(family="qwen3", tie_embeddings=True, qk_norm=True)
models = {  # meta-llama/Llama-2-7b-hf, Meta-Llama-3-8B and -70B, Qwen/Qwen3-0.6B
    "Llama-2-7B": published(32, 4096, 11008, 32, 32, 32000),
    "Llama-3-8B": published(32, 4096, 14336, 32, 8, 128256),
    "Llama-3-70B": published(80, 8192, 28672, 64, 8, 128256),
    "Qwen3-0.6B": published(28, 1024, 3072, 16, 8, 151936, **qwen),
}

# %%
length = 128 if FAST else 512
print(f"MB for one request of {length} tokens in fp16")
print("             article's formula   with KV heads   allocated   article / real")
for name, c in models.items():
    article = c.num_layers * c.width * 2 * length * 2
    formula = length * c.kv_bytes_per_token(2)
    real = StripCache(c, max_len=length, dtype=torch.float16).kv.nbytes
    mb = f"{article / 1e6:14.1f} {formula / 1e6:17.1f} {real / 1e6:13.1f}"
    print(f"{name:12} {mb} {article / real:12.2g} x")

# %% [markdown] id="04-gqa-meaning"
# The article is right for Llama-2-7B, 4 times too high for Llama-3-8B, 8 times for the 70B. For
# Qwen3-0.6B it is right **by accident**: its 8 KV heads of size 128 happen to be as wide as the
# model, although two query heads share each of them.
#
# ### When is the cache larger than the model?
#
# "The KV cache is the largest item in memory." From some length on. Predict it.

# %% exercise 4.5

# %%
from exercises.notebook import measured, question
from minillm.clock import num_parameters

users, grow, share = question("4.5")["users"], {}, {}
x = [2**i for i in range(9, 18)]
for name, c in models.items():  # exactly, from the same published configs
    weights, token = 2 * num_parameters(c), c.kv_bytes_per_token(2)
    grow[name] = weights / (users * token)
    share[name] = [n * token / weights for n in x]
    print(f"{name:12} weights {weights / 1e9:6.2f} GB, a token {token / 1024:3.0f} KiB", end="")
    print(f": equal at {grow[name]:7,.0f} tokens x {users}")
measured("4.5", [grow[m] for m in ("Llama-2-7B", "Llama-3-8B", "Qwen3-0.6B")], "tokens")
show.lines(x, share, "tokens, all requests together", "K/V / weights", log="xy", bound=1)

# %% [markdown] id="04-outgrow-caption"
# *Picture: bytes of K and V divided by bytes of the weights, 16 bit both. Above the dashed line the
# cache is the larger one.*
#
# What counts is the sum over all requests. One chat of a few thousand tokens is far below the line.
# Thirty of them can be above it: this is why chapters 05 to 07 are about the cache.
#
# ## 7. Reserved but empty
#
# A strip is reserved for `max_len` tokens *before* anybody knows how long the answer will be. How
# much of it is used? We take some texts of our test set, each in a strip for the whole context.

# %%
from minillm import corpus

texts = []
for task in ("tales", "recall", "sort", "tales", "code", "tales", "copy", "add"):
    item = corpus.test_items(task, count=1, seed=len(texts))[0]
    texts.append(len(tokenizer.encode(item.prompt + item.answer)))
strip = StripCache(config, max_len=config.max_len)
token_bytes = strip.kv.nbytes // config.max_len
print(f"{len(texts)} strips of {strip.kv.nbytes / 1e6:.1f} MB reserved")
print(f"{sum(texts) * token_bytes / 1e6:.2f} MB of them hold a token: lengths {texts}")
show.block_map([show.Block(i, n, config.max_len) for i, n in enumerate(texts)], columns=8)

# %% [markdown] id="04-empty-caption"
# *Picture: one cell is one strip. Colour: tokens held. Dots: reserved but empty. Below: tokens held
# / tokens reserved, and the share that is waste.*
#
# Two other ways come to mind. Grow the cache at every step (`torch.cat`): nothing is empty, but
# everything is copied again and again. Or reserve in small pages: that is PagedAttention, and
# chapter 06. First see what growing costs.


# %%
def grow_by_cat(rows):
    kept = rows[:0]
    for i in range(len(rows)):
        kept = torch.cat([kept, rows[i : i + 1]])


def write_in_place(rows):
    strip = torch.empty_like(rows)
    for i in range(len(rows)):
        strip[i : i + 1] = rows[i : i + 1]


for count in (250, 500) if FAST else (500, 1000, 2000):
    rows = torch.randn(count, 8, 128, device=device)  # the keys of one layer of Llama-3-8B
    ms = [1e3 * seconds(lambda f=f, r=rows: f(r), tries=2) for f in (grow_by_cat, write_in_place)]
    copied = (count + 1) / 2
    print(f"{count:5} steps: cat {ms[0]:7.1f} ms, in place {ms[1]:6.1f} ms", end="")
    print(f"; {copied:.0f} copies of a number")

# %% [markdown] id="04-ex6-intro"
# The library `transformers` does just this by default: its `DynamicCache` calls `torch.cat`. For
# short texts that is fine. Mend it.

# %% exercise 4.6

# %% [markdown] id="04-window"
# ## 8. A window: a cache that stops growing
#
# Some models let most layers see only the last W tokens: a **sliding window** (Mistral 7B v0.1: W =
# 4,096; Gemma 3 270M: W = 512 in 15 of 18 layers). Then K and V of older tokens are never read
# again. W rows are enough, used in a circle: position p takes row p % W. The rows stand in a
# changed order. Does that matter?

# %%
W, n = 5, 12
q = torch.randn(1, 8, 32, device=device)
k, v = torch.randn(2, n, 2, 32, device=device)
masked = ops.attention(q, k, v, 0.2, window=W)
ring = torch.empty(2, W, 2, 32, device=device)
for position in range(n):
    ring[:, position % W] = torch.stack([k[position], v[position]])
turned = ops.attention(q, ring[0], ring[1], 0.2)
off = (masked - turned).abs().max()
print(f"window over all {n} rows against {W} rows in a circle: {off:.1e} apart")

# %% [markdown] id="04-window-meaning"
# It does not: softmax and the sum take the rows in any order, and RoPE has put the position into
# each key. How much does a window save? We count for the layers of Gemma 3 270M, in 16 bit.

# %%
gemma_windows = [None if layer % 6 == 5 else 512 for layer in range(18)]
row_bytes = 2 * 1 * 256 * 2  # K and V, 1 KV head of size 256, 2 bytes
x = [2**i for i in range(7, 16)]
held = lambda windows, n: row_bytes * sum(min(n, w or n) for w in windows)
ring_mb = [held(gemma_windows, n) / 1e6 for n in x]
full_mb = [held([None] * 18, n) / 1e6 for n in x]
show.lines(x, {"all tokens": full_mb, "window": ring_mb}, xlabel="tokens", ylabel="MB", log="xy")

# %% [markdown] id="04-window-caption"
# *Picture: bytes of one request. Behind W only the three layers without a window grow.*
#
# A window is exact only for a model that was trained with it. To give one to another model means to
# let it forget. Our `StripCache` knows the windows but still keeps every row.

# %% exercise 4.7

# %% [markdown] id="04-stop"
# ## You can stop here with something that works
#
# Transformer, sampling, cache: this is a complete engine for one user, and it writes what the slow
# one writes. The scoreboard runs workload W with the cache. The row above it is the engine without
# one: yours from chapter 03, or the one that we recorded.

# %%
from minillm import scoreboard

row = scoreboard.run("KV cache")
scoreboard.table([row])

# %% [markdown] id="04-calibration"
# *Table: MB is weights and cache together. TTFT is the time to the first token, the median over all
# requests. Grey rows were recorded on the machine that is named below.*
#
# ## Predicted and measured
#
# All your predictions so far. On the line the guess was right; in the pale band it was within a
# factor of 2. The picture is empty as long as you have not guessed.

# %%
from exercises.notebook import calibration

mine = calibration()
show.calibration_plot(mine) if mine else "no guess measured yet: answer a [predict] exercise first"

# %% [markdown] id="04-takeaway"
# ## Takeaway
#
# | | with the KV cache |
# |---|---|
# | **bytes stored** | more: K and V of every token of every request |
# | **bytes moved** | a step still reads all weights, and now all K and V too |
# | **arithmetic** | one token a step instead of n |
# | **waiting** | the first token comes no sooner (the prompt is read once); the later ones do |
#
# **Exact:** the same tokens, logits within rounding. Because of the causal mask, and only then.
#
# **Where this loses.** One token of answer, or only a score: nothing to reuse. A small model and a
# short text: little gain. Text changed near its beginning: everything behind it is void. And the
# cache turns a step that was busy with arithmetic into one that waits for memory: at one user most
# of a GPU's arithmetic now stands idle. Chapter 05 fills it with other users.
#
# ## The same thing in vLLM
#
# | here | vLLM |
# |---|---|
# | `StripCache.kv` | one pool for all requests; at start it logs "GPU KV cache size: ... tokens" |
# | `max_len` | `--max-model-len` |
# | `memory.length` | `num_computed_tokens` of a request |
# | bytes of a number | `--kv-cache-dtype` (`fp8` halves the cache; chapter 09) |
# | what is left for the cache | `--gpu-memory-utilization` |
#
# **Next:** [05 · Why not wait for the slowest?](05_why_not_wait_for_the_slowest.ipynb) One user
# reads all weights for one token. Thirty users can share the same read.
