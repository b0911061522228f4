"""Reference of 6.7."""

import triton
import triton.language as tl


@triton.jit
def paged_decode_kernel(
    q_ptr, k_ptr, v_ptr, table_ptr, len_ptr, out_ptr, scale, M,
    H: tl.constexpr, G: tl.constexpr, K: tl.constexpr, P: tl.constexpr, K_BLOCK: tl.constexpr,
):  # fmt: skip
    s, h = tl.program_id(0), tl.program_id(1)
    offs_p, offs_k = tl.arange(0, P), tl.arange(0, K_BLOCK)
    length = tl.load(len_ptr + s)
    q = tl.load(q_ptr + (s * H + h) * K + offs_k, mask=offs_k < K, other=0.0)
    acc_K = tl.zeros([K_BLOCK], tl.float32)
    top, total = float("-inf"), 0.0
    for m in range(0, tl.cdiv(length, P)):
        block = tl.load(table_ptr + s * M + m)
        live = m * P + offs_p < length
        rows = (block * P + offs_p) * G + h // (H // G)
        places = rows[:, None] * K + offs_k[None, :]
        mask = live[:, None] & (offs_k < K)[None, :]
        k = tl.load(k_ptr + places, mask=mask, other=0.0)
        v = tl.load(v_ptr + places, mask=mask, other=0.0)
        scores_P = tl.where(live, tl.sum(q[None, :] * k, 1) * scale, float("-inf"))
        new_top = tl.maximum(top, tl.max(scores_P, 0))
        keep, weights_P = tl.exp(top - new_top), tl.exp(scores_P - new_top)
        total = total * keep + tl.sum(weights_P, 0)
        acc_K = acc_K * keep + tl.sum(weights_P[:, None] * v, 0)
        top = new_top
    tl.store(out_ptr + (s * H + h) * K + offs_k, acc_K / total, mask=offs_k < K)


def paged_decode(q_SHK, k_NPGK, v_NPGK, block_table_SM, len_S, scale, out_SHK):
    (S, H, K), (_, P, G, _), M = q_SHK.shape, k_NPGK.shape, block_table_SM.shape[1]
    paged_decode_kernel[(S, H)](
        q_SHK, k_NPGK, v_NPGK, block_table_SM, len_S, out_SHK, scale, M,
        H=H, G=G, K=K, P=P, K_BLOCK=triton.next_power_of_2(K),
    )  # fmt: skip
