"""Exercise 1.6: reading 512 tokens against writing 512.

A GPU moves 550 GB/s and computes 36 TFLOP/s (10^12 a second). It runs a model in
fp16 with one user. A step of S rows reads every weight once (2 bytes) and does 2 FLOPs a weight for
each row; the slower of the two decides. All else costs nothing.

Reading a prompt of 512 tokens is ONE step of 512 rows. Writing 512 tokens is 512 steps of one row.
How many times as long as reading does writing take? Write a number. Within 25% is right.
"""

answer = None
