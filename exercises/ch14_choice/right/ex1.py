"""Other right answers of 14.1."""

import math


def by_adding_requests(
    count, bits, group, layers, kv_heads, head_size, kv_bytes, context, block_size, memory
):
    token = 2 * kv_bytes * kv_heads * head_size * layers
    weights = int(count * (bits / 8 + (2 / group if group else 0)))
    one, requests = math.ceil(context / block_size) * block_size * token, 0
    while weights + (requests + 1) * one <= memory:
        requests += 1
    return {"weights": weights, "token": token, "requests": requests}


def in_bits(count, bits, group, layers, kv_heads, head_size, kv_bytes, context, block_size, memory):
    a_weight = bits + 16 / group if group else bits
    found = {"weights": int(count * a_weight) // 8, "token": 2 * layers * kv_heads * head_size}
    found["token"] *= kv_bytes
    padded = (context + block_size - 1) // block_size * block_size
    found["requests"] = max((memory - found["weights"]) // (padded * found["token"]), 0)
    return found
