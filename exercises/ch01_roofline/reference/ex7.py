"""Reference of 1.7."""


def largest_batch(memory_gib, weight_bytes, kv_bytes_per_token, length, slack):
    free = memory_gib * 2**30 * (1 - slack) - weight_bytes
    return max(0, int(free // (kv_bytes_per_token * length)))
