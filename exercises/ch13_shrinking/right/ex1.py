"""Other right answers of 13.1."""

import torch


def by_the_parts_added(gate_FD, up_FD, down_DF, x_TD, keep):
    """The mean size of what each channel adds to the stream, one by one; then Python's sort."""
    sizes = []
    for gate_D, up_D, down_D in zip(gate_FD, up_FD, down_DF.T):
        before_T = x_TD @ gate_D
        h_T = before_T * torch.sigmoid(before_T) * (x_TD @ up_D)
        added_TD = h_T[:, None] * down_D
        sizes.append(float((added_TD**2).sum(1).mean()))
    kept = sorted(sorted(range(len(sizes)), key=lambda f: -sizes[f])[:keep])
    return gate_FD[kept], up_FD[kept], down_DF[:, kept]


def by_a_mask(gate_FD, up_FD, down_DF, x_TD, keep):
    h_TF = torch.nn.functional.silu(x_TD @ gate_FD.T) * (x_TD @ up_FD.T)
    score_F = h_TF.square().sum(0) * down_DF.norm(dim=0).square()
    stays_F = torch.zeros(len(score_F), dtype=torch.bool)
    stays_F[torch.sort(score_F, descending=True, stable=True).indices[:keep]] = True
    return [gate_FD[stays_F], up_FD[stays_F], down_DF[:, stays_F]]
