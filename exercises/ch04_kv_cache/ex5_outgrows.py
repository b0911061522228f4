"""Exercise 4.5: when does the KV cache outgrow the weights?

Weights and cache are in 16 bit. One request alone.
At how many tokens A REQUEST does the whole cache become larger than the weights?

| model      | parameters | layers | width | query heads | KV heads | head size |
|------------|------------|--------|-------|-------------|----------|-----------|
| Llama-2-7B | 6.74e9     | 32     | 4096  | 32          | 32       | 128       |
| Llama-3-8B | 8.03e9     | 32     | 4096  | 32          | 8        | 128       |
| Qwen3-0.6B | 0.596e9    | 28     | 1024  | 16          | 8        | 128       |

The answer is a list of three numbers of tokens, in the order of the table. 25% off is fine.
"""

answer = None
