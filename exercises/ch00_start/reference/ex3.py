"""Reference of 0.3."""


def split_heads(x, num_heads):
    heads_THK = x.view(x.shape[0], num_heads, -1)
    return heads_THK.transpose(0, 1)
