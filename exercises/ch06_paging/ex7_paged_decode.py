"""Exercise 6.7: paged attention for decoding, as a Triton kernel (do appendix A1 first).

Every request s has one new query for each head, and len_S[s] tokens in the pool (the new one is
there already). Token t lies in block block_table[s, t // P], slot t % P. Query head h reads KV
head h // (H // G). The table's unused entries are -1, and slots without a token hold NaN.

One program computes one head of one request: grid (S, H). It walks from block to block and never
holds all scores: this is the **online softmax** of 6.6. Keep three values:

    top       the largest score so far (begin with -inf)
    total     sum of exp(score - top) so far
    acc_K     sum of exp(score - top) * v so far, one number a channel

When a block brings a larger top, both sums shrink by exp(old top - new top). Out: acc_K / total.

K need not be a power of two: K_BLOCK is the next one, so mask the channels, too. len_S[s] >= 1.
All tensors are contiguous: k[n, p, g, c] lies at ((n * P + p) * G + g) * K + c.

    tl.zeros([K_BLOCK], tl.float32)              zeros
    n = tl.load(len_ptr + s)                     one number, without a mask
    tl.sum(x, axis=1), tl.max(x, axis=1)         of each row of a tile; axis=0: each column
    tl.exp(x), tl.maximum(a, b)                  lane by lane
    tl.where(mask, x, float("-inf"))             x where the mask is true, else -inf
    kernel[(S, H)](...)                          S x H programs: s is tl.program_id(0) in each,
                                                 h is tl.program_id(1)
"""

import triton
import triton.language as tl


@triton.jit
def paged_decode_kernel(
    q_ptr, k_ptr, v_ptr, table_ptr, len_ptr, out_ptr, scale, M,
    H: tl.constexpr, G: tl.constexpr, K: tl.constexpr, P: tl.constexpr, K_BLOCK: tl.constexpr,
):  # fmt: skip
    # slots offs_p, channels offs_k = tl.arange(0, P), tl.arange(0, K_BLOCK)
    raise NotImplementedError("Exercise 6.7: from block to block, with three running values")


def paged_decode(q_SHK, k_NPGK, v_NPGK, block_table_SM, len_S, scale, out_SHK) -> None:
    """float32 q [S, H, K], pools [N, P, G, K]; int32 table [S, M], lengths [S]. Writes out_SHK."""
    (S, H, K), (_, P, G, _), M = q_SHK.shape, k_NPGK.shape, block_table_SM.shape[1]
    paged_decode_kernel[(S, H)](
        q_SHK, k_NPGK, v_NPGK, block_table_SM, len_S, out_SHK, scale, M,
        H=H, G=G, K=K, P=P, K_BLOCK=triton.next_power_of_2(K),
    )  # fmt: skip
