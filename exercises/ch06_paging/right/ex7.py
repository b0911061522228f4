"""Other right answers of 6.7."""

import triton
import triton.language as tl


@triton.jit
def _group(
    q_ptr, k_ptr, v_ptr, table_ptr, len_ptr, out_ptr, scale, M,
    H: tl.constexpr, G: tl.constexpr, K: tl.constexpr, P: tl.constexpr,
    R_BLOCK: tl.constexpr, K_BLOCK: tl.constexpr,
):  # fmt: skip
    """All query heads of one KV head together: K and V are loaded once."""
    s, g = tl.program_id(0), tl.program_id(1)
    offs_p, offs_k, offs_r = tl.arange(0, P), tl.arange(0, K_BLOCK), tl.arange(0, R_BLOCK)
    live_k, live_r = offs_k < K, offs_r < H // G
    length = tl.load(len_ptr + s)
    heads = s * H + g * (H // G) + offs_r
    mask_q = live_r[:, None] & live_k[None, :]
    q = tl.load(q_ptr + heads[:, None] * K + offs_k[None, :], mask=mask_q, other=0.0)
    acc = tl.zeros([R_BLOCK, K_BLOCK], tl.float32)
    top = tl.full([R_BLOCK], -1.0e30, tl.float32)
    total = tl.zeros([R_BLOCK], tl.float32)
    for m in range(0, tl.cdiv(length, P)):
        live = m * P + offs_p < length
        rows = (tl.load(table_ptr + s * M + m) * P + offs_p) * G + g
        places, mask = rows[:, None] * K + offs_k[None, :], live[:, None] & live_k[None, :]
        k = tl.load(k_ptr + places, mask=mask, other=0.0)
        v = tl.load(v_ptr + places, mask=mask, other=0.0)
        scores = tl.sum(q[:, None, :] * k[None, :, :], 2) * scale
        scores = tl.where(live[None, :], scores, -1.0e30)
        new_top = tl.maximum(top, tl.max(scores, 1))
        keep, weights = tl.exp(top - new_top), tl.exp(scores - new_top[:, None])
        weights = tl.where(live[None, :], weights, 0.0)
        total = total * keep + tl.sum(weights, 1)
        acc = acc * keep[:, None] + tl.sum(weights[:, :, None] * v[None, :, :], 1)
        top = new_top
    out = acc / total[:, None]
    tl.store(out_ptr + heads[:, None] * K + offs_k[None, :], out, mask=mask_q)


def a_group_together(q_SHK, k_NPGK, v_NPGK, block_table_SM, len_S, scale, out_SHK):
    (S, H, K), (_, P, G, _), M = q_SHK.shape, k_NPGK.shape, block_table_SM.shape[1]
    _group[(S, G)](
        q_SHK, k_NPGK, v_NPGK, block_table_SM, len_S, out_SHK, scale, M, H=H, G=G, K=K, P=P,
        R_BLOCK=triton.next_power_of_2(H // G), K_BLOCK=triton.next_power_of_2(K),
    )  # fmt: skip


@triton.jit
def _two_walks(
    q_ptr, k_ptr, v_ptr, table_ptr, len_ptr, out_ptr, scale, M, H, G, K, P,
    L_BLOCK: tl.constexpr, K_BLOCK: tl.constexpr,
):  # fmt: skip
    """First the largest score, then the sums; a tile crosses the borders of blocks."""
    s, h = tl.program_id(0), tl.program_id(1)
    offs_l, offs_k = tl.arange(0, L_BLOCK), tl.arange(0, K_BLOCK)
    length, g, top, total = tl.load(len_ptr + s), h // (H // G), -float("inf"), 0.0
    q = tl.load(q_ptr + (s * H + h) * K + offs_k, mask=offs_k < K, other=0.0)
    acc = tl.zeros([K_BLOCK], tl.float32)
    for walk in range(0, 2):
        for start in range(0, length, L_BLOCK):
            token, live = start + offs_l, start + offs_l < length
            block = tl.load(table_ptr + s * M + token // P, mask=live, other=0)
            rows = (block * P + token % P) * G + g
            places = rows[:, None] * K + offs_k[None, :]
            mask = live[:, None] & (offs_k < K)[None, :]
            k = tl.load(k_ptr + places, mask=mask, other=0.0)
            scores = tl.where(live, tl.sum(k * q[None, :], 1) * scale, -float("inf"))
            if walk == 0:
                top = tl.maximum(top, tl.max(scores, 0))
            else:
                v = tl.load(v_ptr + places, mask=mask, other=0.0)
                weights = tl.exp(scores - top)
                total += tl.sum(weights, 0)
                acc += tl.sum(weights[:, None] * v, 0)
    tl.store(out_ptr + (s * H + h) * K + offs_k, acc / total, mask=offs_k < K)


def two_walks_over_the_tokens(q_SHK, k_NPGK, v_NPGK, block_table_SM, len_S, scale, out_SHK):
    (S, H, K), (_, P, G, _), M = q_SHK.shape, k_NPGK.shape, block_table_SM.shape[1]
    _two_walks[(S, H)](
        q_SHK, k_NPGK, v_NPGK, block_table_SM, len_S, out_SHK, scale, M, H, G, K, P,
        L_BLOCK=16, K_BLOCK=triton.next_power_of_2(K),
    )  # fmt: skip
