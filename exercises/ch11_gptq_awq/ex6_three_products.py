"""Exercise 11.6: how many bits for three products?

This was measured with `tiny`: share of right answers to 200 unseen items of each task. "same" is
how often the next token in tales is the one that the full model would write.

    bits   recall     copy     sort      add     code     same
       8    99.5%    99.5%    99.5%   100.0%    97.0%    99.6%
       4    99.5%    99.5%    99.5%   100.0%    97.0%    97.3%
       3    99.5%    99.5%    99.5%   100.0%    95.0%    95.1%
       2    98.0%    99.0%    83.0%    94.5%    87.0%    87.1%

One scale serves 64 weights. 8 bits: rounded to nearest; 4, 3 and 2 bits: GPTQ. (2 and 3 bits were
simulated: this course packs 8 and 4. Take them here as if all were packed.)

Three products, each on a device of its own, each with a floor:

1. A service that nobody may notice being replaced: same at least 98.4%
2. A till that sorts and adds: both sort and add at least 91.2%
3. A toy box that finds things: recall at least 94.0%

Give each product the fewest bits that hold its floor:

    "A"    8, 2, 2 bits
    "B"    8, 2, 3 bits
    "C"    4, 4, 4 bits
    "D"    8, 3, 2 bits
    "E"    8, 8, 8 bits
    "F"    2, 2, 2 bits

Write for example answer = "A"
"""

answer = None
