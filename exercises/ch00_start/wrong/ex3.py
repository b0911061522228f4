"""Named wrong answers of 0.3."""


def view_only(x, num_heads):
    """a view to [H, T, K] without a transpose: it mixes the rows"""
    return x.reshape(num_heads, x.shape[0], -1)


def no_transpose(x, num_heads):
    """[T, H, K]: cut into heads, but the heads do not come first"""
    return x.reshape(x.shape[0], num_heads, -1)


def interleaved(x, num_heads):
    """head h takes every H-th number in place of K neighbours"""
    return x.reshape(x.shape[0], -1, num_heads).permute(2, 0, 1)


def last_two_swapped(x, num_heads):
    """[H, K, T]: rows and numbers of a head swapped"""
    return x.reshape(x.shape[0], num_heads, -1).permute(1, 2, 0)


def heads_backwards(x, num_heads):
    """the heads in the opposite order"""
    return x.reshape(x.shape[0], num_heads, -1).transpose(0, 1).flip(0)
