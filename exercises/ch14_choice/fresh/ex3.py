"""Exercise 14.3: five situations, which change helps most?

Qwen3-4B (4.0e9 weights, 36 layers, 32 query and 8 KV heads of size 128) runs on the paper GPU:
300 GB/s, 60 TFLOP/s, 16 GB. Weights are int8, K and V are kept in 16 bit (147 KB a token), there
are 8 seats, long prompts are read in chunks of 512 tokens, nothing is shared. ONE thing may change:

    W    int4 weights (one scale for 32)
    K    int8 K and V
    S    64 seats instead of 8
    P    prefix caching; what is shared was computed before
    C    chunks of 64 tokens instead of 512
    N    none of these makes its figure better by 5% or more

The situations:

{{list}}

TPOT is the time between two tokens of an answer, TTFT the time to its first token. For each, which
letter makes ITS figure best? The paper GPU's clock decides: a step takes the larger of bytes /
bandwidth and arithmetic / peak. Write five letters in order, for example answer = "WWWWW"
"""

answer = None
