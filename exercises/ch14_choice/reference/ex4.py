"""Reference of 14.4."""

WEIGHTS = {"finder": "int3", "tutor": "int4", "storyteller": "int8"}


def answer(product, budget, bytes, kv_token, **texts):
    weights = WEIGHTS[product]
    blocks = (budget - bytes[weights]) // (16 * kv_token["int8"])
    return {
        "weights": weights, "pruning": None, "kv_dtype": "int8", "block_size": 16,
        "num_blocks": blocks, "max_num_seqs": 24, "max_batch_tokens": 128,
        "prefix_caching": True,
    }  # fmt: skip
