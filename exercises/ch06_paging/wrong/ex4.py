"""Named misconceptions of 6.4."""


def full_share(mean, max_len, large, small):
    """the share that is used, not the share that is empty"""
    tails = [(large - 1) / 2, (small - 1) / 2]
    return [mean / max_len] + [mean / (mean + tail) for tail in tails]


def whole_block_empty(mean, max_len, large, small):
    """a whole empty block for each request (on average half of the last one is empty)"""
    return [1 - mean / max_len, large / (mean + large), small / (mean + small)]


def share_of_max_len(mean, max_len, large, small):
    """empty slots divided by the longest text, not by what the request reserves"""
    return [1 - mean / max_len, (large - 1) / 2 / max_len, (small - 1) / 2 / max_len]


def paging_wastes_nothing(mean, max_len, large, small):
    """no waste at all with blocks: the last one is seldom full"""
    return [1 - mean / max_len, 0.0, 0.0]


def in_percent(mean, max_len, large, small):
    """percent in place of shares"""
    tails = [(large - 1) / 2, (small - 1) / 2]
    return [100 * (1 - mean / max_len)] + [100 * tail / (mean + tail) for tail in tails]


def half_of_the_rest(mean, max_len, large, small):
    """only half of what is empty up to the maximum, as if the text will still grow into the rest"""
    tails = [(large - 1) / 2, (small - 1) / 2]
    return [(1 - mean / max_len) / 2] + [tail / (mean + tail) for tail in tails]


def every_block_half_full(mean, max_len, large, small):
    """every block half empty, not only a request's last one"""
    return [1 - mean / max_len, 0.5, 0.5]
