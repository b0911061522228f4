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

# %% [markdown] id="02-title"
# # 02 · What does a transformer compute?
#
# **After this notebook** you can write every part of a modern language model in a few lines, and
# you have proof: your numbers equal those of `transformers`, layer by layer.
#
# **Time:** 50 minutes to read and run, 70 for the evening exercises (2.1, 2.3, 2.4, 2.7), 80 more
# for the rest. **Hardware:** any laptop; no GPU needed.

# %% bootstrap

# %% [markdown] id="02-test-out"
# ## Test out
#
# Do you know all this? Solve 2.1, 2.3, 2.4 and 2.7 below. If they pass, go on to notebook 03.
#
# ## 1. The whole machine in one picture
#
# A transformer gets tokens and gives a logit, a score, for every token that could come next. We
# take `tiny` apart. All letters below are sizes; they are the same in the whole course.

# %%
import os

import torch

import minillm
from minillm import corpus, machine, ops, show
from minillm.model import qkv_rows

FAST = os.environ.get("MINILLM_FAST") == "1"
model, tokenizer = minillm.load("tiny", dtype="fp32")
config, device = model.config, model.embedding.weight.device
H, G, K = config.num_heads, config.num_kv_heads, config.head_size
print(f"D = {config.width} numbers for a token, V = {config.vocab_size} tokens in the vocabulary")
print(f"H = {H} query heads, G = {G} key/value heads, each of size K = {K}")
print(f"{config.num_layers} layers; their MLP has width F = {config.mlp_width}")
where = machine.cpu_model() if device.type == "cpu" else torch.cuda.get_device_name()
print("computed on:", where)


# %% [markdown] id="02-stream"
# First, the embedding looks up a row of D numbers for each token: `x_TD`, T rows of D. This is the
# **residual stream**. Each layer reads it and *adds* something to it, twice:
#
# ```
# tokens -> embedding -> x
# every layer:  x = x + attention(norm(x))   look back
#               x = x + MLP(norm(x))         each alone
# at the end:   logits = head(norm(x))
# ```

# %%
items = corpus.test_items("recall", count=40, seed=7)
item = min(items, key=lambda i: len(tokenizer.encode(i.prompt)))  # short: easy to draw
tokens_T = torch.tensor(tokenizer.encode(item.prompt), device=device)
pos_T = torch.arange(len(tokens_T), device=device)  # 0, 1, 2, ...
x_TD = model.embedding(tokens_T)
print(item.prompt, "->", item.answer)
print("tokens_T", list(tokens_T.shape), " x_TD", list(x_TD.shape))
layer = model.layers[0]
print({name: list(p.shape) for name, p in layer.named_parameters() if p.dim() == 2})
show.layer_map(config)

# %% [markdown] id="02-joint"
# *Picture: the matrices of one layer, and the head, to scale. Width is numbers in, height is
# numbers out.*
#
# One detail: the package keeps the query, key and value matrices as one matrix, `qkv` (rows of q,
# then k, then v), and the two input matrices of the MLP as one, `gate_up`: one multiplication in
# place of three, or two. `qkv_rows` says how many rows belong to each.

# %% [markdown] id="02-norm"
# ## 2. RMSNorm: every row to the same size
#
# Numbers in the stream jump in the first layer, then grow slowly. So each part reads a
# **normalised** copy: divide a row by its **RMS**, the root of the mean of its squares. Then
# multiply by a learned weight.
#
# Check by hand: for (3, 4) the mean of the squares is 12.5, its root 3.536.
#
# **Your turn (2.1, evening, 15 minutes):** the same for all rows at once. Stuck? Run
# `%exercise hint 2.1` in a cell. Ours stands below: write yours first.

# %%
row, eps = [3.0, 4.0], 1e-6
mean_square = sum(x * x for x in row) / len(row)
rms = (mean_square + eps) ** 0.5  # eps: a row of zeros must not divide by zero
print(f"mean of squares {mean_square}, RMS {rms:.4f}")
print("normalised:", [round(x / rms, 4) for x in row])

# %% exercise 2.1


# %%
def my_norm(x_TD, weight_D):
    wide_TD = x_TD.float()
    scale_T1 = ((wide_TD * wide_TD).mean(-1, keepdim=True) + config.norm_eps).rsqrt()
    return (wide_TD * scale_T1).to(x_TD.dtype) * weight_D


def difference(ours, package):
    share = (ours - package).abs().max() / package.abs().max()
    assert share < 1e-5, f"these should be equal, and differ by {share:.1e}"
    return f"differs by {share:.0e} of the largest number"


weight_D = layer.attention_norm.weight
print("norm:", difference(my_norm(x_TD, weight_D), layer.attention_norm(x_TD)))

# %% [markdown] id="02-norm-why"
# That was our form of it, and the proof that it is the package's. fp32 keeps about seven digits, so
# two right results may differ by some 1e-7 of the largest number.
#
# Why is a norm needed? Here is the RMS of the stream before each layer, and of the copy that the
# layer's attention reads.

# %%
sizes, peak = {"stream": [], "after norm": []}, [0.0]


def note(module, inputs, output):
    sizes["stream"].append(inputs[0].square().mean().sqrt().item())
    sizes["after norm"].append(output.square().mean().sqrt().item())
    peak.append(inputs[0].abs().max().item())


hooks = [block.attention_norm.register_forward_hook(note) for block in model.layers]
logits_TV = model(tokens_T)
for hook in hooks:
    hook.remove()
layer_numbers = list(range(1, config.num_layers + 1))
show.lines(layer_numbers, sizes, xlabel="layer", ylabel="RMS", log="y")

# %% [markdown] id="02-norm-wide"
# *Picture: the size of the stream and of its normalised copy, layer by layer.*
#
# **Why `.float()`?** In fp16 the largest number is 65,504. So 300 · 300 is already infinite, and
# the row becomes zeros. Norms are therefore computed in fp32, also when everything else is 16 bit.
# It costs little: a norm is no matrix.

# %%
large = torch.tensor([[300.0, 400.0]], dtype=torch.float16)
naive = large * ((large * large).mean(-1, keepdim=True) + eps).rsqrt()
print("squares in fp16:", naive.tolist())
print("squares in fp32:", my_norm(large, torch.ones(2).half()).tolist())
print(f"largest number in tiny's stream {max(peak):,.0f}, squared {max(peak) ** 2:,.0f}")

# %% [markdown] id="02-attention"
# ## 3. Attention: which earlier tokens matter?
#
# Each token makes three short rows. The **query** asks, the **key** answers "is it me?", the
# **value** is what you get. The score of a pair is the dot product q · k, divided by √K. `softmax`
# makes weights of the scores. The output is the weighted sum of the values.
#
# **Causal:** a token sees itself and the past, never the future.

# %%
import math

q = [[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]]  # three tokens, K = 2
k = [[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]]
v = [[10.0, 0.0], [0.0, 10.0], [5.0, 5.0]]
looks, outputs = [], []
for t in range(3):
    scores = [(q[t][0] * k[s][0] + q[t][1] * k[s][1]) / 2**0.5 for s in range(t + 1)]
    powers = [math.exp(score) for score in scores]
    looks.append([p / sum(powers) for p in powers])
    outputs.append([sum(w * v[s][i] for s, w in enumerate(looks[t])) for i in range(2)])
print([[round(o, 3) for o in output] for output in outputs])

# %%
padded = [row + [0.0] * (3 - len(row)) for row in looks]
future = [[s > t for s in range(3)] for t in range(3)]
show.heatmap(padded, range(3), range(3), masked=future, xlabel="looks at", ylabel="token")

# %% [markdown] id="02-ex-attention"
# *Picture: the weights. Each row sums to 1. Crosses are the future.*
#
# Check the middle row by hand: its scores are 0 and 1/√2 = 0.707; exp gives 1 and 2.028; divided by
# their sum they are 0.33 and 0.67. So its output is (3.3, 6.7).
#
# **Your turn (2.3, evening, 30 minutes):** without loops. The future gets the score minus infinity,
# because exp(-infinity) = 0.

# %% exercise 2.3

# %% [markdown] id="02-heads"
# ## 4. Many heads, few keys
#
# One head can look at one thing at a time. So the model has H **heads** side by side, each with its
# own K columns. To save memory, several query heads share one key/value head. This is **GQA**,
# grouped-query attention. Query head h reads key/value head h // (H / G).
#
# **Your turn (2.4, evening, 10 minutes):** lay the heads out so that each query head finds its own.

# %%
shared = H // G
print("query head -> key/value head:", {h: h // shared for h in range(H)})
print(f"K and V are {shared} times smaller than with {H} key/value heads")
toy = torch.arange(8).reshape(2, 4)  # 2 tokens, 2 heads of size 2: columns 0-1 and 2-3
heads_HTK = toy.reshape(2, 2, 2).transpose(0, 1)  # [T, H, K] -> [H, T, K]
print("two tokens:", toy.tolist())
print("head 0:", heads_HTK[0].tolist(), " head 1:", heads_HTK[1].tolist())

# %% exercise 2.4

# %% [markdown] id="02-heads-ours"
# Our attention for all heads at once. It also gives back the weights, because we want to look at
# them. The package uses PyTorch's fused function instead. Are the two equal?
#
# Then **a hunt (2.7, evening, 15 minutes):** code with a fault that real engines had. All shapes
# fit. Find it and mend it.


# %%
def my_attention(q_THK, k_LGK, v_LGK):
    k_LHK = k_LGK.repeat_interleave(H // G, dim=1)
    v_LHK = v_LGK.repeat_interleave(H // G, dim=1)
    scores_HTL = torch.einsum("thk,lhk->htl", q_THK, k_LHK) / K**0.5
    future_TL = torch.ones_like(scores_HTL[0], dtype=torch.bool).triu(1)
    weights_HTL = scores_HTL.masked_fill(future_TL, -torch.inf).softmax(-1)
    return torch.einsum("htl,lhk->thk", weights_HTL, v_LHK), weights_HTL


random = torch.randn(7, H + 2 * G, K, generator=torch.Generator().manual_seed(0))
q_THK, k_LGK, v_LGK = random.split((H, G, G), dim=1)
ours_THK, weights_HTL = my_attention(q_THK, k_LGK, v_LGK)
package_THK = ops.attention(q_THK, k_LGK, v_LGK, K**-0.5)
print("attention:", difference(ours_THK, package_THK))

# %% exercise 2.7

# %% [markdown] id="02-order"
# ## 5. RoPE: where is a token?
#
# Something is missing. Attention is a sum, and a sum does not care about order. Shuffle the past,
# and the output stays the same: "dog bites man" would equal "man bites dog".

# %%
rows = torch.randn(11, 4, generator=torch.Generator().manual_seed(1))
q_1K, k_LK, v_LK = rows.split((1, 5, 5))
for order in ([0, 1, 2, 3, 4], [3, 1, 4, 0, 2]):
    weights_1L = (q_1K @ k_LK[order].T / 2).softmax(-1)
    output = (weights_1L @ v_LK[order])[0].tolist()
    print(order, [round(x, 4) for x in output])

# %% [markdown] id="02-rope"
# **RoPE** (rotary position embedding) turns each query and key by an angle that grows with its
# position. Take two numbers of a head as an arrow. A dot product depends only on the angle
# *between* two arrows. Turn both by the same amount and nothing changes. So what counts is the
# distance, not the place.


# %%
def turn(a, b, angle):
    return a * math.cos(angle) - b * math.sin(angle), b * math.cos(angle) + a * math.sin(angle)


print("(1, 0) at position 1:", [round(x, 3) for x in turn(1.0, 0.0, 1.0)])
for at_q, at_k in [(2, 0), (5, 3), (102, 100), (5, 2)]:
    (a, b), (c, d) = turn(1.0, 0.0, at_q), turn(0.8, 0.6, at_k)
    print(f"q at {at_q:>3}, k at {at_k:>3}: distance {at_q - at_k}, q.k = {a * c + b * d:.4f}")

# %%
from minillm.show.canvas import PALETTE, new_figure

circle = [turn(1, 0, i / 10) for i in range(64)]
figure, axes = new_figure(3, width=7.0, height=2.4)
for axis, (at_q, at_k) in zip(axes, [(2, 0), (3, 1), (6, 4)]):
    axis.plot(*zip(*circle), color=PALETTE["pale"])
    for name, row, at, color in (("q", (1, 0), at_q, "blue"), ("k", (0.6, -0.8), at_k, "orange")):
        x, y = turn(*row, 0.5 * at)
        line = dict(arrowstyle="->", color=PALETTE[color], linewidth=3)
        axis.annotate("", (x, y), (0, 0), arrowprops=line)
        axis.text(1.3 * x, 1.3 * y, f"{name} at {at}", ha="center", va="center", fontsize=9)
    axis.set(xlim=(-1.6, 1.6), ylim=(-1.5, 1.5), aspect="equal")
    axis.axis("off")
show.Picture(figure, "A query 2 positions after its key, three times: both turn, together.")

# %% [markdown] id="02-rope-picture"
# *Picture: a query (q) and a key (k) at three pairs of positions, always 2 apart. Both turn, here
# by half a radian a step; the angle between them stays.*
#
# One pair cannot tell distance 0 from a full turn. So the pairs of a head turn at different speeds:
# the first fast, the last very slowly, like the hands of a clock.

# %%
theta = config.ropes[0].theta
for i in (0, 1, K // 4, K // 2 - 1):
    freq = theta ** (-2 * i / K)
    print(f"pair {i:>2}: {freq:.6f} a step, a full turn in {2 * math.pi / freq:>8,.0f} tokens")
speeds = [theta ** (-2 * i / K) for i in range(K // 2)]
score = lambda distance: sum(math.cos(distance * speed) for speed in speeds)
scores = [[score(at_q - at_k) for at_k in range(9)] for at_q in range(9)]
show.heatmap(scores, range(9), range(9), format=".1f", xlabel="k at", ylabel="q at")

# %% [markdown] id="02-ex-rope"
# *Picture: q · k by position, when each pair of q and of k is the arrow (1, 0). Along a diagonal
# the distance is the same, and so is the number.*
#
# **Your turn (2.2, 25 minutes):** pair i is one number from the first half of a head and its
# partner from the second half. Ours, with its proof, stands below.

# %% exercise 2.2


# %%
def my_rope(x_THK, pos_T):
    freq_k = theta ** (-torch.arange(0, K, 2, device=x_THK.device) / K)
    angle_Tk = pos_T[:, None] * freq_k
    cos_T1k, sin_T1k = angle_Tk.cos()[:, None], angle_Tk.sin()[:, None]
    a_THk, b_THk = x_THK.chunk(2, dim=-1)
    return torch.cat((a_THk * cos_T1k - b_THk * sin_T1k, b_THk * cos_T1k + a_THk * sin_T1k), -1)


some_THK = torch.randn(len(pos_T), H, K, generator=torch.Generator().manual_seed(2)).to(device)
tables = model.rope_tables(pos_T, torch.float32)[0]
print("RoPE:", difference(my_rope(some_THK, pos_T), ops.apply_rope(some_THK, *tables)))

# %% [markdown] id="02-rope-stretch"
# Models for long texts **stretch** RoPE: slow pairs turn slower still. A fault in it
# stays hidden on short prompts. Look at the slowest pair.
#
# Then **a hunt (2.8, 20 minutes):** a model writes well, until the text grows long.

# %%
from minillm.config import RopeConfig

plain = RopeConfig(theta=500_000.0)
llama3 = RopeConfig(theta=500_000.0, kind="llama3", factor=8.0, original_len=8192)
slowest = [ops.rope_frequencies(rope, 128, torch.float64)[-1].item() for rope in (plain, llama3)]
for position in (0, 100, 8192, 100_000):
    angles = [position * freq for freq in slowest]
    print(f"position {position:>7,}: plain {angles[0]:.5f}, llama3 {angles[1]:.5f} radians")

# %% exercise 2.8

# %% [markdown] id="02-looking"
# ## 6. What does the model look at?
#
# Now a real question. In `boxes: red key, blue hat; open blue` the answer is *hat*. Which token
# does the model look at when it answers? We put `my_attention` into the package's model and keep
# the weights. If the logits stay the same, our attention is right in every layer.


# %%
class Watch(minillm.NoCache):
    def attend(self, layer, q_THK, k_LGK, v_LGK):
        out_THK, weights_HTL = my_attention(q_THK, k_LGK, v_LGK)
        self.seen = [*getattr(self, "seen", []), weights_HTL]
        return out_THK


watch = Watch(config)
print("logits with our attention:", difference(model(tokens_T, memory=watch), logits_TV))
print("it answers", repr(tokenizer.decode([logits_TV[-1].argmax().item()])))

# %% [markdown] id="02-looking-measure"
# Which head does it? We do not guess, we measure. For 40 test prompts: how much weight does the
# last token of the prompt give to the token that will be the answer?


# %%
def weight_on_answer(item):
    tokens, wanted = tokenizer.encode(item.prompt), tokenizer.encode(item.answer)[1]
    watch = Watch(config)
    model(torch.tensor(tokens, device=device), memory=watch)
    place = tokens.index(wanted)
    return torch.stack([weights_HTL[:, -1, place] for weights_HTL in watch.seen])


tried = items[: 10 if FAST else 40]
found = sum(weight_on_answer(item) for item in tried) / len(tried)  # [layers, H]
layer_at, head_at = divmod(found.argmax().item(), H)
print(f"most: layer {layer_at + 1}, head {head_at}, mean weight {found.max():.2f}")
show.heatmap(found, layer_numbers, range(H), xlabel="head", ylabel="layer")

# %% [markdown] id="02-looking-picture"
# *Picture: mean weight on the answer's token, for every head of every layer.*
#
# And this is that head, on our shortest prompt. Read the last row: it is where the answer is
# decided.

# %%
weights_TL = watch.seen[layer_at][head_at]
texts = [tokenizer.decode([token]) or f"#{token}" for token in tokens_T.tolist()]
future_TL = torch.ones_like(weights_TL, dtype=torch.bool).triu(1)
for place in weights_TL[-1].topk(2).indices.tolist():
    print(f"the last token looks at {texts[place]!r} with weight {weights_TL[-1, place]:.2f}")
show.heatmap(weights_TL, texts, texts, masked=future_TL, xlabel="looks at", ylabel="token")

# %% [markdown] id="02-induction"
# *Picture: weights of the head that was found. Row: who looks. Column: at whom. #0 is the token
# that begins every text.*
#
# This is an **induction head** (Olsson and others, 2022): it finds the earlier place of the same
# word, and looks at the token *after* it. That needs two layers. An earlier one must first write
# into each token which token stood before it. (A large weight does not yet prove that a head
# matters. The proof is to remove it: chapter 13.)

# %% [markdown] id="02-mlp"
# ## 7. The MLP and the residual stream
#
# Attention moves information between tokens. The **gated MLP** works on each token alone: two
# projections, `gate` and `up`, each to F numbers. The gate passes through silu(z) = z · sigmoid(z)
# and opens or closes the numbers of `up`. Then `down` goes back to D.
#
# By hand: gate = (2, -2), up = (3, 3) gives (2 · 0.881 · 3, -2 · 0.119 · 3) = (5.28, -0.72).

# %%
gate, up = [2.0, -2.0], [3.0, 3.0]
print([round(z / (1 + math.exp(-z)) * u, 3) for z, u in zip(gate, up)])
xs = [x / 4 for x in range(-20, 21)]
curves = {"silu(z)": [z / (1 + math.exp(-z)) for z in xs], "max(z, 0)": [max(z, 0) for z in xs]}
figure, (axis,) = new_figure(width=4.5, height=2.4)
for (name, ys), color, dash in zip(curves.items(), ("blue", "orange"), ("-", "--")):
    axis.plot(xs, ys, dash, color=PALETTE[color], label=name, linewidth=2)
axis.set(xlabel="z")
axis.legend(frameon=False)
show.Picture(figure, "silu follows max(z, 0), but smoothly, and dips a little below zero.")

# %% [markdown] id="02-ex-mlp"
# *Picture: silu, a smooth version of max(z, 0).*
#
# **Your turn (2.5 and 2.6, 10 minutes each):** the MLP, and then one block: two additions to the
# stream.

# %% exercise 2.5

# %% exercise 2.6

# %% [markdown] id="02-block-ours"
# Ours: MLP and block, from nothing but weights and the functions above. And then the whole model:
# a loop over the blocks. We keep the stream after each one.


# %%
def my_mlp(mlp, x_TD):
    gate_TF, up_TF = (x_TD @ mlp.gate_up.weight.T).chunk(2, dim=-1)
    return (gate_TF * torch.sigmoid(gate_TF) * up_TF) @ mlp.down.weight.T


def my_block(block, x_TD, pos_T):
    a, read_TD = block.attention, my_norm(x_TD, block.attention_norm.weight)
    parts = (read_TD @ a.qkv.weight.T).split(qkv_rows(config), dim=-1)
    q_THK, k_LGK, v_LGK = (part.unflatten(-1, (-1, K)) for part in parts)
    out_THK, _ = my_attention(my_rope(q_THK, pos_T), my_rope(k_LGK, pos_T), v_LGK)
    x_TD = x_TD + out_THK.flatten(1) @ a.o.weight.T
    return x_TD + my_mlp(block.mlp, my_norm(x_TD, block.mlp_norm.weight))


package_TD = layer(x_TD, tables, minillm.NoCache(config))
print("block:", difference(my_block(layer, x_TD, pos_T), package_TD))


# %%
def my_model(tokens_T):
    pos_T = torch.arange(len(tokens_T), device=tokens_T.device)
    streams = [model.embedding.weight[tokens_T]]
    for block in model.layers:
        streams.append(my_block(block, streams[-1], pos_T))
    logits_TV = my_norm(streams[-1], model.norm.weight) @ model.head.weight.T
    return logits_TV, streams


ours_TV, streams = my_model(tokens_T)
print("logits of our model:", difference(ours_TV, logits_TV))
print("same best token everywhere:", torch.equal(ours_TV.argmax(-1), logits_TV.argmax(-1)))

# %% [markdown] id="02-lens"
# Every layer only adds. So we may stop after any layer and ask the head: what would you say *now*?
# (This view is called the logit lens.)

# %%
wanted = tokenizer.encode(item.answer)[1]
places = []
for done, stream_TD in enumerate(streams):
    logits_V = my_norm(stream_TD[-1:], model.norm.weight)[0] @ model.head.weight.T
    places.append(1 + (logits_V > logits_V[wanted]).sum().item())  # 1: the best of all
    best, chance = tokenizer.decode([logits_V.argmax().item()]), logits_V.softmax(-1)[wanted]
    print(f"after {done} layers: best {best!r:<12} answer in place {places[-1]:>4}, {chance:.1%}")
after = [0, *layer_numbers]
show.lines(after, {"answer": places}, xlabel="layers done", ylabel="place of the answer", log="y")

# %% [markdown] id="02-equal"
# *Picture: the place of the right answer among all tokens, if we stopped after each layer. 1 is the
# best.*
#
# ## 8. Is it right? Layer by layer against transformers
#
# Equal to our own package proves little: both could be wrong. `transformers` by Hugging Face is
# written by other people. We save `tiny` to a folder, load it there, and compare the stream after
# every layer.
#
# **Predict first (2.9, 15 minutes):** two right programs add in another order. How far apart may
# they be?

# %% exercise 2.9

# %%
import tempfile
from importlib.util import find_spec

dtypes = {"fp32": torch.float32, "fp16": torch.float16} if find_spec("transformers") else {}
if not dtypes:
    print("transformers is not installed (pip install transformers): nothing is compared with it")
ours, theirs = {}, {}  # dtype -> model
with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
    minillm.save(model, tokenizer, f"{folder}/tiny")
    for name, dtype in dtypes.items():
        import transformers

        transformers.utils.logging.disable_progress_bar()
        ours[name], _ = minillm.load(f"{folder}/tiny", dtype=name, device=str(device))
        hub_class = transformers.LlamaForCausalLM
        theirs[name] = hub_class.from_pretrained(f"{folder}/tiny", dtype=dtype).to(device)


# %%
def streams_of(model, layers, tokens):
    found = []
    keep = lambda module, inputs, out: found.append(out[0] if isinstance(out, tuple) else out)
    hooks = [block.register_forward_hook(keep) for block in layers]
    with torch.inference_mode():
        out = model(tokens)
    for hook in hooks:
        hook.remove()
    return [stream.squeeze(0).double() for stream in [*found, getattr(out, "logits", out)]]


# %%
def compare(a, b):
    largest = (a - b).abs().max() / b.abs().max()  # the largest difference, as a share
    typical = (a - b).norm() / b.norm()  # RMS of the differences, as a share of the numbers' RMS
    return largest.item(), typical.item()


table = {}  # dtype -> (largest, typical) after each layer, and of the logits
for name in dtypes:
    mine = streams_of(ours[name], ours[name].layers, tokens_T)
    other = streams_of(theirs[name], theirs[name].model.layers, tokens_T[None])
    table[name] = [compare(a, b) for a, b in zip(mine, other, strict=True)]
    assert name == "fp16" or table[name][-1][0] < 1e-4, "fp32 logits should be equal"

# %%
from exercises.desk import progress
from exercises.grading import spec
from exercises.notebook import measured

rule = {"fp32": 2**-25, "fp16": 2**-12}  # a typical rounding; 2 in each layer
print("layer ", *(f"| {name}: largest typical    rule" for name in table))
for i, label in enumerate([*layer_numbers, "logits"] if table else []):
    cells = [[*table[n][i], rule[n] * (2 * i + 2) ** 0.5] for n in table]
    print(f"{label:<6}", *("|      " + "  ".join(f"{x:.1e}" for x in cell) for cell in cells))
asked = spec.cases("2.9", progress.student())[0]["layer"]  # the layer of your question
if typical := {name: rows[asked - 1][1] for name, rows in table.items()}:
    measured("2.9", typical, "(share)", f"typical, after layer {asked}, on {where}")

# %% [markdown] id="02-rounding"
# The rule is rough, but it gives the size without running anything. Where is it off? In fp32 each
# *sum* inside a matrix multiplication rounds many times. In fp16 the sums are usually kept in fp32
# and rounded once. So fp16 is worse than fp32, but by less than the rule's 2^13 = 8,192 times.
#
# The last proof is text. Both programs write, always taking the likeliest token:

# %%
prompts = [corpus.test_items(task, count=1, seed=5)[0].prompt for task in corpus.TASKS]
for text in [*prompts, "Once upon a time there was a"] if dtypes else []:
    prompt = tokenizer.encode(text)
    written = minillm.generate(model, prompt, minillm.SamplingParams(max_tokens=24))
    inputs = torch.tensor([prompt], device=device)
    options = dict(attention_mask=torch.ones_like(inputs), max_new_tokens=24, do_sample=False)
    other = theirs["fp32"].generate(inputs, **options)[0, len(prompt) :].tolist()
    other = [token for token in other if token not in config.eos_token_ids]
    verdict = "equal" if written == other else "DIFFERENT"
    print(f"{verdict}: {text}[{tokenizer.decode(written)}]")

# %% [markdown] id="02-loses"
# ## 9. Where this loses
#
# **fp16 is not free.** Where two tokens are nearly equal, its rounding can turn the choice round.
# We count it, on test tales, with both formats of our own model. A choice can only turn where the
# gap between the two best logits is below twice the largest difference of a logit: the bound.

# %%
half, _ = minillm.load("tiny", dtype="fp16", device=str(device))
turned, total, gaps, limit = 0, 0, [0.0], 0.0
for tale in corpus.test_items("tales", count=3 if FAST else 12, seed=9):
    tokens = torch.tensor(tokenizer.encode(tale.answer), device=device)
    full_TV, half_TV = model(tokens), half(tokens).float()
    two_T2 = full_TV.topk(2).values
    flips_T = full_TV.argmax(-1) != half_TV.argmax(-1)
    turned, total = turned + flips_T.sum().item(), total + len(tokens)
    gaps += (two_T2[:, 0] - two_T2[:, 1])[flips_T].tolist()
    limit = max(limit, 2 * (full_TV - half_TV).abs().max().item())
print(f"{turned} of {total} best tokens differ; largest gap {max(gaps):.4f}, bound {limit:.4f}")

# %% [markdown] id="02-square"
# **The scores are a square.** T tokens make T · T scores a head. Linear layers cost the same for
# every token; attention costs more the longer the text is. We count multiplications and additions
# (not seconds) for one whole prompt.

# %%
linear = 2 * sum(p.numel() for p in layer.parameters() if p.dim() == 2)  # FLOP a token
lengths = [2**i for i in range(5, 16)]
attention = [n * (n + 1) / 2 * 4 * H * K for n in lengths]  # causal half; scores and sum
flops = {"linear layers": [n * linear for n in lengths], "attention": attention}
equal = linear / (2 * H * K)
print(f"as much attention as linear work at {equal:,.0f} tokens, {equal / config.width:.1f} x D")
for name, heads, n in (("tiny", H, config.max_len), ("Llama-3.1-8B", 32, 131_072)):
    size = heads * n * n * 2 / 1e9
    print(f"{name}: all scores of one layer in 16 bit, n = {n:,}: {size:,.2f} GB")
show.lines(lengths, flops, xlabel="tokens of the prompt", ylabel="FLOP a layer", log="xy")

# %% [markdown] id="02-square-vllm"
# *Picture: work of one layer for a whole prompt, counted. The linear layers grow as n, attention
# as n².*
#
# No engine stores such a square. Fused attention (FlashAttention, PyTorch's SDPA) computes it tile
# by tile and keeps only the output. The arithmetic stays n². And to write *one more* token, this
# notebook computes everything again. Chapter 04 ends that.
#
# ## The same thing in vLLM
#
# | here | in vLLM's model files |
# |---|---|
# | `attention.qkv` | `QKVParallelLinear`: the same joint matrix, cut over GPUs by heads |
# | `mlp.gate_up` | `MergedColumnParallelLinear` |
# | `my_norm` | `RMSNorm`, fused with the addition to the stream before it |
# | `my_rope` | `get_rope(...)`, one class for each kind of stretching |
# | `memory.attend` | `Attention`: keys and values go to a paged cache (chapter 06) |
#
# Same mathematics, other kernels. So the same small differences as in our table.

# %% [markdown] id="02-takeaway"
# ## Predicted and measured
#
# The rule of thumb for rounding, beside the table of section 8, and your own guess of 2.9.
#
# ## Takeaway
#
# | | this chapter |
# |---|---|
# | bytes stored | the weights: nearly all in `qkv`, `o`, `gate_up`, `down` and the embedding |
# | bytes moved | every weight once a step, however many tokens the step has |
# | arithmetic | 2 FLOP for each weight and token, plus attention, which grows with the length |
# | waiting | none yet: one user, one prompt |
#
# **Exact.** In fp32 the stream of every layer equals that of `transformers`, up to rounding.
#
# **Where this loses.** fp16 turns a few close choices round; scores grow as n²; nothing is
# remembered between two tokens.
#
# **Next:** [03 · How does it write text?](03_how_does_it_write_text.ipynb) From logits to tokens,
# and from tokens to letters.
