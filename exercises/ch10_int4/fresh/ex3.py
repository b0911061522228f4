"""Exercise 10.3: how many long requests does a 70B model serve on one GPU?

Llama-3-70B has 70.55e9 weights, 80 layers, 64 query heads and 8 KV heads of size 128. Keys and
values are kept in 16 bit. The GPU has {{memory}} GB (1 GB is 1e9 bytes). {{slack}} GB of them are
slack: they stay free for activations and whatever else needs memory. Each request has {{tokens}}
tokens in the cache.

    int8: 1 byte a weight, and a scale of 2 bytes for every 8,192 weights (about one row)
    int4: half a byte a weight, and a scale of 2 bytes for every {{group}} weights

All weights are coded, those of embedding and head, too. How many requests fit beside the weights
and the slack? (In 16 bit the weights alone take 141 GB.)

The answer is a list of two whole numbers: with int8, with int4.
"""

answer = None
