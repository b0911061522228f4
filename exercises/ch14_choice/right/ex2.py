"""Other right answers of 14.2."""


def rounded(count, layers, bits, group, requests, tokens, kv_bytes, bandwidth, price, **names):
    """Two digits, as on the back of an envelope."""
    weights = count * (bits / 8 + 2 / group) / 1e9
    cache = requests * tokens * layers * 2048 * kv_bytes / 1e9
    ms = (weights + cache) / bandwidth * 1e12
    found = (weights, cache, ms, price * ms / requests / 3.6)
    names = ("weights_gb", "cache_gb", "step_ms", "dollars")
    return {name: float(f"{value:.2g}") for name, value in zip(names, found)}


def tokens_an_hour(
    count, layers, bits, group, requests, tokens, kv_bytes, bandwidth, price, **names
):
    """Scales left out of the time only; cost by tokens an hour."""
    cache = requests * tokens * layers * 2 * 1024 * kv_bytes
    step = (count * bits / 8 + cache) / bandwidth
    return {
        "weights_gb": count * (bits / 8 + 2 / group) / 1e9, "cache_gb": cache / 1e9,
        "step_ms": step * 1e3, "dollars": price / (3600 / step * requests) * 1e6,
    }  # fmt: skip
