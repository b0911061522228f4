"""Named wrong answers of 6.7."""

import triton
import triton.language as tl


@triton.jit
def _decode(
    q_ptr, k_ptr, v_ptr, table_ptr, len_ptr, out_ptr, scale, M,
    H: tl.constexpr, G: tl.constexpr, K: tl.constexpr, P: tl.constexpr, K_BLOCK: tl.constexpr,
    SLIP: tl.constexpr,
):  # fmt: skip
    s, h = tl.program_id(0), tl.program_id(1)
    offs_p, offs_k = tl.arange(0, P), tl.arange(0, K_BLOCK)
    length = tl.load(len_ptr + s)
    g = h % G if SLIP == "heads" else h // (H // G)
    q = tl.load(q_ptr + (s * H + h) * K + offs_k, mask=offs_k < K, other=0.0)
    acc_K = tl.zeros([K_BLOCK], tl.float32)
    top, total = 0.0 if SLIP == "zero" or SLIP == "no top" else float("-inf"), 0.0
    blocks = M if SLIP == "table" else tl.cdiv(length, P)
    for m in range(0, blocks):
        block = m if SLIP == "order" else tl.load(table_ptr + s * M + m)
        live = m * P + offs_p < length
        in_use = offs_p >= 0 if SLIP == "tail" or SLIP == "table" else live
        places = ((block * P + offs_p) * G + g)[:, None] * K + offs_k[None, :]
        mask = in_use[:, None] & (offs_k < K)[None, :]
        k = tl.load(k_ptr + places, mask=mask, other=0.0)
        v = tl.load(v_ptr + places, mask=mask, other=0.0)
        scores_P = tl.sum(q[None, :] * k, 1) * (1.0 if SLIP == "scale" else scale)
        if SLIP != "padding":
            scores_P = tl.where(live, scores_P, float("-inf"))
        new_top = top if SLIP == "no top" else tl.maximum(top, tl.max(scores_P, 0))
        keep, weights_P = tl.exp(top - new_top), tl.exp(scores_P - new_top)
        total = total * (1.0 if SLIP == "total" else keep) + tl.sum(weights_P, 0)
        acc_K = acc_K * (1.0 if SLIP == "acc" else keep) + tl.sum(weights_P[:, None] * v, 0)
        top = new_top
    tl.store(out_ptr + (s * H + h) * K + offs_k, acc_K / total, mask=offs_k < K)


def _run(q_SHK, k_NPGK, v_NPGK, block_table_SM, len_S, scale, out_SHK, slip):
    (S, H, K), (_, P, G, _), M = q_SHK.shape, k_NPGK.shape, block_table_SM.shape[1]
    _decode[(S, H)](
        q_SHK, k_NPGK, v_NPGK, block_table_SM, len_S, out_SHK, scale, M,
        H=H, G=G, K=K, P=P, K_BLOCK=triton.next_power_of_2(K), SLIP=slip,
    )  # fmt: skip


def acc_not_rescaled(q_SHK, k_NPGK, v_NPGK, block_table_SM, len_S, scale, out_SHK):
    """acc_K does not shrink when a larger top comes"""
    _run(q_SHK, k_NPGK, v_NPGK, block_table_SM, len_S, scale, out_SHK, "acc")


def total_not_rescaled(q_SHK, k_NPGK, v_NPGK, block_table_SM, len_S, scale, out_SHK):
    """total does not shrink when a larger top comes"""
    _run(q_SHK, k_NPGK, v_NPGK, block_table_SM, len_S, scale, out_SHK, "total")


def reads_the_page_tail(q_SHK, k_NPGK, v_NPGK, block_table_SM, len_S, scale, out_SHK):
    """loads of whole blocks: the weight of an empty slot is 0, but 0 times NaN is NaN"""
    _run(q_SHK, k_NPGK, v_NPGK, block_table_SM, len_S, scale, out_SHK, "tail")


def walks_the_whole_table(q_SHK, k_NPGK, v_NPGK, block_table_SM, len_S, scale, out_SHK):
    """all M entries of the table: an unused entry is -1, and block -1 lies before the pool"""
    _run(q_SHK, k_NPGK, v_NPGK, block_table_SM, len_S, scale, out_SHK, "table")


def ignores_the_table(q_SHK, k_NPGK, v_NPGK, block_table_SM, len_S, scale, out_SHK):
    """blocks 0, 1, 2 ... of the pool for every request: the block table is not read"""
    _run(q_SHK, k_NPGK, v_NPGK, block_table_SM, len_S, scale, out_SHK, "order")


def padding_counts(q_SHK, k_NPGK, v_NPGK, block_table_SM, len_S, scale, out_SHK):
    """empty slots with a score of 0 instead of -inf: they take a share of the softmax"""
    _run(q_SHK, k_NPGK, v_NPGK, block_table_SM, len_S, scale, out_SHK, "padding")


def heads_tiled(q_SHK, k_NPGK, v_NPGK, block_table_SM, len_S, scale, out_SHK):
    """KV heads dealt out as 0 1 0 1 instead of 0 0 1 1"""
    _run(q_SHK, k_NPGK, v_NPGK, block_table_SM, len_S, scale, out_SHK, "heads")


def no_scale(q_SHK, k_NPGK, v_NPGK, block_table_SM, len_S, scale, out_SHK):
    """leaving out the scale"""
    _run(q_SHK, k_NPGK, v_NPGK, block_table_SM, len_S, scale, out_SHK, "scale")


def top_begins_with_zero(q_SHK, k_NPGK, v_NPGK, block_table_SM, len_S, scale, out_SHK):
    """top begins with 0: where all scores are very negative, every exp is 0, and 0 / 0 is NaN"""
    _run(q_SHK, k_NPGK, v_NPGK, block_table_SM, len_S, scale, out_SHK, "zero")


def exp_of_the_score_itself(q_SHK, k_NPGK, v_NPGK, block_table_SM, len_S, scale, out_SHK):
    """exp(score) without a top: of large scores it is inf, and inf / inf is NaN"""
    _run(q_SHK, k_NPGK, v_NPGK, block_table_SM, len_S, scale, out_SHK, "no top")
