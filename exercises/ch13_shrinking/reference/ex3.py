"""Reference of 13.3."""

import torch


def influence(layers, texts):
    total, tokens = [0.0] * len(layers), sum(len(x_TD) for x_TD in texts)
    for x_TD in texts:
        for number, layer in enumerate(layers):
            y_TD = layer(x_TD)
            total[number] += float(torch.cosine_similarity(x_TD, y_TD, dim=1).sum())
            x_TD = y_TD
    return [1 - t / tokens for t in total]
