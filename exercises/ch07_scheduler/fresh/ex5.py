"""Exercise 7.5: what does a shared beginning save?

Llama-2-7B (6.7e9 weights, fp16) runs on the paper GPU: 300 GB/s, 60 TFLOP/s. A request with a
prompt of {{prompt}} tokens comes to the idle engine. Some time ago another request had the same
beginning, so the keys and values of a part of the prompt are in the cache:

    0%, 50%, or 90% of the prompt

The rest is computed in ONE step. It reads every weight once and does 2 FLOPs a weight for each new
token; the slower of the two decides. Attention and launches cost nothing here.

What is the time to the first token, in ms, for each of the three? A list of three numbers.
Each within 25% is right.
"""

answer = None
