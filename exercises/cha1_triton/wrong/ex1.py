"""Named wrong answers of A1.1."""

import triton
import triton.language as tl


@triton.jit
def _add(x_ptr, y_ptr, out_ptr, n, read, write, step, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * step + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offs, mask=offs < read)
    y = tl.load(y_ptr + offs, mask=offs < read)
    tl.store(out_ptr + offs, x + y, mask=offs < write)


def _run(x_N, y_N, out_N, programs=None, read=None, write=None, step=256, block=256):
    n = x_N.numel()
    read, write = read or n, write or n
    programs = triton.cdiv(n, 256) if programs is None else programs
    _add[(programs,)](x_N, y_N, out_N, n, read, write, step, block)


def no_mask(x_N, y_N, out_N):
    """no mask: the last program reads and writes behind the vectors"""
    _run(x_N, y_N, out_N, read=2**30, write=2**30)


def mask_on_the_store_only(x_N, y_N, out_N):
    """a mask for the store, none for the loads: the last program reads what is not there"""
    _run(x_N, y_N, out_N, read=2**30)


def mask_on_the_loads_only(x_N, y_N, out_N):
    """a mask for the loads, none for the store: the last program writes over what comes behind"""
    _run(x_N, y_N, out_N, write=2**30)


def last_element_missed(x_N, y_N, out_N):
    """a mask that ends one element early"""
    _run(x_N, y_N, out_N, read=x_N.numel() - 1, write=x_N.numel() - 1)


def grid_rounded_down(x_N, y_N, out_N):
    """n // BLOCK programs: the rest of a block is never computed"""
    _run(x_N, y_N, out_N, programs=x_N.numel() // 256)


def every_program_the_first_block(x_N, y_N, out_N):
    """offsets without the program's number: every program computes the first block"""
    _run(x_N, y_N, out_N, step=0)


def programs_one_apart(x_N, y_N, out_N):
    """program_id + arange: the programs are one element apart, not one block"""
    _run(x_N, y_N, out_N, step=1)


def one_program(x_N, y_N, out_N):
    """one program for everything, however large"""
    _run(x_N, y_N, out_N, programs=1, block=16384)


def stops_at_4096(x_N, y_N, out_N):
    """a mask that ends at 4,096: nothing behind it is computed"""
    _run(x_N, y_N, out_N, read=min(x_N.numel(), 4096), write=min(x_N.numel(), 4096))
