"""Check of 6.5: a pool of NaN, the requests' numbers, and behind them old ones between NaN."""

import torch

from exercises.grading import spec
from exercises.grading.judge import TOLERANCES, Wrong, compare, normal
from exercises.grading.spec import Exercise

EXERCISE = Exercise(
    id="6.5", title="Paged attention", kind="code", entry="paged_attention",
    minutes=30, difficulty=3, evening=True, tolerance="fp32", forbid=("sdpa",),
    sizes=(
        {"H": 2, "G": 1, "K": 2, "P": 2, "lengths": (3,)},
        {"H": 2, "G": 2, "K": 3, "P": 1, "lengths": (3, 1)},
        {"H": 6, "G": 2, "K": 5, "P": 4, "lengths": (9, 1, 4)},
        {"H": 5, "G": 1, "K": 8, "P": 16, "lengths": (17, 40, 15, 32)},
        {"H": 12, "G": 4, "K": 7, "P": 8, "lengths": (23, 8, 5)},
    ),
    hints=(
        "Blocks of 4 tokens, a request has 6 tokens and the table row [5, 0, 3]. In which blocks "
        "and rows do its 6 keys lie? Which row of block 0 is the last one you may read?",
        "k_pool_NPGK[table] is [M, P, G, K]; flatten(0, 1) makes it [M * P, G, K]; the first "
        "`length` rows are k_LGK. Then as in 4.2, with one query and no mask: scores_HL, softmax, "
        "times v.",
        "for q_HK, table_M, length in zip(q_SHK, block_table_SM, len_S.tolist()):\n"
        "    k_LGK = k_pool_NPGK[table_M].flatten(0, 1)[____]\n"
        "    v_LGK = v_pool_NPGK[table_M].flatten(0, 1)[____]\n"
        "    k_LHK, v_LHK = (x.repeat_interleave(share, dim=1) for x in (k_LGK, v_LGK))\n"
        "    scores_HL = torch.einsum('hk,lhk->hl', q_HK, k_LHK) * scale\n"
        "    out.append(torch.einsum('hl,lhk->hk', scores_HL.softmax(-1), v_LHK))\n"
        "return torch.stack(out)",
    ),
)  # fmt: skip
NAN = (
    "A slot that holds no token took part? In the last block only the first rows are the "
    "request's. A weight of 0 does not help: 0 * NaN is NaN. Cut the rows off."
)


def make(rng, H, G, K, P, lengths):
    if H % G:
        raise ValueError(f"{H} query heads cannot share {G} KV heads evenly")
    need = [-(-n // P) for n in lengths]
    blocks = list(range(sum(need) + 2))
    rng.shuffle(blocks)
    k_pool, v_pool = (torch.full((len(blocks), P, G, K), torch.nan) for _ in range(2))
    table_SM, widest = [], max(need) + 1
    for length, count in zip(lengths, need):
        own, blocks = blocks[:count], blocks[count:]
        for pool in (k_pool, v_pool):
            flat = pool.view(-1, G, K)
            slots = [own[p // P] * P + p % P for p in range(length)]
            flat[slots] = normal(rng, length, G, K)
            old = [own[p // P] * P + p % P for p in range(length, count * P, 2)]
            flat[old] = normal(rng, len(old), G, K)  # left by others; between them NaN
        table_SM.append(own + [rng.randrange(len(k_pool)) for _ in range(widest - count)])
    return {
        "q_SHK": normal(rng, len(lengths), H, K), "k_pool_NPGK": k_pool, "v_pool_NPGK": v_pool,
        "block_table_SM": torch.tensor(table_SM), "len_S": torch.tensor(lengths),
        "scale": rng.uniform(0.5, 0.9) * K**-0.5,
    }  # fmt: skip


def judge(case, output):
    """As usual; NaN gets a word about where it may come from."""
    try:
        compare(output, spec.reference("6.5")(**case), TOLERANCES["fp32"])
    except Wrong as wrong:
        if wrong.id == "nan":
            wrong.message += f". {NAN}"
        raise
