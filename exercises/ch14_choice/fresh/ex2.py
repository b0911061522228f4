"""Exercise 14.2: four figures, before anything is rented.

{{model}} has {{billions}} billion weights, {{layers}} layers, and 8 KV heads of size 128. It is
kept in {{bits}} bits; one scale of 2 bytes serves {{group}} weights (all weights are coded). It
runs on {{device}}: {{gb_a_second}} GB/s, {{price}} dollars an hour (a made-up price).

{{requests}} requests write at the same time. Each has {{tokens}} tokens in the cache; a number of
K or V takes {{kv_text}}. 1 GB is 1e9 bytes.

    weights_gb    GB of the weights, scales included
    cache_gb      GB of K and V, of all requests
    step_ms       milliseconds of one step, which writes one token for every request. Here only
                  bytes count: the step reads all weights and all of the cache once
    dollars       dollars for a million written tokens, if it goes on like that all the time

Each within 25%. Write

    answer = {"weights_gb": ..., "cache_gb": ..., "step_ms": ..., "dollars": ...}
"""

answer = None
