"""Exercise 12.3: half of the weights are 0. What is saved?

A matrix has 3,072 x 4,096 weights of 16 bits. 50% of them are set to 0. It can be stored
in four forms:

    dense      all values, zeros too
    csr        of each row the values that are not 0, and for each of them its column (32 bits);
               for each row where it begins (32 bits)
    bitmask    the values that are not 0, and 1 bit for every weight: is it 0 or not?
    2:4        two values of every four neighbours, and for each of these two its place among the
               four (2 bits)

For "2:4" the zeros are chosen so that every four neighbours have two of them.

1. csr, bitmask, 2:4: bytes of this form divided by bytes of dense.
2. time: the matrix is multiplied in its dense form, by the usual program. Its time with 50% zeros
   divided by its time without zeros.
3. even: which share of the weights must be 0, so that csr takes as many bytes as dense?

Write

    answer = {"csr": ..., "bitmask": ..., "2:4": ..., "time": ..., "even": ...}

A number may be 5% off.
"""

answer = None
