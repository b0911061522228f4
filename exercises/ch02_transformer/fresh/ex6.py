"""Exercise 2.6: one block.

A block adds to the residual stream twice: first attention, then the MLP. Each of the two reads a
normalised copy of the stream as it is at that moment. The stream itself is never normalised here.

The four parts are given as functions, each [T, D] -> [T, D]. The check builds small ones: the
norms from weights_2D, attention from mix_DD, the MLP from inner_DD. `explain` shows these.
"""

from collections.abc import Callable

from torch import Tensor


def block(
    x_TD: Tensor, attention_norm: Callable, attention: Callable, mlp_norm: Callable, mlp: Callable
) -> Tensor:
    """x_TD: [T, D], the residual stream. Returns the stream after the block, [T, D].

    Names that `trace` looks at: attended_TD (what attention adds), middle_TD (the stream between
    the two), added_TD (what the MLP adds).
    """
    raise NotImplementedError("Exercise 2.6: two additions to the residual stream")
