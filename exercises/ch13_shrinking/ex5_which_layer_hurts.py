"""Exercise 13.5: which layer hurts most, and how much faster is a smaller model?

1. `tiny` has 6 layers, numbered from 0. One of them is taken out, nothing is trained after
   that, and 200 unseen items of each of five tasks are asked. This is done for every layer in turn.
   layer: the number of the layer whose loss leaves the fewest right answers.

2. A model like `blank` is shrunk:

                              before     after
       layers                       9         7
       query heads                 16         8
       KV heads                     4         2
       channels of the MLP       3072      2304

   Width 1024, head size 64, 32,768 tokens in the vocabulary, float32. The matrices of a layer are
   q, k, v, o, gate, up and down. The head is the embedding matrix, so it is stored once, and read
   whole for every token. Norms are too small to count.
   speedup: for one user with a short context, how many times as fast does the small model write?
   Each token reads every weight once, and reading is all that counts.

Guess and reckon first, then measure it in the notebook. `layer` must be right, `speedup` within 5%.
Write

    answer = {"layer": ..., "speedup": ...}
"""

answer = None
