"""Exercise 14.2: four figures, before anything is rented.

Llama-3-8B has 8.03 billion weights, 32 layers, and 8 KV heads of size 128. It is
kept in 4 bits; one scale of 2 bytes serves 64 weights (all weights are coded). It
runs on the paper GPU: 300 GB/s, 0.6 dollars an hour (a made-up price).

16 requests write at the same time. Each has 2000 tokens in the cache; a number of
K or V takes 2 bytes. 1 GB is 1e9 bytes.

    weights_gb    GB of the weights, scales included
    cache_gb      GB of K and V, of all requests
    step_ms       milliseconds of one step, which writes one token for every request. Here only
                  bytes count: the step reads all weights and all of the cache once
    dollars       dollars for a million written tokens, if it goes on like that all the time

Each within 25%. Write

    answer = {"weights_gb": ..., "cache_gb": ..., "step_ms": ..., "dollars": ...}
"""

answer = None
