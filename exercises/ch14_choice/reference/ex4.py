"""Reference of 14.4."""

WINNERS = {  # weights, seats, tokens in one step
    "finder": ("int3", 20, 128),
    "tutor": ("int4", 20, 128),
    "storyteller": ("int8", 28, 256),
}


def answer(product, budget, bytes, kv_token, **texts):
    weights, seats, tokens = WINNERS[product]
    blocks = (budget - bytes[weights]) // (16 * kv_token["int8"])
    return {
        "weights": weights, "pruning": None, "kv_dtype": "int8", "block_size": 16,
        "num_blocks": blocks, "max_num_seqs": seats, "max_batch_tokens": tokens,
        "prefix_caching": True,
    }  # fmt: skip
