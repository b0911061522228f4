"""Exercise 11.6: how many bits for three products?

This was measured with `tiny`: share of right answers to 200 unseen items of each task. "same" is
how often the next token in tales is the one that the full model would write.

{{table}}

One scale serves 64 weights. 8 bits: rounded to nearest; 4, 3 and 2 bits: GPTQ. (2 and 3 bits were
simulated: this course packs 8 and 4. Take them here as if all were packed.)

Three products, each on a device of its own, each with a floor:

1. {{first}}
2. {{second}}
3. {{third}}

Give each product the fewest bits that hold its floor:

{{options}}

Write for example answer = "A"
"""

answer = None
