"""Exercise 2.9, a prediction: how far apart may two right programs be?

Two programs compute the same model. They add the same numbers in another order, so they round
differently, and their residual streams drift apart. By how much? Use three rules of thumb:

- A format with p significant bits (fp32: 24, fp16: 11) rounds a number by at most 2^-p of its
  size. A typical rounding is half of that.
- A layer adds to the residual stream twice: count 2 roundings a layer. (Both programs round. Count
  one of them: the rule is too rough for the factor sqrt(2).)
- n independent errors add up to sqrt(n) times one of them, because some cancel.

How large is the typical relative difference after layer 5, in fp32 and in fp16?
Write a dict of two numbers: {"fp32": ..., "fp16": ...}
"""

answer = None
