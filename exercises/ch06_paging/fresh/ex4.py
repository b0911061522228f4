"""Exercise 6.4: how much of the cache is empty, for large and small blocks?

A server runs requests of very different lengths. While it runs, a request holds {{mean}} tokens on
average. It reserves whole blocks only, as many as its tokens need. The WASTE is the share of the
reserved slots that hold no token.

1. One block is as long as the longest text that is allowed, {{max_len}} tokens. (So each request
   reserves the maximum. Servers did this before PagedAttention.)
2. Blocks of {{large}} tokens.
3. Blocks of {{small}} tokens.

For 2 and 3: the last block of a request may hold any number of tokens from 1 to all, each equally
likely. The answer is a list of three shares between 0 and 1, in this order. 25% off is fine.
"""

answer = None
