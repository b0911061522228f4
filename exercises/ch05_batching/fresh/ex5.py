"""Exercise 5.5: choose the number of seats.

The paper GPU serves Qwen3-0.6B in 16 bit. Every {{interval}} seconds a bell rings, and
{{burst}} requests come at the same moment. Each answer has {{answer_length}} tokens.

A step with S requests takes about 5.4 + 0.16 * S milliseconds: 5.4 for the weights and for
starting the work; for each request 0.16 for its keys and values and its share of reading prompts.

Two limits:
    TPOT, p95:  at most {{limit}} milliseconds
    waiting:    a burst must be done before the next bell, or the line grows for ever

Which max_num_seqs (seats) holds both?

    "1"      "2"      "8"      "32"      "128"      "none" (no number holds both)

Two sums for each: milliseconds of a full step; and seconds for a whole burst, which is
burst * answer / seats steps of that length. Write for example answer = "2"
"""

answer = None
