"""Other right answers of 3.2."""

import torch


def with_loop(logits_V, temperature, top_k, top_p):
    order = sorted(range(len(logits_V)), key=lambda i: -logits_V[i].item())
    order = order[: top_k or len(order)]
    weights = (logits_V[order] / temperature).softmax(-1)
    probs_V, mass = torch.zeros_like(logits_V), 0.0
    for place, weight in zip(order, weights):
        if mass and mass >= top_p:
            break
        probs_V[place] = weight
        mass += weight.item()
    return probs_V / probs_V.sum()


def in_sorted_order(logits_V, temperature, top_k, top_p):
    sorted_V, order_V = (logits_V / temperature).sort(descending=True)
    if top_k:
        sorted_V[top_k:] = -torch.inf
    mass_V = sorted_V.softmax(-1).cumsum(-1)
    sorted_V[1:][mass_V[:-1] >= top_p] = -torch.inf
    return torch.zeros_like(logits_V).scatter(0, order_V, sorted_V.softmax(-1))
