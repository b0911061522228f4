"""Named wrong answers of 2.4."""


def in_turn(kv_LGK, num_heads):
    """query head h reading head h % G (A, B, A, B instead of A, A, B, B)"""
    return kv_LGK[:, [h % kv_LGK.shape[1] for h in range(num_heads)]]


def divided_by_groups(kv_LGK, num_heads):
    """query head h reading head h // G (divided by G instead of H / G)"""
    last = kv_LGK.shape[1] - 1
    return kv_LGK[:, [min(h // kv_LGK.shape[1], last) for h in range(num_heads)]]


def last_head_for_the_rest(kv_LGK, num_heads):
    """query heads past G all reading the last head"""
    return kv_LGK[:, [min(h, kv_LGK.shape[1] - 1) for h in range(num_heads)]]


def first_head_for_all(kv_LGK, num_heads):
    """all query heads reading head 0"""
    return kv_LGK[:, [0] * num_heads]


def backwards(kv_LGK, num_heads):
    """the heads in the opposite order"""
    return kv_LGK.repeat_interleave(num_heads // kv_LGK.shape[1], dim=1).flip(1)


def mean_of_heads(kv_LGK, num_heads):
    """the mean of all key/value heads for every query head"""
    return kv_LGK.mean(1, keepdim=True).repeat(1, num_heads, 1)
