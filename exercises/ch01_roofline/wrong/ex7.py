"""Named wrong answers of 1.7."""


def no_weights(memory_gib, weight_bytes, kv_bytes_per_token, length, slack):
    """no weights: their bytes are given to users too"""
    return int(memory_gib * 2**30 * (1 - slack) // (kv_bytes_per_token * length))


def no_slack(memory_gib, weight_bytes, kv_bytes_per_token, length, slack):
    """no slack: every byte given to weights, keys and values"""
    free = memory_gib * 2**30 - weight_bytes
    return max(0, int(free // (kv_bytes_per_token * length)))


def gb_for_gib(memory_gib, weight_bytes, kv_bytes_per_token, length, slack):
    """a GiB taken for 10^9 bytes"""
    free = memory_gib * 10**9 * (1 - slack) - weight_bytes
    return max(0, int(free // (kv_bytes_per_token * length)))


def rounds_up(memory_gib, weight_bytes, kv_bytes_per_token, length, slack):
    """rounding up: the last user does not fit"""
    free = memory_gib * 2**30 * (1 - slack) - weight_bytes
    return max(0, -int(-free // (kv_bytes_per_token * length)))


def below_zero(memory_gib, weight_bytes, kv_bytes_per_token, length, slack):
    """a number below 0 where the weights alone are too large"""
    free = memory_gib * 2**30 * (1 - slack) - weight_bytes
    return int(free // (kv_bytes_per_token * length))


def one_token_a_user(memory_gib, weight_bytes, kv_bytes_per_token, length, slack):
    """one token a user: the length is forgotten"""
    free = memory_gib * 2**30 * (1 - slack) - weight_bytes
    return max(0, int(free // kv_bytes_per_token))


def slack_of_the_rest(memory_gib, weight_bytes, kv_bytes_per_token, length, slack):
    """slack as a share of what the weights leave, not of the memory"""
    free = (memory_gib * 2**30 - weight_bytes) * (1 - slack)
    return max(0, int(free // (kv_bytes_per_token * length)))


def rounds_to_the_nearest(memory_gib, weight_bytes, kv_bytes_per_token, length, slack):
    """rounding to the nearest number: more than half a user does not fit"""
    free = memory_gib * 2**30 * (1 - slack) - weight_bytes
    return max(0, round(free / (kv_bytes_per_token * length)))


def slack_in_bytes(memory_gib, weight_bytes, kv_bytes_per_token, length, slack):
    """slack taken for a number of bytes: it is a share of the memory"""
    free = memory_gib * 2**30 - slack - weight_bytes
    return max(0, int(free // (kv_bytes_per_token * length)))


def slack_in_gib(memory_gib, weight_bytes, kv_bytes_per_token, length, slack):
    """slack taken for a number of GiB: it is a share of the memory"""
    free = (memory_gib - slack) * 2**30 - weight_bytes
    return max(0, int(free // (kv_bytes_per_token * length)))


def below_zero_cut(memory_gib, weight_bytes, kv_bytes_per_token, length, slack):
    """a number below 0, not 0, where the weights alone are too large"""
    free = memory_gib * 2**30 * (1 - slack) - weight_bytes
    return int(free / (kv_bytes_per_token * length))


def gb_and_below_zero(memory_gib, weight_bytes, kv_bytes_per_token, length, slack):
    """a GiB taken for 10^9 bytes, and a number below 0 where nobody fits"""
    free = memory_gib * 10**9 * (1 - slack) - weight_bytes
    return int(free / (kv_bytes_per_token * length))
