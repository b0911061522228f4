"""Exercise 10.5: from how many rows on does int4 win no more?

The paper GPU moves 300e9 bytes and computes 60e12 FLOPs a second. S rows pass through one large
matrix. A product takes the time for its bytes or the time for its FLOPs, whichever is LONGER. Count
the bytes of the weights and scales only. Starting costs the same for both and is left out.

    fp16: 2 bytes a weight; for each weight and row 2 FLOPs
    int4: half a byte a weight, and a scale of 2 bytes for every {{group}} weights; it multiplies in
          fp16, so also 2 FLOPs for each weight and row. Before that, every weight is unpacked and
          scaled. This takes as long as {{unpack}} FLOPs, and is done once for every {{tile}} rows
          (1 to {{tile}} rows: once, the next {{tile}}: once more, and so on)

1. With one row: how many times as fast as fp16 is int4?
2. From how many rows on is int4 not faster than fp16?

The answer is a list of two numbers. 10% off is fine. (The FLOPs of unpacking are a number to reckon
with, not measured on any device.)
"""

answer = None
