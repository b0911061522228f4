"""Named wrong answers of 13.3."""

import torch


def _cosine(x_TD, y_TD):
    return torch.cosine_similarity(x_TD, y_TD, dim=-1)


def _streams(layers, x_TD):
    """(what enters, what leaves) of every layer."""
    for layer in layers:
        y_TD = layer(x_TD)
        yield x_TD, y_TD
        x_TD = y_TD


def _mean(layers, texts, measure, streams=_streams, mean=lambda parts: torch.cat(parts).mean()):
    rows = [[measure(x, y) for x, y in streams(layers, text)] for text in texts]
    return [float(mean(list(parts))) for parts in zip(*rows)]


def _influence(x_TD, y_TD):
    return 1 - _cosine(x_TD, y_TD)


def cosine_itself(layers, texts):
    """the cosine itself: a layer that does nothing gets 1"""
    return _mean(layers, texts, _cosine)


def mean_of_means(layers, texts):
    """the mean of the texts' means: a text of one token weighs as much as a long one"""
    return _mean(
        layers, texts, _influence, mean=lambda parts: sum(p.mean() for p in parts) / len(parts)
    )


def how_far_from_the_start(layers, texts):
    """what leaves the layer against what entered layer 0"""
    streams = lambda layers, x: [(x, y) for _, y in _streams(layers, x)]
    return _mean(layers, texts, _influence, streams)


def always_the_start(layers, texts):
    """every layer reading what enters layer 0, not what the layer before it returned"""
    return _mean(layers, texts, _influence, lambda layers, x: [(x, layer(x)) for layer in layers])


def of_the_part_added(layers, texts):
    """the cosine between the stream and what the layer ADDS"""
    return _mean(layers, texts, lambda x, y: 1 - _cosine(x, y - x))


def length_of_the_change(layers, texts):
    """the length of what is added over the length of the stream: no cosine at all"""
    return _mean(layers, texts, lambda x, y: (y - x).norm(dim=1) / x.norm(dim=1))


def whole_text_as_one_vector(layers, texts):
    """one cosine of the whole text: long vectors count more than short ones"""
    one = lambda x, y: _influence(x.flatten(), y.flatten()).expand(len(x))
    return _mean(layers, texts, one)


def cosine_of_the_means(layers, texts):
    """the cosine of the text's mean vectors, not the mean of the tokens' cosines"""
    return _mean(layers, texts, lambda x, y: _influence(x.mean(0), y.mean(0)).expand(len(x)))


def texts_joined(layers, texts):
    """all texts as one long text: a token sees those of the texts before"""
    return _mean(layers, [torch.cat(list(texts))], _influence)


def last_token_only(layers, texts):
    """the last token of every text only"""
    return _mean(layers, texts, lambda x, y: _influence(x[-1:], y[-1:]))


def first_text_only(layers, texts):
    """the first text only"""
    return _mean(layers, texts[:1], _influence)


def added_up(layers, texts):
    """the sum over the tokens, not the mean"""
    return _mean(layers, texts, _influence, mean=lambda parts: torch.cat(parts).sum())


def dot_product(layers, texts):
    """the dot product, not divided by both lengths"""
    return _mean(layers, texts, lambda x, y: 1 - (x * y).sum(1))


def one_length_twice(layers, texts):
    """dividing by the length before the layer twice, not by both lengths"""
    return _mean(layers, texts, lambda x, y: 1 - (x * y).sum(1) / (x * x).sum(1))


def over_the_columns(layers, texts):
    """the cosine along the tokens (dim=0), not along the D numbers of a token"""
    return _mean(layers, texts, lambda x, y: 1 - torch.cosine_similarity(x, y, dim=0))
