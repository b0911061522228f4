"""Named wrong answers of 2.5."""

import torch.nn.functional as functional


def _both(x_TD, gate_up_OD):
    return (x_TD @ gate_up_OD.T).chunk(2, dim=-1)


def up_goes_through_silu(x_TD, gate_up_OD, down_DF):
    """silu on up instead of on the gate (the halves swapped)"""
    gate, up = _both(x_TD, gate_up_OD)
    return gate * functional.silu(up) @ down_DF.T


def every_second_row(x_TD, gate_up_OD, down_DF):
    """gate and up taken from alternate rows instead of from the two halves"""
    both = x_TD @ gate_up_OD.T
    return functional.silu(both[:, 0::2]) * both[:, 1::2] @ down_DF.T


def no_gate(x_TD, gate_up_OD, down_DF):
    """no gate: silu of up alone"""
    return functional.silu(_both(x_TD, gate_up_OD)[1]) @ down_DF.T


def sigmoid_for_silu(x_TD, gate_up_OD, down_DF):
    """sigmoid(gate) instead of gate * sigmoid(gate)"""
    gate, up = _both(x_TD, gate_up_OD)
    return gate.sigmoid() * up @ down_DF.T


def relu_for_silu(x_TD, gate_up_OD, down_DF):
    """relu instead of silu"""
    gate, up = _both(x_TD, gate_up_OD)
    return gate.relu() * up @ down_DF.T


def added(x_TD, gate_up_OD, down_DF):
    """silu(gate) + up: added instead of multiplied"""
    gate, up = _both(x_TD, gate_up_OD)
    return (functional.silu(gate) + up) @ down_DF.T


def residual_inside(x_TD, gate_up_OD, down_DF):
    """x added to the result: that is the block's job"""
    gate, up = _both(x_TD, gate_up_OD)
    return x_TD + functional.silu(gate) * up @ down_DF.T
