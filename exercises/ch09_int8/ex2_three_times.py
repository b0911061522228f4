"""Exercise 9.2: three programs that all say "int8". How long does a token take?

The linear layers of a model have 250 million weights. Before, they were in float32. One user, so
one row passes through every matrix. This machine moves 16 GB/s, reading or writing. The matrices
are far larger than its caches. Arithmetic and scales cost nothing here.

1. fake-quantised: each weight was rounded to one of 255 values, and stored as float32 again
2. dequantise first: stored in int8. Each call makes a float32 matrix in memory, then multiplies
3. packed: stored in int8. The product reads int8 and converts each number inside the processor

The answer is a list of three times in milliseconds a token, in this order. 25% off is fine.
"""

answer = None
