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

# %% [markdown] id="03-title"
# # 03 · How does it write text?
#
# **After this notebook** you can turn scores into text: choose a token, stream it without broken
# characters, and stop at the right place. You can measure with one number how well a model knows a
# text. You know what the loop costs.
#
# **Time:** 40 minutes to read and run, 45 for the evening exercises (**3.2**, **3.3**, **3.6**), 60
# for the others. **Hardware:** any laptop; no GPU needed.

# %% bootstrap

# %% [markdown] id="03-test-out"
# ## Test out
#
# Do you know all this? Solve the three evening exercises: **3.2**, **3.3** and **3.6**. They stand
# below, each in its section. If all three are right, go on to section 8, which counts what the loop
# costs.

# %%
import math
import os
import random

import torch

import minillm
from minillm import SamplingParams, corpus, generate, show, stream_text

FAST = os.environ.get("MINILLM_FAST") == "1"  # the tests run this notebook with small sizes
model, tokenizer = minillm.load("tiny")
device = model.embedding.weight.device


# %% [markdown] id="03-r1-idea"
# ## 1. One token, then again
#
# The model reads tokens and gives logits: for each position a score for every token that could come
# next. To write, we need only the last row. Greedy takes the largest score. The new token goes to
# the end of the text, and the model reads everything again. That is the whole loop.


# %%
@torch.inference_mode()
def logits_of(tokens):
    """One row of scores for each token, on the CPU: [T, V]."""
    return model(torch.tensor(tokens, device=device)).float().cpu()


prompt = tokenizer.encode("Once upon a time")
logits_TV = logits_of(prompt)
print(f"{len(prompt)} tokens in, logits of shape {list(logits_TV.shape)} out")
for token, row_V in zip(prompt, logits_TV):
    next_text = tokenizer.decode([int(row_V.argmax())])
    print(f"after {tokenizer.decode([token], skip_special=False)!r:>10}: best is {next_text!r}")

# %% [markdown] id="03-r1-rows"
# Every row makes a guess. All rows but the last guess a token that the prompt already has. They are
# not wasted: section 4 uses them to judge the model.
#
# Now the loop, in words. Read all tokens. Take the best of the last row. If it ends the text, stop;
# if not, put it at the end, and begin again. **Exercise 3.1**: write it. The model is a plain
# function there. Our loop stands behind it.
#
# Not right, and no idea why? In a terminal, one after another: `python -m exercises explain 3.1`
# (the smallest input that fails), `trace 3.1` (the first variable that differs), `hint 3.1`,
# `solution 3.1`. Or `park 3.1` for later.

# %% exercise 3.1

# %%
tokens = list(prompt)
for _ in range(30):
    best = int(logits_of(tokens)[-1].argmax())
    if best in model.config.eos_token_ids:
        break
    tokens.append(best)
print(tokenizer.decode(tokens))
package = generate(model, prompt, SamplingParams(max_tokens=30))
print("the package writes the same:", tokens[len(prompt) :] == package)

# %% [markdown] id="03-r2-idea"
# ## 2. Temperature and chance
#
# `softmax` turns logits into **probabilities**. We can draw the token by chance instead of taking
# the best. The **temperature** divides the logits first. Below 1 the large ones win more often,
# above 1 all become more equal. At 0 we do not divide: 0 means greedy.
#
# How does a text begin? The model has seen only the begin-of-text token, and likes several tokens.

# %%
tales = [item.answer for item in corpus.test_items("tales", 24, seed=3)]
tale = next(text for text in tales if text.isascii())  # the first English one
tale_tokens = tokenizer.encode(tale)
tale_logits_TV = logits_of(tale_tokens)
logits_V = tale_logits_TV[0]  # what comes after begin-of-text
likeliest = logits_V.topk(5).indices.tolist()


def five(probs_V):
    """The same five tokens in every picture, with their probabilities."""
    return [(tokenizer.decode([i]), float(probs_V[i])) for i in likeliest]


# %%
temperatures = (0.5, 1.0, 3.0)
panels = [five((logits_V / t).softmax(-1)) for t in temperatures]
for t in temperatures:
    outside = 1 - float((logits_V / t).softmax(-1)[likeliest].sum())
    print(f"T = {t}: all other tokens together have {outside:.1%}")
show.next_token_bars(panels, [f"T={t}" for t in temperatures])

# %% [markdown] id="03-r2-caption"
# *Picture: the five likeliest first tokens at temperature 0.5, 1 and 3. The scores are the same. A
# high temperature gives a share to tokens that the model thinks are nearly impossible. A code like
# U+AC00 is a character of another script; U+FFFD is a part of a character (section 6).*
#
# How does a computer draw by chance? Put the probabilities one after another on a line from 0 to 1.
# Draw one number `u` on that line, and take the token it falls on. The **seed** fixes the numbers:
# the same seed gives the same text. Each request has its own random generator, so neighbours in a
# batch do not disturb it.

# %%
from minillm.sampling import Sampler

generator = torch.Generator().manual_seed(1)
u = torch.rand(1, generator=generator, dtype=torch.float64)
line_V = logits_V.double().softmax(-1).cumsum(-1)  # where each token's piece ends
mine = int(torch.searchsorted(line_V, u, right=True))
package = Sampler(SamplingParams(temperature=1.0, seed=1), prompt).pick(logits_V)
print(f"u = {float(u):.4f} falls on {tokenizer.decode([mine])!r}; the package: {package == mine}")
for seed in (1, 1, 2, 3):
    written = generate(model, prompt, SamplingParams(max_tokens=26, temperature=1.0, seed=seed))
    print(f"seed {seed}: ...{tokenizer.decode(written)}")

# %% [markdown] id="03-r3-idea"
# ## 3. Cutting off the tail
#
# A thousand unlikely tokens are together not so unlikely, and one of them can spoil a text. So we
# drop the tail before we draw. **top-k** keeps the `k` likeliest. **top-p** keeps the fewest tokens
# that hold the probability `p` together. **min-p** drops what is below a share of the best.

# %%
from minillm.sampling import filter_logits

settings = {
    "all": SamplingParams(temperature=1.0),
    "top_k=3": SamplingParams(temperature=1.0, top_k=3),
    "top_p=0.4": SamplingParams(temperature=1.0, top_p=0.4),
}
panels = [five(filter_logits(logits_V, s).softmax(-1)) for s in settings.values()]
show.next_token_bars(panels, list(settings))

# %% [markdown] id="03-r3-caption"
# *Picture: the first token again, at temperature 1. Left: nothing dropped. Middle: the three
# likeliest are left. Right: as many as needed for 40% of the chance. What is left is divided by its
# sum, so that it sums to 100% again.*
#
# **Before you run the next cell, guess:** at which place does top-p keep more tokens: where the
# model is sure, or where it is free? And top-k?

# %%
rules = {"top_k=4": {"top_k": 4}, "top_p=0.9": {"top_p": 0.9}, "min_p=0.1": {"min_p": 0.1}}


def kept(logits_V, temperature, rule):
    params = SamplingParams(temperature=temperature, **rule)
    return int(filter_logits(logits_V, params).isfinite().sum())


best_T = tale_logits_TV.softmax(-1).max(-1).values
print(f"tokens kept of {tokenizer.vocab_size}:   ", *(f"{name:>10}" for name in rules))
for name, place in {"start": 0, "free": best_T.argmin(), "sure": best_T.argmax()}.items():
    counts = [kept(tale_logits_TV[place], 1.0, rule) for rule in rules.values()]
    print(f"{name:>6} (best: {best_T[place]:6.1%})   ", *(f"{count:>10}" for count in counts))

# %% [markdown] id="03-r3-why"
# top-k always keeps the same number. Where the model is sure, that is too many; where many words
# are good, it may be too few. top-p and min-p follow the model. The order matters: ours is
# temperature, top-k, top-p, min-p.
#
# **Exercise 3.2** (evening path). Write temperature, top-k and top-p.

# %% exercise 3.2

# %% [markdown] id="03-r3-penalties"
# **Penalties** lower the scores of tokens that were used before.
#
# | name | what it does | counts |
# |---|---|---|
# | `repetition_penalty` | divides a positive logit, multiplies a negative one | prompt and answer |
# | `presence_penalty` | subtracts once from every token used | answer |
# | `frequency_penalty` | subtracts once for each use | answer |
#
# They help against loops. The end of this notebook shows what they break.

# %% [markdown] id="03-r4-idea"
# ## 4. The ruler of this course
#
# How well does a model know a text? Let it read the text, and look at the probability that it gave
# to each token that really came. **Perplexity** is `exp(mean of -log p)`: the model hesitates as if
# it chose among so many equal tokens. 1 is perfect. A model that knows nothing gets the vocabulary
# size.
#
# The shift: row `t` scores token `t + 1`.


# %%
from minillm.compress import evaluate

words = tale.split()
rng = random.Random(1)
rng.shuffle(words)
noise = [rng.randrange(1, tokenizer.vocab_size) for _ in tale_tokens]
texts = {
    "the tale": tale_tokens,
    "its words, shuffled": tokenizer.encode(" ".join(words)),
    "random tokens": noise,
}
for name, ids in texts.items():
    print(f"{name:<20} {evaluate.perplexity(model, ids):>16,.2f}")
print(f"knowing nothing would be {tokenizer.vocab_size:>12,}")

# %% [markdown] id="03-r4-worse"
# Shuffled words are far worse than knowing nothing. The model is sure of what comes next, and it is
# wrong each time. Being sure and wrong costs most.
#
# **Exercise 3.3** (evening path). Write the ruler. Chapters 08 to 13 use it. Our lines stand behind
# it, and show where in the tale the model hesitates.

# %% exercise 3.3


# %%
def my_perplexity(logits_TV, tokens):
    logprobs_TV = logits_TV[:-1].log_softmax(-1)  # the last row has no next token
    next_T = torch.tensor(tokens[1:])  # the first token is never scored
    nll_T = -logprobs_TV.gather(1, next_T[:, None])[:, 0]
    return float(nll_T.mean().exp()), nll_T


mine, nll_T = my_perplexity(tale_logits_TV, tale_tokens)
print(f"an unseen tale: {mine:.4f}; the package says {evaluate.perplexity(model, tale_tokens):.4f}")
same_for_all = torch.zeros(len(tale_tokens), tokenizer.vocab_size)
print(f"equal scores for all: {my_perplexity(same_for_all, tale_tokens)[0]:,.2f}")

# %%
from minillm.show.canvas import PALETTE, new_figure

count = 44
choices = nll_T[:count].exp().tolist()
figure, (axis,) = new_figure(width=8, height=2.8)
axis.bar(range(count), choices, color=[PALETTE["orange" if c > 3 else "blue"] for c in choices])
axis.axhline(mine, color=PALETTE["black"], linewidth=0.8, linestyle="--")
axis.set(yscale="log", ylim=(0.8, 100), ylabel="1 / p")
labels = [show.visible(tokenizer.decode([t])) for t in tale_tokens[1 : count + 1]]
axis.set_xticks(range(count), labels, rotation=90, family="monospace")
high = [label for label, c in zip(labels, choices) if c > 3]
show.Picture(figure, f"1/p of {count} tokens, perplexity {mine:.2f}; above 3: {', '.join(high)}")

# %% [markdown] id="03-r4-caption"
# *Picture: 1/p of the first tokens of the tale, on a log axis; above 3 in orange. The dashed line
# is the perplexity: the geometric mean of all bars of the tale. High bars stand where the tale
# could go on in many ways: the hero, the place, the thing. The rest is nearly certain.*
#
# ### The shift, done wrong
#
# The most common mistake in a perplexity is the shift. **Guess before you run:** a good model with
# a wrong shift, does it look better or worse than one that knows nothing?

# %%
ids_T = torch.tensor(tale_tokens)
logprobs_TV = tale_logits_TV.log_softmax(-1)
for shift in (0, 1, 2):
    rows = len(tale_tokens) - shift
    nll = -logprobs_TV[:rows].gather(1, ids_T[shift:, None]).mean()
    print(f"row t scored with token t+{shift}: {float(nll.exp()):>16,.2f}")
print(f"a model that knows nothing:    {tokenizer.vocab_size:>16,.2f}")

# %% [markdown] id="03-r4-mistake"
# When a perplexity is above the vocabulary size, look for a mistake first.

# %% [markdown] id="03-r5-idea"
# ## 5. What is a token?
#
# A computer stores text as **bytes**. In **UTF-8** an English letter is 1 byte, a Korean syllable 3
# bytes, an emoji 4. A **tokenizer** like ours starts with the 256 bytes. It joins pairs that often
# stand side by side in its training text, again and again, until its vocabulary is full.

# %%
# The tokenizer's file writes each byte as one letter that can be seen. This table turns it back.
plain = [b for b in range(256) if 33 <= b <= 126 or 161 <= b <= 172 or b >= 174]
others = [b for b in range(256) if b not in plain]
byte_of = {chr(b): b for b in plain} | {chr(256 + i): b for i, b in enumerate(others)}


def bytes_of(token):
    return bytes(byte_of[letter] for letter in tokenizer.backend.id_to_token(token))


for text in ("the golden key", "the golden keyboard", "금색 열쇠를", "별"):
    ids = tokenizer.encode(text, add_special=False)
    parts = [bytes_of(i) for i in ids]
    print(
        f"{len(text):>3} characters, {len(text.encode()):>3} bytes, {len(ids):>2} tokens: {parts}"
    )

# %% [markdown] id="03-r5-seen"
# Words of the training text are one token, in Korean too. Other words fall into small parts. The
# last syllable, a star, was never joined to one token: its bytes are spread over several.
#
# So the number of tokens depends on what the tokenizer has seen. Tokens are what you wait for and
# pay for. We count on everyday sentences, which are not like `tiny`'s tales.

# %%
from exercises.ch03_sampling import sentences

print("bytes held by one token     English   Korean")
for name, counts in (("tiny", sentences.tiny_counts), ("Gemma 3", sentences.gemma_counts)):
    held = [sentences.bytes_per_token(lang, counts(lang)) for lang in ("english", "korean")]
    print(f"{name:<26} {held[0]:>8.1f} {held[1]:>8.1f}")
own = tale, next(t for t in tales if not t.isascii())
held = [len(t.encode()) / len(tokenizer.encode(t, add_special=False)) for t in own]
print(f"{'tiny, on its own tales':<26} {held[0]:>8.1f} {held[1]:>8.1f}")

# %% [markdown] id="03-r5-exercise"
# Gemma's counts are recorded, so that you need not download it. The command `python -m
# exercises.ch03_sampling.sentences` counts them again (with the extra `gemma`).
#
# **Exercise 3.6** (evening path). Predict how many tokens one sentence is. Write your numbers
# before you run the cell after it.

# %% exercise 3.6

# %%
from exercises.notebook import measured, question

asked = question("3.6")
place = sentences.texts("english").index(asked["english"])
counted = {
    f"{name}_{language}": counts(language)[place]
    for name, counts in (("tiny", sentences.tiny_counts), ("gemma", sentences.gemma_counts))
    for language in ("english", "korean")
}
measured("3.6", counted, "tokens")

# %% [markdown] id="03-r5-result"
# The rule of bytes per token is an average. How far is it from one sentence?
#
# And a warning: perplexity is per token, so with another tokenizer it is another ruler. To compare
# models with different tokenizers, divide by bytes.

# %%
for name, counts in (("tiny", sentences.tiny_counts), ("Gemma 3", sentences.gemma_counts)):
    for lang in ("english", "korean"):
        rate = sentences.bytes_per_token(lang, counts(lang))
        pairs = zip(sentences.texts(lang), counts(lang))
        ratios = sorted(len(text.encode()) / rate / count for text, count in pairs)
        print(f"{name:<8} {lang}: rule / count from {ratios[0]:.2f} to {ratios[-1]:.2f}")
for text in own:
    ids = tokenizer.encode(text)
    bits = math.log2(evaluate.perplexity(model, ids)) * (len(ids) - 1)
    print(f"{bits / (len(ids) - 1):.3f} bits a token, {bits / len(text.encode()):.3f} a byte")

# %% [markdown] id="03-r6-idea"
# ## 6. Half a character
#
# Users want to see text while it is written: a **stream**. But a token may end inside a character.
# Decode it at once, and the reader sees � (U+FFFD, "no character"). What has been shown cannot be
# taken back. So the decoder waits until the character is complete.

# %%
from minillm.tokenizer import StreamDecoder

decoder = StreamDecoder(tokenizer)
print(f"{'bytes of the token':<20} {'decoded alone':<16} streamed")
for token in tokenizer.encode("달과 별🌙", add_special=False):
    alone, streamed = tokenizer.decode([token]), decoder.push(token)
    print(f"{bytes_of(token).hex(' '):<20} {alone!r:<16} {streamed!r}")
print("at the end:", repr(decoder.finish()))

# %% [markdown] id="03-r6-stream"
# The first byte of a character says how long it is: ED promises three bytes, F0 four. The decoder
# holds back at most three bytes, so the reader waits a few tokens at most.
#
# Now a Korean answer, streamed. "옛날 옛적에" means "long, long ago".
#
# After it, **exercise 3.4**: write the decoder that waits. It works on bytes alone.

# %%
prompt_text = "옛날 옛적에"
params = SamplingParams(max_tokens=120, temperature=0.7, seed=4)
print(prompt_text, end="")
for piece in stream_text(model, tokenizer, prompt_text, params):
    print(piece, end="", flush=True)

# %% exercise 3.4

# %% [markdown] id="03-r7-idea"
# ## 7. Where does a text end?
#
# Three things end an answer: `max_tokens`, a token that means "end", or a **stop string** from the
# user. Stop strings know nothing of tokens: one may begin in the middle of a token and end in
# another. As with half characters, the stream must hold back what may still become the stop string.

# %%
written = generate(model, prompt, SamplingParams(max_tokens=40))
text = tokenizer.decode(written)
stop = text[41:57]  # begins and ends where no token does, very likely
alone = [tokenizer.decode([token]) for token in written]
print("stop string:", repr(stop))
print("in the text:", stop in text, "| inside one token:", any(stop in piece for piece in alone))
decoder = StreamDecoder(tokenizer, stop=stop)
shown = [decoder.push(token) for token in written]
print(" ".join(repr(piece) for piece in shown[:18]))
print("stopped:", decoder.stopped, "| shown:", repr(decoder.text[-24:]))

# %% [markdown] id="03-r7-look"
# Look at the list: each piece is one token. `''` means that it is held back. After the stop string
# nothing is shown any more.
#
# **Exercise 3.5.** Hold back what may be the beginning of a stop string, and nothing more.

# %% exercise 3.5

# %% [markdown] id="03-r7-ends"
# A model may have several **end-of-text tokens**. Gemma 3 has two: one ends a document, the other a
# turn in a chat. Llama 3.1's chat models name three. They stand in three files, and all of them
# count.
#
# `tiny` has one. Let us see what happens when nobody looks at it. Then, **exercise 3.7**: users
# complain about an engine. Find its fault.

# %%
print("end ids of tiny:", model.config.eos_token_ids)
until_end = generate(model, prompt, SamplingParams(max_tokens=120))
going_on = generate(model, prompt, SamplingParams(max_tokens=120, ignore_eos=True))
print(f"with the end token: {len(until_end)} tokens, without: {len(going_on)}")
print("the same up to there:", going_on[: len(until_end)] == until_end)
print("and then:", repr(tokenizer.decode(going_on[len(until_end) :], skip_special=False)[:90]))

# %% exercise 3.7

# %% [markdown] id="03-r8-idea"
# Real engines had such faults. One that misses a single end token writes on after the answer is
# finished.
#
# ## 8. What does the loop cost?
#
# One token at a time, and the whole model each time. Let us count both. We hang a counter on every
# matrix of `tiny`: each time it is used, all its bytes are read.
#
# **Predict:** the prompt has 5 tokens, and we write 40. How many tokens does the model read?

# %%
from minillm.cache.simple import NoCache

read = {"tokens": 0, "bytes": 0}


def count_tokens(module, inputs):
    read["tokens"] += len(inputs[0])


def count_bytes(module, inputs):
    read["bytes"] += module.weight.nbytes


matrices = [m for m in model.modules() if isinstance(m, torch.nn.Linear)]
hooks = [m.register_forward_pre_hook(count_bytes) for m in matrices]
hooks.append(model.register_forward_pre_hook(count_tokens))

# %%
n = 40
no_end = SamplingParams(max_tokens=n, ignore_eos=True)
without = generate(model, prompt, no_end, memory=NoCache(model.config))
for hook in hooks:
    hook.remove()
formula = n * len(prompt) + n * (n - 1) // 2
held = sum(size for kinds in model.weight_bytes().values() for size in kinds.values())
print(f"written {n} tokens; read {read['tokens']} tokens, the formula says {formula}")
print(f"that is {read['tokens'] / n:.1f} tokens read for each token written")
each = read["bytes"] / n
print(f"weights read for each token: {each / 1e6:.2f} MB; all weights: {held / 1e6:.2f} MB")

# %%
figure, (axis,) = new_figure(width=6, height=3)
axis.barh(range(n), [len(prompt) + step for step in range(n)], color=PALETTE["grey"])
axis.barh(range(1, n), 1, left=[len(prompt) + step for step in range(n - 1)], color=PALETTE["blue"])
axis.barh(0, len(prompt), color=PALETTE["blue"])
axis.invert_yaxis()
axis.set(xlabel="T", ylabel="step")
show.Picture(figure, f"{n} steps; the first reads {len(prompt)} tokens, each later one 1 more")

# %% [markdown] id="03-r8-caption"
# *Picture: each row is one step; its length is the number of tokens read. Blue: read for the first
# time. Grey: read before, and read again. With P prompt tokens and n written ones, the sum is n P +
# n (n - 1) / 2.*
#
# Two costs, then. The weights: all of them, for each token. That stays (chapters 08 to 13 make it
# smaller). And the grey part: chapter 04 takes it away.
#
# ### In seconds
#
# `tiny` may fit into the processor's cache, so we take `blank`: large, with random weights. It
# writes noise, but at an honest speed. A step must read all weights, so it cannot be faster than
# bytes / bandwidth.

# %%
import time

from minillm import machine

blank = minillm.load("blank")[0]
kind = "cuda" if device.type == "cuda" else "cpu"
bandwidth = machine.read_bandwidth(kind).bytes_per_second
blank_held = sum(size for kinds in blank.weight_bytes().values() for size in kinds.values())
bound_ms = 1e3 * blank_held / bandwidth
name = torch.cuda.get_device_name() if kind == "cuda" else machine.cpu_model()
print(f"{name}, {torch.get_num_threads()} threads")
print(f"{blank_held / 1e6:.0f} MB / {bandwidth / 1e9:.1f} GB/s = {bound_ms:.1f} ms a step at least")


# %%
@torch.inference_mode()
def step_ms(length, tries=3):
    """Best time of one step that reads `length` tokens and wants one row of logits."""
    ids, last = torch.arange(length, device=device), torch.tensor([length - 1], device=device)
    times = []
    for _ in range(tries + 1):
        start = time.perf_counter()
        blank(ids, rows=last).sum().item()  # .item() waits for a GPU to finish
        times.append(time.perf_counter() - start)
    return 1e3 * min(times[1:])


for length in (1, 16, 64, 128 if FAST else 256):
    print(f"{length:>4} tokens read: {step_ms(length):8.1f} ms a step (bound {bound_ms:.1f})")
blank = None  # gives its memory back

# %% [markdown] id="03-r8-scoreboard"
# A step of one token mostly moves bytes: no other line is as near to the bound. (Still above it: a
# product of one row reads slower than the limit, chapter 01.) A step that reads the whole text
# again takes longer with every token, because now arithmetic takes the time. And all that
# arithmetic gives one new token.
#
# ### The scoreboard
#
# Each chapter adds a row to one table: 32 requests of different lengths, the **workload W**, all
# waiting at the start. This row runs a part of it, one request after another. **TTFT** is the time
# to the first token; `>` before it: the requests left out would have waited longer, so it is no
# figure to compare. p50 is the median: half are below it. Bytes and speed are those of a model of
# 100 MB with random weights, perplexity and tasks those of `tiny`. (Perplexity depends on the tales
# that are read: the scoreboard takes 8, other cells take other numbers. So compare only within one
# table.)

# %%
from minillm import scoreboard

row = scoreboard.run("no cache")
scoreboard.table([row])

# %% [markdown] id="03-loses-title"
# ## Where this loses
#
# Sampling is not free of harm. Three measurements on `tiny`.
#
# **1. Chance and right answers.** A sum has one right answer. We compute, without drawing, how
# probable it is that the whole answer is right at each temperature: the product of the
# probabilities of its tokens.


# %%
def chance_of_right(item, temperatures):
    """Probability of writing exactly the answer, for each temperature."""
    start, ids = len(tokenizer.encode(item.prompt)), tokenizer.encode(item.prompt + item.answer)
    ids.append(model.config.eos_token_ids[0])
    rows_TV, right_T = logits_of(ids)[start - 1 : -1], torch.tensor(ids[start:])
    logprobs = [(rows_TV / t).log_softmax(-1).gather(1, right_T[:, None]) for t in temperatures]
    return torch.stack([one.sum().exp() for one in logprobs])


warm = [0.25, 0.5, 0.75, 1.0, 1.25, 1.5, 2.0, 2.5, 3.0]
count = 3 if FAST else 40
items = {task: corpus.test_items(task, count, seed=9) for task in corpus.TASKS}
right = {k: sum(chance_of_right(i, warm) for i in v) / count for k, v in items.items()}
shares = {task: (100 * chances).tolist() for task, chances in right.items()}
show.lines(warm, shares, "T", "% right")

# %% [markdown] id="03-loses-flat"
# *Picture: chance, in percent, that the whole answer is right, for each task, against the
# temperature; a mean over unseen items. At a temperature near 0 it is the share that greedy writes
# right.*
#
# For sums and programs, be greedy.
#
# **2. A flat distribution.** top-p trusts the probabilities. A high temperature makes them flat,
# and then top-p keeps hundreds of tokens. We count at every seventh position of the unseen tales.

# %%
rows_V = torch.cat([logits_of(tokenizer.encode(t)) for t in tales[: 1 if FAST else 12]])[::7]
counts = {
    name: [sum(kept(row, t, rule) for row in rows_V) / len(rows_V) for t in warm]
    for name, rule in rules.items()
}
show.lines(warm, counts, "T", "tokens kept", log="y", bound=tokenizer.vocab_size)

# %% [markdown] id="03-loses-caption"
# *Picture: tokens kept, mean over positions of unseen tales, on a log axis. The dashed line is the
# vocabulary.*
#
# If you want a high temperature for tales, do not let top-p be the only filter.
#
# **3. Greedy repeats, and the cure hurts.** Without an end token, greedy soon writes what it wrote
# before. A repetition penalty stops that. What does it do to sums, where digits must repeat?


# %%
def repeated(ids, size=6):
    """Share of the runs of `size` tokens that stood in the text before."""
    runs = [tuple(ids[i : i + size]) for i in range(len(ids) - size + 1)]
    return 1 - len(set(runs)) / len(runs)


def share_right(task, penalty, count=4 if FAST else 20):
    params, found = SamplingParams(max_tokens=24, repetition_penalty=penalty), 0
    for item in corpus.test_items(task, count, seed=5):
        written = generate(model, tokenizer.encode(item.prompt), params)
        found += tokenizer.decode(written) == item.answer
    return found / count


# %%
length = 80 if FAST else 300
print("repetition_penalty   repeated runs   add right   sort right")
for penalty in (1.0, 1.1, 1.3, 2.0):
    params = SamplingParams(max_tokens=length, ignore_eos=True, repetition_penalty=penalty)
    runs = repeated(generate(model, prompt, params))
    add, sort = share_right("add", penalty), share_right("sort", penalty)
    print(f"{penalty:>18} {runs:>15.0%} {add:>11.0%} {sort:>12.0%}")

# %% [markdown] id="03-loses-read"
# The penalty cannot know which repeats are bad. It punishes the digits of the question too. For
# tasks with one right answer leave penalties off. For long free text use a small one, and check.

# %% [markdown] id="03-takeaway"
# ## Predicted and measured
#
# Tokens read: the formula was met exactly. Tokens of a sentence: a rule of bytes per token, with
# the error that you saw. Time of a step: bounded by bytes / bandwidth.
#
# ## Takeaway
#
# | box | the loop without a cache |
# |---|---|
# | bytes stored | the weights, nothing else |
# | bytes moved | all weights once for each token written |
# | arithmetic | every token of the text again at each step: n P + n (n - 1) / 2 tokens |
# | waiting | one user at a time; each token waits for the one before |
#
# **Exact or lossy?** Sampling changes which text you get, not how the model computes. From here to
# chapter 07 everything is exact: the same seed must give the same tokens.

# %% [markdown] id="03-vllm"
# ## The same thing in vLLM
#
# ```python
# from vllm import LLM, SamplingParams
# params = SamplingParams(max_tokens=64, temperature=0.7, top_p=0.9, seed=1, stop=["</b>"])
# outputs = LLM("Qwen/Qwen3-0.6B").generate(["Once upon a time"], params)
# ```
#
# Our names are theirs: `temperature`, `top_k`, `top_p`, `min_p`, the three penalties, `seed`, `n`,
# `stop`, `stop_token_ids`, `ignore_eos`, `logprobs`, `prompt_logprobs`. What differs:
#
# - Its default temperature is 1, ours is 0. Its default `max_tokens` is 16, ours is 64.
# - It applies min-p before top-k and top-p, we apply it last.
# - `include_stop_str_in_output=True` keeps the stop string.
# - It draws on the GPU by another method, so equal seeds give other tokens than here.
#
# **Next:** [04 · Why keep keys and values?](04_why_keep_keys_and_values.ipynb) The grey triangle of
# section 8 is work that was done before. What would we have to keep to never do it again, and how
# many bytes is that?
