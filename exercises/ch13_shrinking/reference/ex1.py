"""Reference of 13.1."""

from torch.nn.functional import silu


def drop_channels(gate_FD, up_FD, down_DF, x_TD, keep):
    h_TF = silu(x_TD @ gate_FD.T) * (x_TD @ up_FD.T)
    importance_F = (h_TF**2).mean(0) * (down_DF**2).sum(0)
    best = importance_F.argsort(descending=True, stable=True)[:keep]
    kept = best.sort().values
    return gate_FD[kept], up_FD[kept], down_DF[:, kept]
