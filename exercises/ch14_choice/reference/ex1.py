"""Reference of 14.1."""


def plan(count, bits, group, layers, kv_heads, head_size, kv_bytes, context, block_size, memory):
    weights = count * bits // 8 + (2 * count // group if group else 0)
    token = 2 * layers * kv_heads * head_size * kv_bytes
    blocks = max(0, memory - weights) // (block_size * token)
    requests = blocks // -(-context // block_size)
    return {"weights": weights, "token": token, "requests": requests}
