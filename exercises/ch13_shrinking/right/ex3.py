"""Other right answers of 13.3."""

import torch


def layer_by_layer(layers, texts):
    """All texts through one layer, then through the next; unit vectors."""
    streams, found = list(texts), []
    unit = lambda x_TD: x_TD / x_TD.norm(dim=-1, keepdim=True)
    for layer in layers:
        after = [layer(x_TD) for x_TD in streams]
        cosines = [(unit(x) * unit(y)).sum(-1) for x, y in zip(streams, after)]
        found.append(1 - float(torch.cat(cosines).mean()))
        streams = after
    return found


def all_streams_first(layers, texts):
    """One minus each cosine, then the mean, as a tensor."""
    rows = []
    for x_TD in texts:
        stream = [x_TD]
        for layer in layers:
            stream.append(layer(stream[-1]))
        for x_D, *others in zip(*stream):
            steps = zip([x_D, *others], others)
            rows.append([1 - float(a @ b / (a @ a * (b @ b)).sqrt()) for a, b in steps])
    return torch.tensor(rows, dtype=torch.float64).mean(0)
