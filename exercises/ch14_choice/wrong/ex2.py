"""Named misconceptions of 14.2."""


def _found(case, weights=None, cache=None, step=None, share=1):
    one = case["count"] * (case["bits"] / 8 + 2 / case["group"]) if weights is None else weights
    kept = case["requests"] * case["tokens"] * 2 * case["layers"] * 1024 * case["kv_bytes"]
    kept = kept if cache is None else cache
    step = (one + kept) / case["bandwidth"] if step is None else step
    return {
        "weights_gb": one / 1e9, "cache_gb": kept / 1e9, "step_ms": 1000 * step,
        "dollars": case["price"] / 3600 * step / (case["requests"] * share) * 1e6,
    }  # fmt: skip


def _cache(case):
    return case["requests"] * case["tokens"] * 2 * case["layers"] * 1024 * case["kv_bytes"]


def sixteen_bit(**case):
    """weights of 16 bits: what the file holds before it is packed"""
    return _found(case, weights=2 * case["count"])


def one_request_in_the_cache(**case):
    """the cache of one request, not of all"""
    return _found(case, cache=_cache(case) / case["requests"])


def keys_alone(**case):
    """keys without values"""
    return _found(case, cache=_cache(case) / 2)


def weights_alone_are_read(**case):
    """a step that reads the weights only: K and V are read in every step, too"""
    weights = case["count"] * (case["bits"] / 8 + 2 / case["group"])
    return _found(case, step=weights / case["bandwidth"])


def one_token_a_step(**case):
    """one token a step: it writes one for EVERY request"""
    return _found(case, share=1 / case["requests"])


def weights_once_a_request(**case):
    """the weights read again for every request: one step reads them once for all"""
    weights = case["count"] * (case["bits"] / 8 + 2 / case["group"])
    return _found(case, step=(case["requests"] * weights + _cache(case)) / case["bandwidth"])


def seconds_for_hours(**case):
    """the price of an hour taken for that of a second"""
    found = _found(case)
    return found | {"dollars": 3600 * found["dollars"]}
