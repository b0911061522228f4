"""Check of 6.7: requests of odd lengths in one pool; all that is not theirs is NaN or -1."""

from exercises.grading.judge import normal
from exercises.grading.spec import Exercise

EXERCISE = Exercise(
    id="6.7", title="Paged attention, the kernel", kind="kernel", entry="paged_decode",
    minutes=45, difficulty=5, tolerance="fp32", edits=("out_SHK",),
    hardware="any Linux machine, or Colab; after appendix A1",
    sizes=(
        {"P": 2, "G": 1, "share": 1, "K": 2, "lengths": (3,)},
        {"P": 4, "G": 1, "share": 1, "K": 4, "lengths": (1, 4, 6)},
        {"P": 4, "G": 2, "share": 2, "K": 5, "lengths": (9, 2)},
        {"P": 8, "G": 2, "share": 3, "K": 16, "lengths": (17, 8, 31, 1)},
        {"P": 2, "G": 1, "share": 2, "K": 3, "lengths": (3, 4), "heights": (-120, 120)},
    ),
    hints=(
        "A block holds 4 tokens and a request has 6. Its table says [7, 2]. Where in the pool is "
        "token 5, and which slots of block 2 must not count? What is 0 * NaN?",
        "Per block: token slots offs_p [P], live = m * P + offs_p < length. scores_P = scale * "
        "sum(q * k, 1), -inf where not live. new_top = max(top, max(scores_P)); keep = "
        "exp(top - new_top); weights_P = exp(scores_P - new_top). total = total * keep + "
        "sum(weights_P); acc_K = acc_K * keep + sum(weights_P[:, None] * v, 0). Out: "
        "acc_K / total.",
        "length, share = tl.load(len_ptr + s), H // G\n"
        "q = tl.load(q_ptr + (s * H + h) * K + offs_k, mask=offs_k < K, other=0.0)\n"
        "acc_K = tl.zeros([K_BLOCK], tl.float32)\n"
        "top, total = float('-inf'), 0.0\n"
        "for m in range(0, tl.cdiv(length, P)):\n"
        "    block = tl.load(table_ptr + s * M + m)\n"
        "    live = m * P + offs_p < length\n"
        "    rows = (block * P + offs_p) * G + h // share\n"
        "    places = rows[:, None] * K + offs_k[None, :]\n"
        "    mask = live[:, None] & (offs_k < K)[None, :]\n"
        "    k = tl.load(k_ptr + places, mask=mask, other=0.0)\n"
        "    v = tl.load(v_ptr + places, mask=mask, other=0.0)\n"
        "    scores_P = tl.where(live, tl.sum(q[None, :] * k, 1) * scale, float('-inf'))\n"
        "    new_top = tl.maximum(top, tl.max(scores_P, 0))\n"
        "    keep, weights_P = ____, tl.exp(scores_P - new_top)\n"
        "    total = total * keep + tl.sum(weights_P, 0)\n"
        "    acc_K = acc_K * keep + tl.sum(weights_P[:, None] * v, 0)\n"
        "    top = new_top\n"
        "tl.store(out_ptr + (s * H + h) * K + offs_k, acc_K / total, mask=offs_k < K)",
    ),
)  # fmt: skip


def make(rng, P, G, share, K, lengths, heights=None):
    """A pool with spare blocks, the requests' blocks in no order.

    heights: near which number all scores of a request lie. exp(-120) is 0 in float32, exp(120) inf.
    """
    import torch

    if P & (P - 1):
        raise ValueError(f"blocks of {P} tokens: tl.arange needs a power of two")
    needs = [-(-n // P) for n in lengths]
    order = rng.sample(range(sum(needs) + 3), sum(needs))
    pools = [torch.full((sum(needs) + 3, P, G, K), torch.nan) for _ in "kv"]
    table_SM = torch.full((len(lengths), max(needs) + 1), -1, dtype=torch.int32)
    for s, length in enumerate(lengths):
        mine = [order.pop() for _ in range(needs[s])]
        table_SM[s, : needs[s]] = torch.tensor(mine)
        for pool in pools:
            for token in range(length):
                pool[mine[token // P], token % P] = normal(rng, G, K)
    heads, scale = normal(rng, len(lengths), G * share, K, scale=2.0), rng.uniform(0.6, 0.9)
    if heights:
        return _high(heads, *pools, table_SM, lengths, heights)
    return {
        "q_SHK": heads, "k_NPGK": pools[0], "v_NPGK": pools[1], "block_table_SM": table_SM,
        "len_S": torch.tensor(lengths, dtype=torch.int32),
        "scale": scale * K**-0.5, "out_SHK": torch.zeros_like(heads),
    }  # fmt: skip


def _high(q_SHK, k_NPGK, v_NPGK, table_SM, lengths, heights):
    """Scores around `heights`. Keys and queries are eighths and the scale is 1/2: scores of this
    size would be rounded at 2^-18 otherwise, and the weights with them."""
    import torch

    q_SHK, k_NPGK = (q_SHK * 8).round() / 8, (k_NPGK * 8).round() / 8
    k_NPGK[..., -1] = torch.where(k_NPGK[..., -1].isnan(), torch.nan, 1.0)
    for s in range(len(lengths)):
        q_SHK[s, :, -1] = 2.0 * heights[s]
    return {
        "q_SHK": q_SHK, "k_NPGK": k_NPGK, "v_NPGK": v_NPGK, "block_table_SM": table_SM,
        "len_S": torch.tensor(lengths, dtype=torch.int32), "scale": 0.5,
        "out_SHK": torch.zeros_like(q_SHK),
    }  # fmt: skip


def twin(q_SHK, k_NPGK, v_NPGK, block_table_SM, len_S, scale, out_SHK):
    P, G = k_NPGK.shape[1:3]
    share = q_SHK.shape[1] // G
    for s, length in enumerate(len_S.tolist()):
        tokens = [int(block_table_SM[s, t // P]) * P + t % P for t in range(length)]
        k_LHK, v_LHK = (
            pool.flatten(0, 1)[tokens].double().repeat_interleave(share, dim=1)
            for pool in (k_NPGK, v_NPGK)
        )
        scores_HL = (q_SHK[s].double() * k_LHK).sum(-1).T * scale
        out_SHK[s] = (scores_HL.softmax(-1).T[:, :, None] * v_LHK).sum(0)


def least_programs(case):
    return len(case["len_S"])
