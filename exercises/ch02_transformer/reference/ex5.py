"""Reference of 2.5."""

import torch


def gated_mlp(x_TD, gate_up_OD, down_DF):
    gate_TF, up_TF = (x_TD @ gate_up_OD.T).chunk(2, dim=-1)
    hidden_TF = torch.nn.functional.silu(gate_TF) * up_TF
    return hidden_TF @ down_DF.T
