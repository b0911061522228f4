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

# %% [markdown] id="06-title"
# # 06 · Where does cache memory go?
#
# **After this notebook** you can say how much of a KV cache is empty and why, build the block
# allocator of PagedAttention and a check that it cannot fool, attend through a block table, and say
# what paging gains and what it does not.
#
# **Time:** 55 minutes for the notebook, 70 for the exercises of the evening path, 155 for the rest.
# **Hardware:** any laptop; a GPU is used if there is one.

# %% bootstrap

# %% [markdown] id="06-test-out"
# ## Test out
#
# Do you know this already? Solve 6.1, 6.3, 6.4 and 6.5 below. If the grader says "right" four
# times, go on to chapter 07.

# %%
import os
import random

import torch

import minillm
from minillm import LLM, EngineConfig, SamplingParams, machine, show
from minillm.config import ModelConfig
from minillm.model import Transformer

FAST = os.environ.get("MINILLM_FAST") == "1"  # small sizes: a check that everything runs
torch.set_grad_enabled(False)  # we only compute, we do not train
model, tokenizer = minillm.load("tiny", dtype="fp32")
device = model.embedding.weight.device
weights = sum(sum(kinds.values()) for kinds in model.weight_bytes().values())
read = machine.read_bandwidth(str(device)).bytes_per_second
print(f"tiny: {weights / 1e6:.1f} MB of weights; this machine reads {read / 1e9:.1f} GB/s")

# %% [markdown] id="06-largest"
# ## 1. Is the cache the largest item in memory?
#
# Articles say so, and they say that long context and many requests blow it up. Chapter 04 found the
# length at which *one* request's keys and values pass the weights. But one memory, the **pool**,
# holds the keys and values of all requests. What counts is length **times** requests.

# %%
from minillm.clock import num_parameters


def published(layers, width, mlp, heads, kv_heads, vocab, **more):
    sizes = dict(num_layers=layers, width=width, mlp_width=mlp, vocab_size=vocab)
    sizes |= dict(num_heads=heads, num_kv_heads=kv_heads, head_size=128, max_len=8192)
    return ModelConfig(**{"family": "llama", **sizes, **more})


qwen = dict(family="qwen3", tie_embeddings=True, qk_norm=True)
models = {  # meta-llama/Llama-2-7b-hf, Meta-Llama-3-8B, Qwen/Qwen3-0.6B: their config.json
    "Llama-2-7B": published(32, 4096, 11008, 32, 32, 32000),
    "Llama-3-8B": published(32, 4096, 14336, 32, 8, 128256),
    "Qwen3-0.6B": published(28, 1024, 3072, 16, 8, 151936, **qwen),
}

# %%
from minillm.cache.paged import PagedCache

users = (1, 8, 64)
print("tokens of EACH request at which the cache is as large as the weights (16 bit both)")
print(f"{'requests:':12}" + "".join(f"{count:>9}" for count in users))
for name, c in models.items():
    equal = 2 * num_parameters(c) / c.kv_bytes_per_token(2)
    print(f"{name:12}" + "".join(f"{equal / count:9,.0f}" for count in users))
pool = PagedCache(model.config, 64, 16, device=device)  # and with real bytes, for tiny
tokens = round(weights / (pool.nbytes / (64 * 16)))
pool = PagedCache(model.config, -(-tokens // 16), 16, device=device)
print(f"tiny: a pool for {tokens:,} tokens holds {pool.nbytes / 1e6:.2f} MB: as its weights")

# %% [markdown] id="06-largest-meaning"
# One chat of 2,000 tokens: the weights are larger, by far. 64 chats of 2,000 tokens: the cache is.
# So the saying is true for servers, from some length times batch on.
#
# ## 2. Reserved but empty
#
# The simplest server gives each request a strip for the longest text that is allowed. Nobody knows
# how long the answer will be. We call this **reserve-max**.
#
# Our engine can do that: one "block" as long as the longest text. We use a very small model with
# random weights (`thin`). Which **slots** (places of one token) are in use depends only on lengths,
# not on words.

# %%
torch.manual_seed(0)
sizes = dict(width=32, mlp_width=64, num_layers=1, vocab_size=256, max_len=1024)
heads = dict(num_heads=2, num_kv_heads=1, head_size=16)
thin = Transformer(ModelConfig(family="llama", **sizes, **heads)).to(device, torch.float64)
draw = random.Random("chapter 06")
text = lambda count: [draw.randrange(256) for _ in range(count)]
wishes = [(text(draw.randrange(10, 90)), draw.randrange(30, 150)) for _ in range(10)]
exactly = lambda count: SamplingParams(max_tokens=count, ignore_eos=True)
print("(prompt, answer) tokens:", *((len(prompt), answer) for prompt, answer in wishes))


# %%
def engine_at(block_size, steps=30):
    """The ten requests after some steps; the pool has 1,024 slots, a text at most 256 tokens."""
    llm = LLM(thin, None, EngineConfig(block_size, 1024 // block_size, max_model_len=256))
    for prompt, answer in wishes:
        llm.add(prompt, exactly(answer))
    for _ in range(steps):
        llm.step()
    return llm


# %%
show.pool_map(show.blocks_of(engine_at(block_size=256)))

# %% [markdown] id="06-strips-caption"
# *Picture: the pool of a real engine after 30 steps. One row is 64 slots. Colour and letter:
# request. Dots: reserved but empty. Below: tokens / reserved slots, and the share that is empty.*
#
# Four of ten requests have a place. The other six wait, although most of the memory holds nothing.
#
# Two kinds of waste are in this picture. A strip is longer than its text will ever be. And the rest
# of the text has not come yet. A third kind is not in it: if strips had different lengths, free
# memory would lie in pieces between them, too small for the next one. (It is called **external
# fragmentation**.)
#
# ## 3. Pages
#
# An operating system had the same problem with programs. Its answer: cut memory into small equal
# **pages**, give a program any free pages, and keep a table of which page comes first, second,
# third. **PagedAttention** (Kwon et al. 2023) does this with the cache. A page is called a
# **block**, its list a **block table**.
#
# How much is then empty? Predict it before you look.

# %% exercise 6.4

# %% [markdown] id="06-slider-intro"
# Now move the slider. The same ten requests, the same number of steps, the same bytes. Only the
# block size changes.

# %%
show.block_size_slider(engine_at, (256, 16, 1) if FAST else (256, 128, 64, 32, 16, 8, 4, 2, 1))

# %% [markdown] id="06-slider-caption"
# *Picture: the pool with large, middle and small blocks. White: free. With small blocks all ten
# requests have a place, and there is room for more.*
#
# A request's blocks lie anywhere. No two of them need to be neighbours: every free block fits every
# request, so there is no external fragmentation at all. Only the **last** block of each request has
# empty slots.
#
# ### Measured
#
# Now a longer load: a seeded list of 32 requests of 64 to 700 tokens, 1,024 allowed. The engine
# counts, after every step, the slots of the blocks that running requests hold, and the tokens in
# them (`metrics.waste`).

# %%
from exercises.notebook import measured, question
from minillm.bench_serve_parts import waste_trace

jobs = waste_trace(256, 6 if FAST else 32)
prompts, params = [list(job.prompt) for job in jobs], [exactly(job.answer) for job in jobs]


def served(block_size, seats=32):
    """All requests through a pool of 8 x 1,024 slots -> (the engine, what it wrote)."""
    config = EngineConfig(block_size, 8192 // block_size, seats, prefix_caching=False)
    llm = LLM(thin, None, config)
    return llm, [answer.tokens for answer in llm.generate(prompts, params)]


length = sum(len(job.prompt) + job.answer for job in jobs) / len(jobs)
print(f"{len(jobs)} requests, mean length {length:.0f} tokens; ", end="")
print(f"reserve-max has {8192 // 1024} strips")

# %%
asked, runs, wrote = question("6.4"), {}, {}
for size in sorted({1024, 256, asked["large"], 32, asked["small"], 16, 4, 1}, reverse=True):
    llm, wrote[size] = served(size)
    m = runs[size] = llm.metrics
    print(f"blocks of {size:4}: {m.waste:6.1%} empty, ", end="")
    print(f"{m.held_tokens / m.seat_steps:.0f} tokens a request")
print("same tokens written with every block size:", all(w == wrote[1] for w in wrote.values()))
waste = {size: m.waste for size, m in runs.items() if size > 1}
measured("6.4", [waste[n] for n in (1024, asked["large"], asked["small"])], "of the slots")
show.lines(list(waste), {"empty": list(waste.values())}, xlabel="P", ylabel="share", log="xy")

# %% [markdown] id="06-waste-caption"
# *Picture: share of empty slots over the block size P, both axes logarithmic. A straight line of
# slope 1, until one block is enough for a whole text.*
#
# - Reserve-max wastes 61% of what it holds here, blocks of 16 1.9%. The article says 60 to 80%, and
#   under 4%. It depends on the lengths. The nearer the texts come to the limit, the less
#   reserve-max wastes; with texts of 20 tokens, blocks of 16 would be a quarter empty.
# - A request holds more than the mean length of the texts: the mean here is over all steps, and a
#   long text is there for more steps. (Each is counted while it grows, which pulls the other way.)
# - On average half a block of each request is empty: (P - 1) / 2 slots.
# - The tokens do not change. Paging is exact.
#
# Why not always P = 1? The table gets 16 times longer, and a GPU likes to read several neighbours
# at once. vLLM's default on GPUs is 16.
#
# ## 4. The allocator
#
# Blocks come from a **free list** and go back to it. That sounds like five lines. But a mistake in
# them shows much later, and somewhere else.

# %%
from minillm.cache.blocks import BlockManager

blocks = BlockManager(num_blocks=8, block_size=4, prefix_caching=False)
for name, tokens in (("A", 6), ("B", 9)):
    blocks.match(name, [])  # a new request
    blocks.grow(name, 0, tokens)  # room for its tokens 0 .. tokens - 1
    print(f"{name} holds {tokens} tokens in {blocks.table(name)}")
blocks.grow("A", 6, 10)
print("A goes on to 10 tokens:", blocks.table("A"))
blocks.release("B")
print("B ends; free, next first:", list(blocks.free))
blocks.match("C", [])
blocks.grow("C", 0, 16)
print("C needs 4 blocks:", blocks.table("C"))
blocks.check()

# %% [markdown] id="06-allocator-ex"
# `grow` returns None and changes nothing when the pool cannot give that much. (What the engine does
# then is chapter 07.) Write the free list yourself.

# %% exercise 6.1

# %% [markdown] id="06-hunt"
# Such a list is easy to spoil. The next one is from a server whose users complain.

# %% exercise 6.8

# %% [markdown] id="06-double"
# One way to spoil it is to free a block twice. Say, a request ends, and in the same moment its user
# closes the window: two paths of the program free the same table.

# %%
free = [0, 1, 2]
table_of_a = [free.pop()]
free += table_of_a  # it ended
free += table_of_a  # and it was aborted
table_of_b, table_of_c = [free.pop()], [free.pop()]
print("B has", table_of_b, "and C has", table_of_c, "- free:", free)

# %% [markdown] id="06-double-meaning"
# B and C write into the same block. Each goes on with the words of the other. Nothing crashes: the
# numbers are all valid.
#
# The cure is a `check()` that runs after every step of every test. Ours asserts: every block is
# free, or held as often as `refs` says; never both. Does it catch the fault above? Our free list
# is a dict, so no block can stand in it twice, and `release` looks first:

# %%
blocks = BlockManager(num_blocks=4, block_size=4, prefix_caching=False)
for name, tokens in (("A", 6), ("Z", 1)):
    blocks.match(name, [])
    blocks.grow(name, 0, tokens)
blocks.release("Z")
spoils = {
    "a table freed twice": lambda: blocks.release("Z"),
    "a lost block": lambda: blocks.free.popitem(),
    "a block freed while in use": lambda: blocks.free.update({blocks.table("A")[0]: None}),
}
for what, spoil in spoils.items():
    try:
        spoil()
        blocks.check()
    except AssertionError as error:
        print(f"{what}: {error}")

# %% [markdown] id="06-check-ex"
# Write such a check. It is run on eight allocators with a planted fault each, and on sound ones.

# %% exercise 6.10

# %% [markdown] id="06-slots"
# ## 5. Attention through a table
#
# The pool is one long row of slots. Token p of a request lies in block `table[p // P]`, at place
# `p % P`. So its slot is `table[p // P] * P + p % P`. A step writes its new keys and values to
# these slots.

# %%
P, table = 4, [5, 0, 3]
print("token:", *(f"{p:3}" for p in range(10)))
print("block:", *(f"{table[p // P]:3}" for p in range(10)))
print("slot: ", *(f"{table[p // P] * P + p % P:3}" for p in range(10)))

# %% exercise 6.3

# %% [markdown] id="06-gather"
# Reading goes the other way: collect the slots of a request into one tensor, then attend as always.
# This is the **gather** form. Softmax and sums do not care where in memory a row was.
#
# We fill a strip and a pool with the same keys and values. All other slots of the pool are NaN.

# %%
import torch.nn.functional as F

L, G, K = 10, 2, 32
k, v = torch.randn(2, L, G, K, device=device)
q = torch.randn(8, K, device=device)
pool = torch.full((2, 6 * P, G, K), torch.nan, device=device)  # 6 blocks
slots = torch.tensor([table[p // P] * P + p % P for p in range(L)], device=device)
pool[:, slots] = torch.stack([k, v])


def attend(q, k, v):
    k, v = (x.transpose(0, 1).repeat_interleave(len(q) // G, 0) for x in (k, v))
    return F.scaled_dot_product_attention(q[:, None], k, v)[:, 0]


gathered = attend(q, *pool[:, slots])
print(f"strip against gathered blocks: {(attend(q, k, v) - gathered).abs().max():.1e} apart")

# %% exercise 6.5

# %% [markdown] id="06-tail"
# ### The tail of a page
#
# Requests have different lengths, and a GPU wants one operation for all. So one gathers whole
# blocks, and masks the places behind the end: score -inf, weight 0. Is that enough?

# %%
whole = pool[:, torch.tensor(table, device=device)[:, None] * P + torch.arange(P, device=device)]
k_all, v_all = whole.flatten(1, 2).transpose(1, 2).repeat_interleave(4, 1)  # 12 places, 10 tokens
scores = (k_all @ q[:, :, None])[..., 0] * K**-0.5
scores[:, L:] = -torch.inf
probs = scores.softmax(-1)
print("weights behind the end:", probs[0, L:].tolist())
print("result:", (probs[:, None] @ v_all)[0, 0, :3].tolist())

# %% [markdown] id="06-tail-meaning"
# The weight is 0, and 0 × NaN is NaN. On a fresh pool of zeros nobody sees this. Hours later a slot
# holds what an earlier request left there. This is why our tests fill the pool with NaN first.

# %% exercise 6.9

# %%
v_all[:, L:] = 0  # replaced, not multiplied
print(f"values there replaced by 0: {((probs[:, None] @ v_all)[:, 0] - gathered).abs().max():.1e}")

# %% [markdown] id="06-merge"
# ### Two workers, one softmax
#
# A GPU has about a hundred processors. One long request should keep all of them busy, so its blocks
# are shared out. But softmax needs the sum over *all* scores. **Online softmax** solves it: each
# worker keeps its largest score, its sum, and its weighted values. Two such triples can be merged.

# %%
scores, values = torch.tensor([2.0, 1.0, 5.0, 3.0]), torch.tensor([1.0, 2.0, 3.0, 4.0])
triples = []
for half in (slice(0, 2), slice(2, 4)):
    e = torch.exp(scores[half] - scores[half].max())
    triples.append((float(scores[half].max()), float(e.sum()), float((e * values[half]).sum())))
    print("max {:.0f}, sum {:.4f}, acc {:.4f}".format(*triples[-1]))
print(f"the whole: {(scores.softmax(0) * values).sum():.4f}")
print(
    f"adding the halves as they are: {sum(t[2] for t in triples) / sum(t[1] for t in triples):.4f}"
)

# %% [markdown] id="06-merge-ex"
# The two sums were made with different maxima: one of 2, one of 5. Bring them to the same one
# first.

# %% exercise 6.6

# %% [markdown] id="06-kernel"
# The next exercise is the loop of a real kernel: it walks through the block table and merges block
# by block. It is not on the evening path. If Triton is new to you, do appendix A1 first.

# %% exercise 6.7

# %% [markdown] id="06-faster"
# ## 6. Does it make attention faster?
#
# "PagedAttention makes attention faster." Let us see: the same batch of requests, the same tokens.
# Once each request has its strip, once its blocks lie all over the pool. We measure writing and
# attending of one layer, in pairs one right after the other.

# %%
from minillm.cache.paged import Batch, slots_of

S, longest = (4, 128) if FAST else (16, 1024)
shape = dict(width=512, num_heads=8, num_kv_heads=2, head_size=64)
c = ModelConfig(family="llama", **sizes | shape)
lengths = [draw.randrange(longest // 4, longest) for _ in range(S - 1)] + [longest]
need = [-(-n // 16) for n in lengths]
order = draw.sample(range(sum(need)), sum(need))  # a pool that has been used for a while
tables = [[order.pop() for _ in range(n)] for n in need]
table_SM = torch.tensor([t + t[:1] * (max(need) - len(t)) for t in tables], device=device)
len_S = torch.tensor(lengths, device=device)

# %%
cache = PagedCache(c, sum(need), 16, device=device)
strips = torch.zeros(2, S, longest, 2, 64, device=device)
for request, n in enumerate(lengths):  # the same keys and values in both
    k, v = torch.randn(2, n, 2, 64, device=device)
    cache.write(0, slots_of(table_SM[request], n, 16), k, v)
    strips[0, request, :n], strips[1, request, :n] = k, v
last = [int(slots_of(row, n, 16)[-1]) for row, n in zip(table_SM, lengths)]
batch = Batch(torch.tensor(last, device=device), table_SM, len_S, (1,) * S, S)
behind = torch.arange(longest, device=device) >= len_S[:, None]
mask = torch.zeros(S, 1, 1, longest, device=device).masked_fill(behind[:, None, None], -torch.inf)

# %%
q, (k, v) = torch.randn(S, 8, 64, device=device), torch.randn(2, S, 2, 64, device=device)
rows, view = (torch.arange(S, device=device), len_S - 1), cache.at(batch)


def in_strips():
    strips[0][rows], strips[1][rows] = k, v
    keys, values = strips.transpose(2, 3)
    return F.scaled_dot_product_attention(q.view(S, 2, 4, 64), keys, values, attn_mask=mask)


in_blocks = lambda: view.attend(0, q, k, v)
gap = (in_strips().reshape(S, 8, 64) - in_blocks()).abs().max()
print(f"{S} requests of {min(lengths)} to {longest} tokens; results {gap:.1e} apart")

# %%
import time

from minillm.bench_stats import summary

finish = torch.cuda.synchronize if device.type == "cuda" else (lambda: None)


def ms(work, tries=5):
    finish()
    start = time.perf_counter()
    for _ in range(tries):
        work()
    finish()
    return 1e3 * (time.perf_counter() - start) / tries


# %%
ms(in_strips)  # warm up
ms(in_blocks)
pairs = [(ms(in_strips), ms(in_blocks)) for _ in range(3 if FAST else 21)]
held = sum(lengths) * c.kv_bytes_per_token(4) / c.num_layers
for name, column in (("strips", 0), ("blocks", 1)):
    middle = sorted(pair[column] for pair in pairs)[len(pairs) // 2]
    print(f"{name}: {middle:6.2f} ms; bound {1e3 * held / read:.2f} ms", end="")
    print(f" (reading {held / 1e6:.1f} MB once)")
ratio = summary([blocks / strips for strips, blocks in pairs])
found = "{median:.2f} [95%: {low:.2f} to {high:.2f}]".format(**ratio) if not FAST else "no ratio"
print("blocks / strips:", found + (" in fast mode" if FAST else ""))

# %% [markdown] id="06-faster-meaning"
# Not faster. On a CPU the gather form copies all keys and values before it attends, so it must be
# slower. A GPU kernel reads through the table and copies nothing; it still reads the same bytes,
# and the table on top. (The authors of vLLM measured their attention kernel 20 to 26% *slower* than
# one on contiguous memory: Kwon et al. 2023, section 7.1. Ours has not been measured on a GPU yet.)
#
# ### Then what is it good for?
#
# For the batch that only paging can hold. Same bytes, same requests, same engine: only the block
# size differs.

# %%
for size, name in ((1024, "reserve-max"), (16, "blocks of 16")):  # the runs of section 3
    m = runs[size]
    print(f"{name:13} {m.steps:4} steps, {m.seat_steps / m.steps:4.1f} requests in a step,", end="")
    print(f" {m.waste:.1%} empty, {m.preemptions} preemptions,", end="")
    print(f" same tokens: {wrote[size] == wrote[1]}")

# %% [markdown] id="06-paper-intro"
# (Preemption: a request lost its blocks and began again later, see chapter 07.) Fewer steps for the
# same tokens, and a step of a large model costs nearly the same with more requests in it (chapter
# 05). How much is that worth on a large model? We ask the paper GPU: 16 GB, Llama-3-8B with one
# byte a weight, keys and values in 16 bit. (A calculation by the course's clock, not a measured
# device.)

# %%
from minillm.clock import PAPER_GPU
from minillm.engine.on_paper import PaperJob, serve_on_paper

large = models["Llama-3-8B"]
room = int((PAPER_GPU.memory - num_parameters(large)) / large.kv_bytes_per_token(2))
many = [PaperJob(0.0, len(job.prompt), job.answer) for job in waste_trace(256, 32 if FAST else 256)]
print(f"room for {room:,} tokens beside the weights; texts of at most {large.max_len:,}")

# %%
per_second = {}
for name, size in (("reserve-max", large.max_len), ("blocks of 16", 16)):
    config = EngineConfig(size, room // size, max_num_seqs=256, prefix_caching=False)
    times = serve_on_paper(large, many, config, weight_bytes=1)
    end = max(t.finished for t in times)
    per_second[name] = sum(job.answer for job in many) / end
    print(f"{name:13} {room // size:5} blocks, all done after {end:6.1f} s (paper)", end="")
    print(f", {per_second[name]:6.0f} tokens/s")
show.bars(per_second, "tokens/s (paper GPU)")

# %% [markdown] id="06-paper-caption"
# *Picture: tokens written in a second of the paper GPU, all requests together. Same memory, same
# requests.*
#
# Reserve-max keeps 8,192 tokens for texts of at most 700 or so. With a limit of 1,024 it would hold
# more of them, and the gain would be smaller.
#
# So the sentence should be: *PagedAttention makes the batch larger, and the larger batch makes the
# server faster.* One user alone notices nothing.
#
# ### And long context?
#
# "Long context needs paging." One request, its length known: a strip of exactly that many tokens
# against blocks of 16.

# %%
from minillm.cache.simple import StripCache

for n in (100, 1000, 8000):
    strip = StripCache(large, n, torch.float16, device="meta").kv.nbytes
    paged = PagedCache(large, -(-n // 16), 16, torch.float16, device="meta").nbytes
    more = (paged - strip) / large.kv_bytes_per_token(2)
    print(f"{n:5} tokens: strip {strip / 1e6:8.1f} MB, blocks {paged / 1e6:8.1f} MB", end="")
    print(f" ({more:.0f} slots more)")

# %% [markdown] id="06-long-meaning"
# Equal within one block. A long text needs its bytes, wherever they lie. What makes them fewer is
# something else: fewer KV heads (GQA), fewer bits (int8 K/V, chapter 09), a window (chapter 04).
# Paging helps when *many* requests of *unknown* length share the memory.
#
# ## 7. Sharing
#
# A block table has a second gift. Two tables may name the **same** block. We ask `tiny` for four
# samples of one prompt (`n=4`). Their prompt is the same, so are its keys and values.

# %%
prompt = "Once upon a time there was a small dragon who lived behind the old mill near the river. "
prompt += "Every morning it flew over the fields to see whether the farmer was awake"
four = SamplingParams(max_tokens=40, temperature=1.0, seed=3, n=4, ignore_eos=True)


def samples(steps):
    llm = LLM(model, tokenizer, EngineConfig(block_size=16, num_blocks=16, max_num_seqs=4))
    llm.add(prompt, four)
    for _ in range(steps):
        llm.step()
    return llm


show.widget(lambda steps: show.pool_map(show.blocks_of(samples(steps))), (1, 2, 30), "step")

# %% [markdown] id="06-share-caption"
# *Picture: 16 blocks of 16 slots after 1, 2 and 30 steps. Stripes and a digit: so many requests
# share this block. Then each writes into blocks of its own.*
#
# Each block has a **reference count**: how many tables name it. It is free when the count is 0. The
# last block of the prompt is only partly full, and each sample wants to write its own next token
# there. So it is copied at that moment, for whoever writes: **copy on write**. The last one to
# write may keep the original.

# %%
llm = samples(30)
table_blocks = [llm.blocks.table(r.id) for r in llm.scheduler.running]
total, distinct = sum(map(len, table_blocks)), len({b for t in table_blocks for b in t})
shared = {b for b in table_blocks[0] if all(b in t for t in table_blocks)}
print(f"four tables name {total} blocks, {distinct} different ones; {len(shared)} shared by all")
print("reference counts:", llm.blocks.refs)
llm.check()

# %% exercise 6.2

# %% [markdown] id="06-scoreboard"
# ## 8. The scoreboard
#
# Workload W on a model of 100 MB, 128 MB for weights and cache together. The row of chapter 05
# reserves a strip for each seat. This chapter's row has the same bytes in blocks of 16.

# %%
from minillm import scoreboard

row = scoreboard.run("PagedAttention")
scoreboard.table([row])

# %% [markdown] id="06-calibration"
# *Table: MB is weights and cache together. TTFT is the time to the first token, the median over all
# requests. Grey rows were recorded on the machine that is named below.*
#
# ## Predicted and measured
#
# All your predictions so far. On the line the guess was right; in the pale band it was within a
# factor of 2.

# %%
from exercises.notebook import calibration

mine = calibration()
show.calibration_plot(mine) if mine else "no guess measured yet: answer a [predict] exercise first"

# %% [markdown] id="06-takeaway"
# ## Takeaway
#
# | | with PagedAttention |
# |---|---|
# | **bytes stored** | the tokens, and half a block a request; not the longest text for everybody |
# | **bytes moved** | the same K and V, and a small table |
# | **arithmetic** | the same |
# | **waiting** | less in the queue: more requests have a place |
#
# **Exact:** the same tokens with every block size.
#
# **Where this loses.** One user, or a few with known lengths: nothing to gain, and attention
# through a table is slower (section 6: our gather form copies, and vLLM's kernel lost 20 to 26%).
# Very short texts: half a block is much of them. Where the batch is limited by something else
# (arithmetic, a latency target), free memory does not help. And there is an allocator to get right:
# your `check()` is part of the price.
#
# ## The same thing in vLLM
#
# | here | vLLM |
# |---|---|
# | `block_size` | `--block-size` (16) |
# | `num_blocks=None` | `--gpu-memory-utilization` (log: "GPU KV cache size") |
# | `BlockManager`, `check()` | `KVCacheManager`, `BlockPool` |
# | `block_table_SM`, `slots_T` | `block_table`, `slot_mapping` |
# | `metrics.waste` | `vllm:kv_cache_usage_perc` (of the pool; it has no waste) |
#
# **Next:** [07 · How does a real engine schedule?](07_how_does_a_real_engine_schedule.ipynb) What
# if the pool is full in the middle of a text? What if a thousand users share the same beginning?
