"""Reference of 14.2."""


def answer(count, layers, bits, group, requests, tokens, kv_bytes, bandwidth, price, **names):
    weights = count * (bits / 8 + 2 / group)
    cache = requests * tokens * 2 * layers * 8 * 128 * kv_bytes
    step = (weights + cache) / bandwidth
    dollars = price / 3600 * step / requests * 1e6
    found = {"weights_gb": weights / 1e9, "cache_gb": cache / 1e9}
    return found | {"step_ms": 1000 * step, "dollars": dollars}
