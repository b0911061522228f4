"""Other right answers of 0.2."""

import torch


def with_einsum(weights, scale):
    return torch.einsum("oi,o->oi", weights, scale)


def with_transposes(weights, scale):
    return (weights.T * scale).T
