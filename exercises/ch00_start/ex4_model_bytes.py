"""Exercise 0.4: how large is a model?

Model names round: "7B" is about 7 billion weights. Yours has 8.0 billion
(1 billion = 10^9). How many GB (1 GB = 10^9 bytes) do its weights take in three formats?

    fp32: 32 bits a weight      fp16: 16 bits a weight      int4: 4 bits a weight

Count only the weights: no scales, no other costs. Within 5% is right, and head arithmetic is
enough. Write a dict: answer = {"fp32": ..., "fp16": ..., "int4": ...}
"""

answer = None
