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

# %% [markdown] id="00-title"
# # 00 · What will we build?
#
# **After this notebook** you can load a language model, let it write, and say what one step of it
# does. You have seen the loop that this whole course makes faster, and you know whether you have
# the PyTorch that it needs.
#
# **Time:** 20 minutes, and 20 for the exercises. **Hardware:** any laptop; no GPU needed.
#
# Everything here is computed by our own transformer, in the package `minillm`. You will rebuild it
# piece by piece.
#
# Run a cell with Shift+Enter. The results of our own run are saved below the cells. To guess before
# you look, hide them first: menu *Edit*, *Clear Outputs of All Cells*.

# %% bootstrap

# %% [markdown] id="00-test-out"
# ## Test out
#
# Can you solve exercises 0.1 to 0.4 below? Then you have what this course needs of PyTorch and of
# arithmetic. Read on from *The map*, then go to chapter 01.
#
# If 0.1, 0.2 or 0.3 is hard, the [warm-up page](../docs/warmup.md) teaches what is missing in half
# an hour.

# %% [markdown] id="00-pocket"
# ## 1. A model that fits in your pocket
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

# %% [markdown] id="00-words"
# What the words mean:
#
# - A **parameter**, or **weight**, is one number that training has chosen.
# - A **layer** is one block of the model. All blocks are built alike and work one after another.
# - A **token** is a piece of text: a letter, a part of a word, or a word. The **vocabulary** is the
#   list of all tokens that the model knows.
# - Inside the model each token is a row of numbers. The **width** is the length of that row.

# %% [markdown] id="00-bytes"
# How many bytes is that? In the file each parameter takes 2 bytes (16 bits). On a CPU we compute
# with 4 bytes (32 bits), so in memory it is twice as much.

# %%
held = model.weight_bytes()  # bytes of each part, by number format
parts = {part: sum(kinds.values()) for part, kinds in held.items()}
for part, size in parts.items():
    print(f"{part:<10} {size / 1e6:6.2f} MB in memory")
weights = sum(parts.values())

# %% [markdown] id="00-parts"
# The **embedding** turns each token into its row of numbers. `linear` is all the matrices inside
# the layers: nearly everything. The **head** turns a row into a score for every token. It shows 0
# bytes because it shares its matrix with the embedding. `other` is a few short vectors. You will
# build all of them in chapter 02.
#
# Models are often named after their parameters: a "7B" model has about 7 billion. How large is
# that? Guess first. The cell below writes your answer into a file and grades it.

# %% exercise 0.4

# %% [markdown] id="00-grader"
# When you run that cell, the grader says what is wrong and never shows the answer. If you are
# stuck: `%exercise hint 0.4`, in a cell of its own. There are three hints for each exercise.
#
# Now look at a real one. The shape of Llama-2-7B is public. PyTorch can build a model on the
# device `meta`: everything is there but the numbers, so it takes no memory.

# %%
import torch

seven = minillm.ModelConfig(
    family="llama", vocab_size=32000, width=4096, mlp_width=11008, num_layers=32,
    num_heads=32, num_kv_heads=32, head_size=128, max_len=4096,
)  # fmt: skip
with torch.device("meta"):
    count = minillm.Transformer(seven).num_parameters()
print(f"Llama-2-7B: {count:,} weights")
for name, bits in (("fp32", 32), ("fp16", 16), ("int4", 4)):
    size = count * bits / 8
    print(f"  {name}: {size / 1e9:5.2f} GB, that is {size / 2**30:5.2f} GiB")

# %% [markdown] id="00-gb-gib"
# A **GB** is 10^9 bytes, a **GiB** is 2^30: 7% more. Disks and articles count in GB; memory is sold
# in GiB, and many tools write "GB" for it. In this course GB always means 10^9.
#
# These are the weights alone. Formats of 4 bits need more than 4 bits a weight: chapter 01.

# %% [markdown] id="00-write"
# ## 2. Let it write
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

# %% [markdown] id="00-korean"
# `tiny` also knows a little Korean. The text below begins "Long, long ago". In UTF-8 one Korean
# character is three bytes, and a token may hold only a part of it. `stream_text` waits until a
# character is complete. You will write that part in chapter 03.

# %%
print("옛날 옛적에", end="")
for piece in stream_text(model, tokenizer, "옛날 옛적에", params):
    print(piece, end="", flush=True)

# %% [markdown] id="00-tasks"
# ## 3. Tasks with one right answer
#
# A nice tale proves little. So `tiny` also learned five tasks that can be checked. When we make the
# model smaller in later chapters, these tasks tell us what broke.
#
# | task | what the model must do |
# |---|---|
# | recall | say what is in the open box |
# | copy | write the same letters again |
# | sort | put the digits in order |
# | add | add two numbers |
# | code | run a small program |
#
# This time nothing is left to chance. The temperature is 0, the default: the model always takes the
# likeliest token. This is called **greedy**.

# %%
from minillm import corpus, generate

greedy = SamplingParams(max_tokens=40)  # temperature=0.0 is the default
for task in corpus.TASKS:
    item = corpus.test_items(task, count=1, seed=7)[0]
    tokens = generate(model, tokenizer.encode(item.prompt), greedy)
    written = tokenizer.decode(tokens)
    verdict = "right" if written == item.answer else "WRONG"
    print(f"{verdict}  {item.prompt}{written}")

# %% [markdown] id="00-unseen"
# These items were never in the training text. A rule decides for each prompt whether it belongs to
# training or to the test.

# %% [markdown] id="00-step"
# ## 4. What is one step?
#
# The model does not write text. It reads tokens, each as a whole number: its place in the
# vocabulary. It gives a score, a **logit**, for every token that could come next. `softmax` turns
# the scores into probabilities. Look at the sum 347 + 589.

# %%
tokens = tokenizer.encode("add: 347+589=")
print(tokens)
print([tokenizer.decode([token]) for token in tokens])
logits = model(torch.tensor(tokens, device=model.embedding.weight.device))
print(list(logits.shape), "= [prompt tokens, vocabulary]: a row of scores for every position")
probabilities = logits[-1].softmax(-1)  # the last row: what comes after "="
print(f"sum of all probabilities: {probabilities.sum():.4f}")

# %% [markdown] id="00-digits"
# Token 0 stands where a text begins or ends, and shows as no text. Each digit is one token.
#
# Now we look at the next three tokens, one after another. **Before you run the cell:** which digit
# should be most likely at each place?

# %%
from minillm import show

panels, titles = [], []
for _ in range(3):
    probabilities = model(torch.tensor(tokens, device=logits.device))[-1].softmax(-1)
    best = probabilities.topk(5)
    texts = [tokenizer.decode([i]) for i in best.indices.tolist()]
    panels.append(list(zip(texts, best.values.tolist())))
    titles.append("..." + tokenizer.decode(tokens)[-8:])
    tokens.append(best.indices[0].item())
show.next_token_bars(panels, titles)

# %% [markdown] id="00-digits-caption"
# *Picture: the five likeliest next tokens at three steps of the answer. Blue is the likeliest. Its
# text goes to the end of the prompt, and the model reads everything again.*

# %% [markdown] id="00-loop"
# ## 5. The loop that this course is about
#
# That is all: read everything, take a token, append it, and again. Here is the loop in full, and a
# check that the package writes the same tokens.

# %%
prompt = tokenizer.encode("Once upon a time there was a")
tokens = list(prompt)
for _ in range(20):
    logits = model(torch.tensor(tokens, device=logits.device))
    tokens.append(logits[-1].argmax().item())
print(tokenizer.decode(tokens))
package = generate(model, prompt, SamplingParams(max_tokens=20))
print("the package writes the same:", tokens[len(prompt) :] == package)

# %% [markdown] id="00-wrong"
# ## 6. What is wrong with it?
#
# The loop reads the whole text again for every token. It serves one user at a time. And for every
# token it moves all weights from memory to the processor. Let us count that.
#
# **Predict first:** how many bytes of weights are read to write one short tale? A tale has about
# 330 letters, and one token is about four letters.

# %%
tale = corpus.test_items("tales", count=1, seed=3)[0].answer
steps = len(tokenizer.encode(tale))
print(f"one step reads {weights / 1e6:.1f} MB of weights")
print(f"a tale of {len(tale)} characters is {steps} tokens, so {steps} steps")
print(f"they read {steps * weights / 1e9:.2f} GB to write {len(tale)} letters")

# %% [markdown] id="00-cache"
# `tiny` is so small that it may stay in the cache, the small fast memory inside the processor. A
# model a hundred times larger does not fit there. Then these bytes decide how fast it writes.
# Chapter 01 measures it.

# %% [markdown] id="00-tools"
# ## 7. Three tools of PyTorch
#
# The course needs little of PyTorch. Three things come back in every chapter. Each has an example
# here and an exercise.
#
# **Rows of a pool.** A tensor of whole numbers, used as an index, means these rows. It works for
# reading, and on the left of `=` for writing.

# %%
pool = torch.zeros(5, 2)
pool[torch.tensor([3, 0])] = torch.tensor([[1.0, 1.0], [2.0, 2.0]])
print(pool)

# %% exercise 0.1

# %% [markdown] id="00-broadcast"
# **Broadcasting.** PyTorch lines shapes up from the right. A size of 1 is repeated as often as
# needed. So `[2]` meets the columns of a `[3, 2]` matrix, and `[3, 1]` meets its rows.

# %%
matrix = torch.ones(3, 2)
print(matrix * torch.tensor([1.0, 10.0]))
print(torch.tensor([1.0, 2.0, 3.0])[:, None].shape)

# %% exercise 0.2

# %% [markdown] id="00-view"
# **Another shape.** `view` keeps the numbers in order. `transpose` changes the order. Both results
# below have the shape [3, 2], and they are not the same. This mistake makes no error message:
# only a wrong text.

# %%
numbers = torch.arange(6)
print(numbers.view(3, 2))
print(numbers.view(2, 3).transpose(0, 1))

# %% exercise 0.3

# %% [markdown] id="00-two-kinds"
# ## 8. Two kinds of "faster"
#
# Some methods change *how* a text is computed, and the text stays the same: they are **exact**.
# Others change the numbers of the model, so the text may change: they are **lossy**. We try one of
# each. The exact one keeps results of earlier steps (chapter 04). The lossy one rounds all
# matrices to 15, 7 or 3 values a row (chapter 08).

# %%
import copy

from minillm import NoCache, StripCache


def rounded(model, steps):
    """A copy whose matrices hold 2 * steps + 1 different values in each row."""
    model = copy.deepcopy(model)
    for name, weight in model.named_parameters():
        if weight.dim() == 2 and "layers" in name:
            scale = weight.abs().amax(1, keepdim=True) / steps
            weight.copy_((weight / scale).round() * scale)
    return model


# %%
params = SamplingParams(max_tokens=24)
prompt = tokenizer.encode("Once upon a time there was a")
plain = generate(model, prompt, params, memory=NoCache(config))
kept = generate(model, prompt, params, memory=StripCache.for_model(model, 64))
print(f"plain loop          {tokenizer.decode(plain)!r}")
print(f"exact: keep results, the same tokens: {kept == plain}")
for steps in (7, 3, 1):
    with torch.inference_mode():
        text = tokenizer.decode(generate(rounded(model, steps), prompt, params))
    print(f"lossy: {2 * steps + 1:>2} values   {text!r}")

# %% [markdown] id="00-two-kinds-read"
# One text says little, and even a rounded model may write the same one. So from chapter 08 on the
# price is measured, on many texts and on all five tasks.

# %% [markdown] id="00-map"
# ## 9. The map
#
# First the exact methods, then the lossy ones. An engine that serves many users needs both.

# %%
kinds = {"exact": range(8), "lossy": range(8, 14), "choose": range(14, 15)}
looks = {"exact": ("blue", ""), "lossy": ("orange", "///"), "choose": ("pale", "")}
figure, (axis,) = show.canvas.new_figure(width=7.5, height=0.9)
for kind, chapters in kinds.items():
    color, hatch = looks[kind]
    for c in chapters:
        axis.barh(0, 0.9, left=c, color=show.PALETTE[color], hatch=hatch, edgecolor="white")
        box = dict(boxstyle="round,pad=0.15", facecolor="white", linewidth=0)
        axis.text(c + 0.45, 0, f"{c:02}", ha="center", va="center", fontsize=10, bbox=box)
axis.axis("off")
show.Picture(figure, "The chapters in a row: 00-07 exact, 08-13 lossy, 14 choose.")

# %% [markdown] id="00-map-table"
# *Picture: the fifteen chapters. Plain blue: exact, the text does not change. Orange with stripes:
# lossy, the text may change. Pale: you choose.*
#
# | chapters | what you build | the text | it saves |
# |---|---|---|---|
# | 00-03 | where the time goes, the transformer, sampling | | |
# | 04 | the cache of keys and values | same: **exact** | arithmetic |
# | 05-07 | many users at once: batching, paging, a scheduler | same: **exact** | waiting, bytes |
# | 08-11 | weights in 8 and 4 bits | changes: **lossy**, measured | bytes stored and moved |
# | 12-13 | fewer weights: pruning | changes: **lossy**, measured | bytes, arithmetic |
# | 14 | choose for your own case | | |
#
# Methods of *serving* (04-07) leave the weights alone. Methods of *compressing* (08-13) change
# them. "Our model became worse when we turned batching on" is a fault in the engine, not a price.

# %% [markdown] id="00-how"
# ## 10. How to work with this course
#
# - **Evening path:** ten evenings with the most important exercises. `python -m exercises status`
#   shows them, and what you have solved.
# - A prediction comes before its measurement. Guess, then look. A wrong guess that surprised you
#   teaches more than a right one.
# - A failing answer is compared with mistakes that people often make. The message names yours.
# - Numbers of exercises are names: a notebook may bring 1.3 before 1.2. Follow the notebook.
# - Every exercise stands alone. You may skip any chapter.

# %% [markdown] id="00-takeaway"
# ## Takeaway
#
# Writing text is one loop around one function. The function reads every weight for every token. All
# of this course fills four boxes:
#
# | box | in this chapter's loop | made smaller in |
# |---|---|---|
# | bytes stored | all weights, once | 06, 08-13 |
# | bytes moved | all weights, for every token | 05, 08-13 |
# | arithmetic | the whole text again, for every token | 04, 13 |
# | waiting (no work on your text) | the second user waits until the first is done | 05, 07 |
#
# **Where this loses.** The plain loop is hard to beat for one short answer of a very small model:
# there is little to save. Keep it as the judge: every engine after it must write the same tokens.
#
# **The same thing in vLLM.** `LLM(model="...").generate(prompts, SamplingParams(...))`. The names
# in `minillm` are the same on purpose. Under it works what you will build in 04 to 07.
#
# **Next:** [01 · Why is inference slow?](01_why_is_inference_slow.ipynb) Before you make something
# faster, find out where the time goes.
