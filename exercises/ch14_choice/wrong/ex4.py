"""Named mistakes of 14.4."""

WINNERS = {"finder": "int3", "tutor": "int4", "storyteller": "int8"}
TOO_SMALL = {"finder": ("int3", "2:4"), "tutor": ("int3", None), "storyteller": ("int4", None)}


def _answer(case, weights=None, pruning=None, kv="int8", blocks=None, **more):
    weights = weights or WINNERS[case["product"]]
    held = case["bytes"][f"{weights} {pruning}" if pruning else weights]
    room = (case["budget"] - held) // (16 * case["kv_token"][kv])
    found = {
        "weights": weights, "pruning": pruning, "kv_dtype": kv, "block_size": 16,
        "num_blocks": blocks or max(room, 16), "max_num_seqs": 24,
        "max_batch_tokens": 128, "prefix_caching": True,
    }  # fmt: skip
    return found | more


def one_step_too_small(**case):
    """the next smaller weights: fast and small, and a task is under its floor"""
    return _answer(case, *TOO_SMALL[case["product"]])


def three_bits_and_zeros(**case):
    """3 bits and every second weight gone: the smallest there is, and not one floor is safe"""
    return _answer(case, "int3", "2:4", max_num_seqs=16)


def smallest_batch(**case):
    """one seat, for the shortest steps: everybody else waits"""
    return _answer(case, max_num_seqs=1)


def seats_as_they_come(**case):
    """64 seats and 512 tokens a step, as in the template: whoever writes waits for whoever reads"""
    return _answer(case, max_num_seqs=64, max_batch_tokens=512)


def sixteen_bit(**case):
    """the weights in 16 bit, as they come: over the budget before the first request"""
    return _answer(case, "fp16")


def weights_forgotten(**case):
    """the whole budget for blocks, as if the weights were elsewhere"""
    return _answer(case, blocks=case["budget"] // (16 * case["kv_token"]["int8"]))


def cache_in_16_bit(**case):
    """K and V in 16 bit: nearly twice the bytes, so half the requests at a time"""
    return _answer(case, kv="fp16")


def prefix_computed_again(**case):
    """no prefix caching: the system prompt is computed 100 times"""
    return _answer(case, prefix_caching=False)
