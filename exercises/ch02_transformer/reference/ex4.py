"""Reference of 2.4."""


def kv_for_queries(kv_LGK, num_heads):
    return kv_LGK.repeat_interleave(num_heads // kv_LGK.shape[1], dim=1)
