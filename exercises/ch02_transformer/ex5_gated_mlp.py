"""Exercise 2.5: the gated MLP.

    hidden = silu(gate) * up         silu(z) = z * sigmoid(z)
    output = down @ hidden

`gate` and `up` are two projections of the same input. Their matrices lie in one, as in the package:
rows 0 .. F-1 of `gate_up_OD` are the gate, rows F .. 2F-1 are up. One multiplication gives both.
"""

import torch
from torch import Tensor


def gated_mlp(x_TD: Tensor, gate_up_OD: Tensor, down_DF: Tensor) -> Tensor:
    """x_TD: [T, D]. gate_up_OD: [2F, D]. down_DF: [D, F]. Returns [T, D].

    A matrix [out, in] is applied to a row as x @ matrix.T. Names that `trace` looks at: gate_TF,
    up_TF, hidden_TF.
    """
    raise NotImplementedError("Exercise 2.5: down(silu(gate(x)) * up(x))")
