"""Other right answers of 2.4."""


def with_an_index(kv_LGK, num_heads):
    shared = num_heads // kv_LGK.shape[1]
    return kv_LGK[:, [h // shared for h in range(num_heads)]]


def with_expand(kv_LGK, num_heads):
    length, groups, size = kv_LGK.shape
    wide = kv_LGK[:, :, None].expand(length, groups, num_heads // groups, size)
    return wide.reshape(length, num_heads, size)
