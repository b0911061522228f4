"""Exercise 1.5: `tiny` misses the law. Who took the time?

`blank` takes about the time that its bytes predict. `tiny` takes much longer than its bytes
predict. In the notebook you counted the operations of a step, and timed models with as many layers
as `tiny` and less than a tenth of its bytes; they were hardly faster. Where does most of the
missing time go?

    "memory"      main memory is slower for small matrices than for large ones
    "attention"   attention reads the keys and values of all earlier tokens
    "fixed"       every operation has a fixed cost, and a step starts hundreds of them
    "head"        the head is as large as the vocabulary: it takes most of the time
    "arithmetic"  the processor cannot multiply and add fast enough
    "tokenizer"   token ids must become text

Write one of the six words, for example answer = "memory"
"""

answer = None
