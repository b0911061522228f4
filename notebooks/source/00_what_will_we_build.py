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

# %% [markdown]
# # 00 · What will we build?
#
# **After this notebook** you can load a language model, let it write, and say what one step of it
# does. You have seen the loop that this whole course makes faster.
#
# **Time:** 10 minutes. **Hardware:** any laptop; no GPU needed.
#
# Everything here is computed by our own transformer, in the package `minillm`. You will rebuild it
# piece by piece.
#
# Run a cell with Shift+Enter. The results of our own run are saved below the cells. To guess before
# you look, hide them first: menu *Edit*, *Clear Outputs of All Cells*.

# %% [markdown]
# ## A model that fits in your pocket
#
# The course ships with a small model called `tiny`. We trained it ourselves, on text that a program
# wrote: short tales, and five tasks with exactly one right answer. It is small, so you can see
# everything. It is real: the same parts, in the same order, as in models a thousand times larger.

# %%
import minillm

model, tokenizer = minillm.load("tiny")
config = model.config
print(f"{model.num_parameters():,} parameters")
print(f"{config.num_layers} layers, width {config.width}")
print(f"vocabulary of {config.vocab_size} tokens")

# %% [markdown]
# What the words mean:
#
# - A **parameter**, or **weight**, is one number that training has chosen.
# - A **layer** is one block of the model. All blocks are built alike and work one after another.
# - A **token** is a piece of text: a letter, a part of a word, or a word. The **vocabulary** is the
#   list of all tokens that the model knows.
# - Inside the model each token is a row of numbers. The **width** is the length of that row.

# %% [markdown]
# How many bytes is that? In the file each parameter takes 2 bytes (16 bits). On a CPU we compute
# with 4 bytes (32 bits), so in memory it is twice as much.

# %%
held = model.weight_bytes()  # bytes of each part, by number format
parts = {part: sum(kinds.values()) for part, kinds in held.items()}
for part, size in parts.items():
    print(f"{part:<10} {size / 1e6:6.2f} MB in memory")

# %% [markdown]
# The **embedding** turns each token into its row of numbers. `linear` is all the matrices inside
# the layers: nearly everything. The **head** turns a row into a score for every token. It shows 0
# bytes because it shares its matrix with the embedding. `other` is a few short vectors. You will
# build all of them in chapter 02.

# %% [markdown]
# ## Let it write
#
# A **prompt** is the text you give. The model continues it.
#
# `temperature=0.7` means that each token is drawn by chance, and likely tokens come more often.
# `seed=1` fixes the chance: the same seed gives the same text. Try another one.

# %%
from minillm import SamplingParams, stream_text

params = SamplingParams(max_tokens=120, temperature=0.7, seed=1)
print("Once upon a time", end="")
for piece in stream_text(model, tokenizer, "Once upon a time", params):
    print(piece, end="", flush=True)

# %% [markdown]
# `tiny` also knows a little Korean. The text below begins "Long, long ago". In UTF-8 one Korean
# character is three bytes, and a token may hold only a part of it. `stream_text` waits until a
# character is complete. You will write that part in chapter 03.

# %%
print("옛날 옛적에", end="")
for piece in stream_text(model, tokenizer, "옛날 옛적에", params):
    print(piece, end="", flush=True)

# %% [markdown]
# ## Tasks with one right answer
#
# A nice tale proves little. So `tiny` also learned five tasks that can be checked. When we make the
# model smaller in later chapters, these tasks tell us what broke.
#
# | task | what the model must do | prompt | answer |
# |---|---|---|---|
# | recall | say what is in the open box | `boxes: red key, blue hat; open blue` | ` hat` |
# | copy | write the same letters again | `copy: k d o =` | ` k d o` |
# | sort | put the digits in order | `sort: 5291=` | `1259` |
# | add | add two numbers | `add: 347+589=` | `936` |
# | code | run a small program | `code: a=3; b=a+4; print b=` | `7` |
#
# This time nothing is left to chance. The temperature is 0, the default: the model always takes the
# likeliest token. This is called **greedy**.

# %%
from minillm import corpus, generate

greedy = SamplingParams(max_tokens=24)  # temperature=0.0 is the default
for task in corpus.TASKS:
    item = corpus.test_items(task, count=1, seed=7)[0]
    tokens = generate(model, tokenizer.encode(item.prompt), greedy)
    written = tokenizer.decode(tokens)
    verdict = "right" if written == item.answer else "WRONG"
    print(f"{verdict}  {item.prompt}{written}")

# %% [markdown]
# These items were never in the training text. A rule decides for each prompt whether it belongs to
# training or to the test.
#
# ## What is one step?
#
# The model does not write text. It reads tokens, each as a whole number: its place in the
# vocabulary. It gives a score, a **logit**, for every token that could come next. `softmax` turns
# the scores into probabilities. Look at the sum 347 + 589.

# %%
import torch

tokens = tokenizer.encode("add: 347+589=")
print(tokens)
print([tokenizer.decode([token]) for token in tokens])
logits = model(torch.tensor(tokens))  # one row of scores for every position
print(logits.shape, "= (prompt tokens, vocabulary)")
probabilities = logits[-1].softmax(-1)  # the last row: what comes after "="
print(f"sum of all probabilities: {probabilities.sum():.4f}")

# %% [markdown]
# Token 0 stands where a text begins or ends, and shows as no text. Each digit is one token.
#
# Now we look at the next three tokens, one after another. **Before you run the cell:** which digit
# should be most likely at each place?

# %%
from minillm import show

panels, titles = [], []
for _ in range(3):
    probabilities = model(torch.tensor(tokens))[-1].softmax(-1)
    best = probabilities.topk(5)
    texts = [tokenizer.decode([i]) for i in best.indices.tolist()]
    panels.append(list(zip(texts, best.values.tolist())))
    titles.append("..." + tokenizer.decode(tokens)[-8:])
    tokens.append(best.indices[0].item())
figure = show.next_token_bars(panels, titles)

# %% [markdown]
# *Picture: the five likeliest next tokens at three steps of the answer. Blue is the likeliest. Its
# text goes to the end of the prompt, and the model reads everything again.*
#
# ## The loop that this course is about
#
# That is all: read everything, take a token, append it, and again. Here is the loop in full, and a
# check that the package writes the same tokens.

# %%
prompt = tokenizer.encode("Once upon a time there was a")
tokens = list(prompt)
for _ in range(20):
    logits = model(torch.tensor(tokens))
    tokens.append(logits[-1].argmax().item())
print(tokenizer.decode(tokens))
package = generate(model, prompt, SamplingParams(max_tokens=20))
print("the package writes the same:", tokens[len(prompt) :] == package)

# %% [markdown]
# ## What is wrong with it?
#
# The loop reads the whole text again for every token. It serves one user at a time. And for every
# token it moves all weights from memory to the processor. Let us count that.
#
# **Predict first:** how many bytes of weights are read to write one short tale? A tale has about
# 330 letters, and one token is about four letters.

# %%
weights = sum(parts.values())
tale = corpus.test_items("tales", count=1, seed=3)[0].answer
steps = len(tokenizer.encode(tale))
print(f"one step reads {weights / 1e6:.1f} MB of weights")
print(f"a tale of {len(tale)} characters is {steps} tokens, so {steps} steps")
print(f"they read {steps * weights / 1e9:.2f} GB to write {len(tale)} letters")

# %% [markdown]
# `tiny` is so small that it may stay in the cache, the small fast memory inside the processor. A
# model a hundred times larger does not fit there. Then these bytes decide how fast it writes.

# %% [markdown]
# ## What comes next
#
# | chapters | what you build | does the text change? |
# |---|---|---|
# | 01-04 | where the time goes, the transformer, sampling, the KV cache | no: exact |
# | 05-07 | many users at once: batching, PagedAttention, a scheduler | no: exact |
# | 08-11 | weights in 8 and 4 bits | a little: measured |
# | 12-13 | fewer weights: pruning | a little: measured |
# | 14 | choose for your own case | |
#
# **Takeaway.** Writing text is one loop around one function. The function reads every weight for
# every token. All of this course is about storing fewer bytes, moving fewer bytes, doing less
# arithmetic, and waiting less.
#
# This is a first short version of the chapter. Its exercises will follow.
