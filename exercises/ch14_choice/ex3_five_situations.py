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

1. Chats of 6,500 tokens shall stay in the cache. Figure: how many fit into memory
2. Every question (80 tokens) comes behind the same 2,800 tokens of instructions.
   Figure: TTFT of a question, when nobody else is there
3. One person pastes a new document of 6,500 tokens, waits for the first word.
   Figure: TTFT
4. 220 short requests are there at every moment, each has about 450 tokens
   in the cache. Figure: tokens/s of all together
5. 6 people write (500 tokens each) while others paste long documents, one after
   another. Figure: the longest pause between two tokens of a writer

TPOT is the time between two tokens of an answer, TTFT the time to its first token. For each, which
letter makes ITS figure best? The paper GPU's clock decides: a step takes the larger of bytes /
bandwidth and arithmetic / peak. Write five letters in order, for example answer = "WWWWW"
"""

answer = None
