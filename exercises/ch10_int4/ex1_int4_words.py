"""Exercise 10.1: eight codes of 4 bits in one word of 32 bits.

A code is a whole number from -8 to 7. A field of a word holds code + 8, so it is 0 .. 15 and needs
no sign. This is the layout of compressed-tensors, which vLLM reads:

    word w of a row holds the codes 8w, 8w + 1, ... 8w + 7 of that row
    the first of them stands in the lowest 4 bits, the last one in the highest 4 bits
    fields of the last word that no code needs hold 0

The words are int32: where the highest field is 8 or more, the word is a negative number.
(From int64, .to(torch.int32) keeps the low 32 bits as they are. That is what you want here.)
"""

import torch
from torch import Tensor


class Int4Words:
    def pack(self, codes_NK: Tensor) -> Tensor:
        """int8 codes [N, K] -> int32 [N, ceil(K / 8)]. Call the fields fields_NW8."""
        raise NotImplementedError("Exercise 10.1: eight fields become one word")

    def unpack(self, words_NW: Tensor, K: int) -> Tensor:
        """int32 words -> int8 [N, K]. What lies in the fields behind the K-th is not looked at."""
        raise NotImplementedError("Exercise 10.1: one word becomes eight codes")
