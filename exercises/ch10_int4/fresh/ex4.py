"""Exercise 10.4: NF4, four bits whose 16 values do not lie at equal distances.

The levels: given are positive quantiles of a normal distribution, 8 of them for the side above zero
and 7 others for the side below, in any order. Both sides have the same largest one. `levels_16` are
the 8, the negatives of the 7, and 0, all divided by that largest one, in ascending order: from -1
to 1.

The codes: read the matrix as one long row, `block` weights after another are one block (the last
may be shorter; a block may go over the end of a row). The scale of a block is its largest |w| (a
block of zeros: 1). A code is the place, 0 .. 15, of the level nearest to w / scale.

A weight comes back as level[code] * scale.
"""

import torch
from torch import Tensor


def nf4(weight_NK: Tensor, above_8: Tensor, below_7: Tensor, block: int) -> tuple[Tensor, ...]:
    """Returns levels_16 float32, codes_NK uint8, scale_B float32 (B blocks), back_NK float32."""
    raise NotImplementedError("Exercise 10.4: levels, scales of blocks, nearest level")
