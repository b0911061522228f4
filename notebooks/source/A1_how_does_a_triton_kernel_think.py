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

# %% [markdown] id="a1-title"
# # A1 · How does a Triton kernel think?
#
# **After this notebook** you can write a small GPU kernel in Triton: choose a grid, compute
# offsets, mask what is outside, add up a row, and read 16-bit weights. You can say which bytes it
# moves. You do not need a GPU.
#
# **When:** an appendix. Read it after chapter 05 and before any exercise marked [kernel] (6.7, 9.7,
# 10.7). Nothing of the evening path needs it.
#
# **Time:** 30 minutes for the notebook, 60 for the exercises.
# **Hardware:** Linux or Colab. On macOS and Windows there is no Triton: you can read everything,
# the kernels do not run, and the exercises do not count. A GPU is used if there is one.

# %% bootstrap

# %% [markdown] id="a1-test-out"
# ## Test out
#
# Do you know this already? Solve A1.1, A1.2 and A1.3 below. If the grader says "right" three times,
# you are ready for the [kernel] exercises.

# %%
import os
from importlib.util import find_spec

import torch

from minillm import show

FAST = os.environ.get("MINILLM_FAST") == "1"  # small sizes: a check that everything runs
device = "cuda" if torch.cuda.is_available() else "cpu"
if device == "cpu":
    os.environ["TRITON_INTERPRET"] = "1"  # is read when triton is imported: set it before
if find_spec("triton"):
    import triton
    import triton.language as tl
else:
    from minillm.no_triton import tl, triton

# %%
how = "compiled" if device == "cuda" else "in Triton's interpreter"
print(f"kernels run on the {device}, {how}" if find_spec("triton") else "no Triton here: read on")

# %% [markdown] id="a1-program"
# ## 1. One program, many elements
#
# PyTorch code says: "add these two tensors". A **kernel** says what *one worker* does. The GPU
# starts many of these workers. In Triton a worker is called a **program**, and all programs of a
# start are the **grid**. Every program runs the same lines. Only one thing is different: its
# number, `tl.program_id(0)`.
#
# A program does not work on one number but on a **block** of numbers (not the cache's block) at
# once. One place in the block is a **lane**. The size of a block is a power of two.
#
# Let every program sign its elements with its own number.


# %%
@triton.jit
def sign_kernel(out_ptr, n, BLOCK: tl.constexpr):
    program = tl.program_id(0)
    offs = program * BLOCK + tl.arange(0, BLOCK)
    tl.store(out_ptr + offs, program, mask=offs < n)


# %%
def signed(n, block):
    """Which program writes which of n elements; -1: nobody."""
    out_N = torch.full((n,), -1, dtype=torch.int32, device=device)
    sign_kernel[(triton.cdiv(n, block),)](out_N, n, BLOCK=block)
    return out_N.tolist()


print(signed(12, block=4))

# %% [markdown] id="a1-launch"
# Read it slowly, because every kernel begins like this:
#
# | line | what it means |
# |---|---|
# | `@triton.jit` | this function becomes a kernel |
# | `BLOCK: tl.constexpr` | known when the kernel is compiled: shapes need it |
# | `tl.arange(0, BLOCK)` | the lanes 0, 1, ..., BLOCK-1, all at once |
# | `offs` | which elements these lanes take: a vector, not a number |
# | `kernel[(3,)](...)` | start 3 programs with these arguments |
#
# `triton.cdiv(n, block)` is n / block, rounded *up*. 22 elements in blocks of 8 are 3 programs.

# %%
n = 22


def frame(block):
    programs = triton.cdiv(n, block)
    lanes = [who if who >= 0 else None for who in signed(n, block)]
    lanes += [programs - 1] * (programs * block - n)  # lanes of the last program, masked
    return show.programs([lanes], [[i >= n for i in range(len(lanes))]], "element")


show.widget(frame, [2, 4, 8, 16, 32], label="BLOCK", static=[4, 8, 32])

# %% [markdown] id="a1-launch-caption"
# *Picture: 22 elements. Colour and number: the program that signed them. Hatched: lanes of the last
# program that have no element.*
#
# Small blocks: many programs, no lane is wasted. One large block: a single program, and the rest of
# the GPU has nothing to do. A T4 has 40 multiprocessors, an H100 132: you want hundreds of
# programs.

# %% [markdown] id="a1-mask"
# ## 2. Why a mask?
#
# The hatched lanes exist: they run the same lines. Their offsets point behind the tensor. What lies
# there? Something else: another tensor, or nothing. A **mask** is a vector of True and False. Lanes
# with False neither read nor write.
#
# See what happens without one. We are careful: both tensors lie in one piece of memory.


# %%
@triton.jit
def ones_kernel(out_ptr, n, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out_ptr + offs, tl.full([BLOCK], 1.0, tl.float32))  # no mask!


memory = torch.zeros(32, device=device)
mine, neighbour = memory[:22], memory[22:]
ones_kernel[(3,)](mine, 22, BLOCK=8)
print("mine     ", mine.tolist())
print("neighbour", neighbour.tolist())

# %% [markdown] id="a1-mask-meaning"
# Two numbers of the neighbour are gone, and no error came. In a real engine the neighbour is
# another user's cache. Reading outside is as bad: you get whatever lies there, or the GPU stops the
# whole program with "illegal memory access", often many lines later.
#
# So the grader of this course looks at every address. It tells you which program left which tensor.
#
# Two rules:
#
# - Mask **every** load and **every** store whose offsets can reach the end.
# - What a masked lane reads is undefined. If its value comes into a result, give it the value that
#   changes nothing: `tl.load(ptr, mask=mask, other=0.0)` for a sum, `other=float("-inf")` for a
#   maximum. If it is only stored under the same mask, it does not matter.
#
# Here is one whole kernel: load, compute, store. It squares every number.


# %%
@triton.jit
def square_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)  # which elements are mine?
    mask = offs < n  # which of them exist?
    x = tl.load(x_ptr + offs, mask=mask)  # load: a vector of BLOCK numbers
    tl.store(out_ptr + offs, x * x, mask=mask)  # compute, store


x_N = torch.arange(22.0, device=device)
out_N = torch.zeros_like(x_N)
square_kernel[(triton.cdiv(22, 8),)](x_N, out_N, 22, BLOCK=8)
print(out_N.tolist())

# %% [markdown] id="a1-square"
# A tensor that you pass arrives as its **pointer**. `x_ptr + offs` is a vector of addresses, and
# `x` a vector of numbers. The masked lanes of `x` hold nothing of use. They are squared too, but
# not stored.

# %% exercise A1.1

# %% [markdown] id="a1-pointer"
# ## 3. A pointer is a number
#
# A kernel does not know shapes. It gets an **address**, the place of the first element, and adds to
# it. So a matrix is only a way of counting: element [r, c] lies at `r * row_stride + c`. A
# **stride** is how far it is to the next row. PyTorch knows it: `x.stride(0)`.
#
# The row stride need not be the number of columns. A slice `x[:, :10]` of a wide matrix is not
# copied. Its rows are short, its stride is still wide.


# %%
@triton.jit
def sign_rows_kernel(out_ptr, columns, row_stride, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    offs = tl.arange(0, BLOCK)
    tl.store(out_ptr + row * row_stride + offs, row, mask=offs < columns)


wide = torch.full((5, 14), -1, dtype=torch.int32, device=device)
part = wide[:, :10]
sign_rows_kernel[(5,)](part, part.shape[1], part.stride(0), BLOCK=16)
print("shape", list(part.shape), "strides", part.stride())
named = [[who if who >= 0 else None for who in row] for row in wide.tolist()]
said = "5 programs write 10 elements of a row each; 4 columns behind each row are nobody's."
show.programs(named, xlabel="column", ylabel="row", alt=said)

# %% [markdown] id="a1-pointer-caption"
# *Picture: one program a row. Grey: between two rows of the slice lie four columns that are not
# ours.*
#
# What if the kernel counts `row * columns`, as if the rows lay side by side?

# %%
wide.fill_(-1)
sign_rows_kernel[(5,)](part, part.shape[1], part.shape[1], BLOCK=16)  # a wrong stride
wrong = [[who if who >= 0 else None for who in row] for row in wide.tolist()]
said = "5 programs with a wrong stride: 50 elements in a run, also in the gaps between the rows."
show.programs(wrong, xlabel="column", ylabel="row", alt=said)

# %% [markdown] id="a1-stride-caption"
# *Picture: the same kernel with a wrong stride. The rows slide into the gaps. On a tensor without
# gaps the same fault does not show: test with slices.*

# %% [markdown] id="a1-reduce"
# ## 4. From many numbers to one
#
# `tl.sum(x, axis=0)` adds the lanes of a block. Inside, a GPU does it in halves: lanes 0-3 take the
# sums with lanes 4-7, and so on. 8 numbers need 3 steps, 1,024 need 10.

# %%
show.tree([3, 1, 4, 1, 5, 9, 2, 6])

# %% [markdown] id="a1-reduce-caption"
# *Picture: every row adds two numbers of the row above.*
#
# The order is not that of a loop, so the last digits of a sum can differ (chapter 02). And a row
# may be longer than a block. Then a program walks along it and keeps a **vector** of partial sums.
# The step across the lanes is the expensive one. So it is cheaper to keep a vector in each step of
# the loop, and to add across the lanes once, at the end. Both ways are right. Compare them:

# %%
row = [float(i % 7) for i in range(64)]
block = 8
partial = [sum(row[lane::block]) for lane in range(block)]  # what each lane has collected
print("a sum across the lanes for every block:", 64 // block * 3, "steps of halves")
print("a vector of partial sums, then one sum:", 64 // block - 1, "additions of vectors + 3 steps")
print("the same result:", sum(partial) == sum(row), sum(row))

# %% exercise A1.2

# %% [markdown] id="a1-sectors"
# ## 5. Which bytes really move?
#
# The law of this course is: time = bytes / bandwidth. On a GPU memory is moved in **sectors** of 32
# bytes: 8 numbers of 32 bit, 16 of 16 bit (NVIDIA, CUDA C++ Best Practices Guide, "Coalesced Access
# to Global Memory"). If one lane needs 4 bytes of a sector, all 32 are moved.
#
# So it matters which elements the lanes of *one* load take. Eight lanes along a row, and eight
# lanes down a column, of a matrix with 32 columns:

# %%
lanes = {"row": range(8), "step 2": range(0, 16, 2), "column": range(0, 8 * 32, 32)}
for name, places in lanes.items():
    moved = 32 * len(show.moved_sectors(places))
    print(
        f"{name:7} 32 bytes used, {moved:3} bytes moved: {32 / moved:.1%} of the bandwidth is used"
    )
show.sectors(lanes, length=256)

# %% [markdown] id="a1-sectors-caption"
# *Picture: memory from left to right, thin lines are borders of sectors. Black: what the lanes
# need. Blue: what is moved with it. Right: numbers used / numbers moved.*
#
# Neighbouring lanes should take neighbouring elements. This is called **coalesced**. It is why a
# program of A1.2 walks along a row, and why a K/V block of chapter 06 keeps the channels of a head
# side by side.
#
# (A column is not always lost. If another program soon needs the rest of the sector, a cache may
# still hold it. Count, then measure.)

# %% [markdown] id="a1-tile"
# ## 6. Tiles, and 16-bit weights
#
# Two vectors of offsets make a **tile**: `offs_o[:, None]` is a column, `offs_i[None, :]` a row,
# and their sum has shape [rows, columns]. Everything else stays as it was: pointers, mask, load.
#
# Decoding one token multiplies every weight matrix with one vector: a **GEMV**. Each weight is read
# once and used once. A program takes some rows and walks along the columns, tile by tile. Let all
# programs number their steps.


# %%
@triton.jit
def walk_kernel(out_ptr, rows, columns, ROWS: tl.constexpr, COLS: tl.constexpr):
    offs_o = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    for start in range(0, columns, COLS):
        offs_i = start + tl.arange(0, COLS)
        mask = (offs_o < rows)[:, None] & (offs_i < columns)[None, :]
        places = offs_o[:, None] * columns + offs_i[None, :]
        step = tl.program_id(0) * tl.cdiv(columns, COLS) + start // COLS
        tl.store(out_ptr + places, step, mask=mask)


# %%
steps = torch.full((6, 22), -1, dtype=torch.int32, device=device)
walk_kernel[(triton.cdiv(6, 4),)](steps, 6, 22, ROWS=4, COLS=8)
walked = [[s if s >= 0 else None for s in row] for row in steps.tolist()]
said = "A matrix of 6 rows and 22 columns, written in 6 steps of 2 programs."
show.programs(walked, xlabel="column (input)", ylabel="row (output)", alt=said)

# %% [markdown] id="a1-tile-caption"
# *Picture: a matrix of 6 rows and 22 columns in tiles of 4 x 8. 0, 1, 2: the three steps of program
# 0, which takes rows 0 to 3. 3, 4, 5: those of program 1, which takes the two other rows. Half of
# its lanes are masked.*
#
# The weights have 16 bits: half the bytes, so at best half the time. But where are they *added*? A
# float16 number has 11 binary digits (bfloat16, the other 16-bit format, has only 8). Look at a
# long sum of ones:

# %%
half, total = torch.tensor(0.0, dtype=torch.float16), 0.0
for _ in range(3000):
    half, total = half + 1, total + 1
print("3,000 ones in float16:", half.item(), " exact:", total)
x = torch.randn(1100, dtype=torch.float16, generator=torch.Generator().manual_seed(0))
exact = (x.double() * x.double()).sum()
for kind in (torch.float16, torch.float32):
    found = torch.tensor(0.0, dtype=kind)
    for value in x.to(kind):
        found = found + value * value
    print(f"sum of 1,100 squares in {kind}: {abs(found.double() - exact) / exact:.1e} off")

# %% [markdown] id="a1-half"
# From 2,048 on, adding 1 in float16 changes nothing. So the rule of every kernel in this course:
# **store in few bits, add up in 32**: `.to(tl.float32)` right after the load. It costs no bytes,
# because it happens inside the program.
#
# Three tools for sums of a tile:
#
# - `total = tl.zeros([ROWS], tl.float32)`, before the loop: one sum a row, in 32 bits.
# - `tl.sum(tile, axis=1)` adds along each row: [ROWS, COLS] becomes [ROWS].
# - `total += ...`, in the loop: the sums grow tile by tile.

# %% exercise A1.3

# %% [markdown] id="a1-gpu"
# ## 7. What changes on a GPU?
#
# So far Triton's **interpreter** ran the lines with NumPy, one program after another. On a GPU the
# *same source* is compiled. We can do that here, without a GPU: for compute capability 7.5, the T4
# of Colab. Triton needs a fresh process for it, without the interpreter: `minillm.ptx` does that
# with the source of a kernel of this notebook.


# %%
@triton.jit
def row_kernel(x_ptr, out_ptr, columns, row_stride, BLOCK: tl.constexpr):
    offs = tl.arange(0, BLOCK)
    start = x_ptr + tl.program_id(0) * row_stride
    x = tl.load(start + offs, mask=offs < columns, other=0.0)
    tl.store(out_ptr + tl.program_id(0), tl.sum(x, axis=0))


# %%
from minillm import ptx

signs = dict(out_ptr="*i32", n="i32")  # the types of the arguments: * is a pointer
sums = dict(x_ptr="*fp32", out_ptr="*fp32", columns="i32", row_stride="i32")
for kernel, types in ((sign_kernel, signs), (row_kernel, sums)):
    made = ptx.compiled(kernel, types, {"BLOCK": 1024}, capability=75)
    if made is None:
        print("no Triton on this machine: nothing is compiled")
        continue
    print(f"{kernel.__name__:11} for sm_75: {made['lines']} lines of PTX", end="")
    print(f" ({made['instructions']} instructions), {made['registers']} registers a thread", end="")
    print(f", {made['shared']} bytes of shared memory")

# %%
if made:  # the last kernel: how the sum goes across the lanes
    across = [line for line in ptx.instructions(made["ptx"]) if "shfl" in line or "shared" in line]
    print("\n".join(across[:4]), f"\n... {len(across)} lines in all")

# %% [markdown] id="a1-gpu-meaning"
# Read the words:
#
# - **PTX** is the GPU's assembly language. Some lines of Triton become a few hundred.
# - A block of 1,024 lanes is not 1,024 threads. Triton deals it out to 4 **warps** of 32 threads:
#   each thread holds 8 of your lanes, in **registers**.
# - `st.global` writes to memory. `shfl` hands a number from one thread to another: these are the
#   halves of the sum. Between warps they go through **shared memory**, some bytes beside the
#   arithmetic.
#
# You wrote none of this: no threads, no shared memory. That is what Triton is for.
#
# The interpreter forgives more than the compiler. Inside a kernel, a Python list, a `break` or a
# function of NumPy may run there and not compile. (The grader refuses NumPy and plain Python
# functions in a kernel.) And programs run one after another there. On a
# GPU they run at the same time, in any order: two programs must never write the same element.

# %% [markdown] id="a1-loses"
# ## 8. Where does it lose?
#
# First, the interpreter. It is for being right, not for being fast. We measure the same sums of
# rows with it and with PyTorch.

# %%
import time


def milliseconds(work, tries):
    """The shortest of some runs: what the machine can do when nobody disturbs it."""
    finish = torch.cuda.synchronize if device == "cuda" else (lambda: None)
    took = []
    for _ in range(tries + 1):
        finish()
        start = time.perf_counter()
        work()
        finish()
        took.append(1e3 * (time.perf_counter() - start))
    return min(took[1:])  # the first run warms up


# %%
from minillm import machine

read = machine.read_bandwidth(device).bytes_per_second
named = machine.cpu_model() if device == "cpu" else torch.cuda.get_device_name()
print(f"{named}: reads {read / 1e9:.1f} GB/s")

# %%
for rows in (4, 16) if FAST else (16, 64, 256):
    x_RC, out_R = torch.randn(rows, 1000, device=device), torch.empty(rows, device=device)
    run = lambda x=x_RC, out=out_R: row_kernel[(len(x),)](x, out, 1000, x.stride(0), BLOCK=1024)
    torch_ms = milliseconds(lambda x=x_RC: x.sum(dim=1), 15)
    if find_spec("triton"):
        ms = milliseconds(run, 3)
        off = (out_R - x_RC.sum(dim=1)).abs().max() / out_R.abs().max()
        took = f"kernel {ms:9.3f} ms ({how}; {off:.0e} off)"
        took += "" if FAST or device == "cuda" else f", {ms / torch_ms:,.0f} x as long as torch"
    else:
        took = "kernel: no Triton here"
    print(
        f"{rows:4} rows: bound {1e3 * x_RC.nbytes / read:.4f} ms, torch {torch_ms:.3f} ms, {took}"
    )

# %% [markdown] id="a1-interpreter-meaning"
# Every line of a kernel costs the interpreter some microseconds of Python, for every program. So
# small grids are right for tests, and the times above say nothing about a GPU.
# (PyTorch may be faster than its bound here: the bound is for main memory, and so small a matrix
# stays in the processor's cache.)
#
# What would a GPU do? The next cell measures it where there is one.

# %%
for million in (1, 16, 64) if device == "cuda" and find_spec("triton") else ():
    ints = torch.empty(million * 2**20, dtype=torch.int32, device=device)
    grid = (triton.cdiv(len(ints), 1024),)
    ms = milliseconds(lambda o=ints, g=grid: sign_kernel[g](o, len(o), BLOCK=1024), 15)
    print(f"{million} Mi numbers written: {ms:.3f} ms, bound {1e3 * ints.nbytes / read:.3f} ms")
if device == "cpu":
    print("GPU: not measured yet (no GPU on this machine)")

# %% [markdown] id="a1-launch-bound"
# Second, **small sizes are bound by the launch**. Starting a kernel costs some microseconds,
# however little it does. On the paper GPU of this course (made up: 300 GB/s, 10 us a launch) we can
# count at which size an addition begins to be worth its start.

# %%
from minillm.clock import PAPER_GPU

sizes = [2**i for i in range(8, 27, 2)]
moving = [1e6 * 3 * 4 * size / PAPER_GPU.bandwidth for size in sizes]  # two reads, one write, fp32
launch = 1e6 * PAPER_GPU.launch
whole = [launch + us for us in moving]
even = PAPER_GPU.launch * PAPER_GPU.bandwidth / 12
print(f"moving takes as long as the launch at {even:,.0f} numbers")
drawn = {"moving": moving, "launch": [launch] * len(sizes), "both": whole}
show.lines(sizes, drawn, xlabel="numbers", ylabel="us", log="xy")

# %% [markdown] id="a1-launch-caption-2"
# *Picture: the paper GPU, counted, not measured. Left of the crossing a kernel is all launch:
# making it faster inside changes nothing.*
#
# One row of `tiny` has 256 numbers. So three small kernels should become one: RMSNorm reads a row
# once, squares, adds up, divides and writes (a **fused** kernel). Or the launches of a whole step
# are recorded once and started together (CUDA graphs).
#
# Third, against libraries. For large 16-bit matrices NVIDIA's own library is hard to beat. A kernel
# of your own pays where no library function fits: weights in 4 bits, keys in pages.
#
# ## Predicted and measured
#
# This appendix has no prediction to score. What was counted: sectors, steps of a sum, the crossing
# above. What was measured: the interpreter, beside its bound. What was not: any GPU, unless the
# cell above printed one.

# %% [markdown] id="a1-takeaway"
# ## Takeaway
#
# | | with a kernel of your own |
# |---|---|
# | **bytes stored** | as before, but 16, 8 or 4 bits can be read as they lie |
# | **bytes moved** | each once, if neighbouring lanes take neighbours; no results in between |
# | **arithmetic** | the same; in 32 bits, whatever is stored |
# | **waiting** | one launch instead of several; small ones still wait for the launch |
#
# **Exact or lossy?** Exact up to the order of the sums.
#
# A kernel thinks like this: *who am I* (program id), *which elements are mine* (offsets), *which of
# them exist* (mask), load, compute, store.
#
# **Where this loses:** small tensors (launch), accesses with a stride (sectors), what a library
# already does well, and your time.
#
# ## The same thing in vLLM
#
# | here | vLLM |
# |---|---|
# | `@triton.jit` | the same: its Triton kernels are Python files, too |
# | mask, offsets, strides as arguments | the same style, with `stride_...` arguments |
# | 6.7, paged decode | its Triton attention backend; other backends are written in CUDA |
# | GEMV for packed weights (9.7, 10.7) | mostly CUDA kernels (Marlin and others) |
#
# **Next:** [06 · Where does cache memory go?](06_where_does_cache_memory_go.ipynb) There keys and
# values lie in pages, and exercise 6.7 writes the kernel that reads them.
