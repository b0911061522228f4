"""Other right answers of 14.4."""

WEIGHTS = {"finder": "int3", "tutor": "int4", "storyteller": "int8"}


def _answer(case, seats, tokens, size, spare=0):
    weights = WEIGHTS[case["product"]]
    blocks = (case["budget"] - case["bytes"][weights]) // (size * case["kv_token"]["int8"])
    return {
        "weights": weights, "pruning": None, "kv_dtype": "int8", "block_size": size,
        "num_blocks": blocks - spare, "max_num_seqs": seats, "max_batch_tokens": tokens,
        "prefix_caching": True,
    }  # fmt: skip


def smaller_blocks(**case):
    """Blocks of 8 tokens: less is lost in the last block of a request."""
    return _answer(case, 28 if case["product"] == "storyteller" else 18, 128, 8)


def a_block_to_spare(**case):
    return _answer(case, 27 if case["product"] == "storyteller" else 22, 128, 16, spare=1)
