"""Other right answers of A1.1."""

import triton
import triton.language as tl


@triton.jit
def _with_block_pointers(x_ptr, y_ptr, out_ptr, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK
    x_block = tl.make_block_ptr(x_ptr, (n,), (1,), (at,), (BLOCK,), (0,))
    y_block = tl.make_block_ptr(y_ptr, (n,), (1,), (at,), (BLOCK,), (0,))
    out_block = tl.make_block_ptr(out_ptr, (n,), (1,), (at,), (BLOCK,), (0,))
    both = tl.load(x_block, boundary_check=(0,)) + tl.load(y_block, boundary_check=(0,))
    tl.store(out_block, both, boundary_check=(0,))


def block_pointers(x_N, y_N, out_N):
    n = x_N.numel()
    _with_block_pointers[(triton.cdiv(n, 128),)](x_N, y_N, out_N, n, BLOCK=128)


@triton.jit
def _two_dimensions(x_ptr, y_ptr, out_ptr, n, HALF: tl.constexpr):
    block = 2 * tl.program_id(0) + tl.program_id(1)
    offs = block * HALF + tl.arange(0, HALF)
    x = tl.load(x_ptr + offs, mask=offs < n, other=0.0)
    y = tl.load(y_ptr + offs, mask=offs < n, other=0.0)
    tl.store(out_ptr + offs, x + y, mask=offs < n)


def grid_of_two_axes(x_N, y_N, out_N):
    n = x_N.numel()
    _two_dimensions[(triton.cdiv(n, 1024), 2)](x_N, y_N, out_N, n, 512)


@triton.jit
def _every_fourth(x_ptr, y_ptr, out_ptr, n, BLOCK: tl.constexpr):
    count = tl.num_programs(0)
    for start in range(tl.program_id(0) * BLOCK, n, count * BLOCK):
        offs = start + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + offs, mask=offs < n)
        y = tl.load(y_ptr + offs, mask=offs < n)
        tl.store(out_ptr + offs, x + y, mask=offs < n)


def four_programs_that_come_again(x_N, y_N, out_N):
    _every_fourth[(4,)](x_N, y_N, out_N, x_N.numel(), BLOCK=64)
