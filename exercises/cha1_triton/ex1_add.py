"""Exercise A1.1: add two vectors with a Triton kernel.

Every program of the grid takes BLOCK elements (a power of two, at most 1,024):
program 0 the first BLOCK, program 1 the next, and so on. n need not be a multiple of BLOCK.
So the last program needs a mask: it must not touch what lies behind the vectors.

    out[i] = x[i] + y[i]        for i = 0 .. n-1

`add` starts the kernel: kernel[(number of programs,)](arguments). It computes nothing itself.
Triton's interpreter runs your kernel here; it needs no GPU.
"""

import triton
import triton.language as tl


@triton.jit
def add_kernel(x_ptr, y_ptr, out_ptr, n, BLOCK: tl.constexpr):
    raise NotImplementedError("Exercise A1.1: offsets, mask, two loads, one store")


def add(x_N, y_N, out_N) -> None:
    """x_N, y_N: float32 [N]. Writes x + y to out_N."""
    raise NotImplementedError("Exercise A1.1: start add_kernel with enough programs")
