"""Named misconceptions of 10.3."""

REQUEST = 2 * 80 * 8 * 128 * 2  # bytes of a token


def _seats(memory, slack, tokens, group, token=REQUEST, giga=1e9, scale=2):
    weights = [70.55e9 * (1 + scale / 8192), 70.55e9 * (0.5 + scale / group)]
    return [max(0, int(((memory - slack) * giga - w) // (token * tokens))) for w in weights]


def without_scales(memory, slack, tokens, group):
    """weights without their scales"""
    return _seats(memory, slack, tokens, group, scale=0)


def without_slack(memory, slack, tokens, group):
    """no slack: every byte is given to requests"""
    return _seats(memory, 0, tokens, group)


def every_query_head(memory, slack, tokens, group):
    """keys and values of all 64 query heads, without grouped-query attention"""
    return _seats(memory, slack, tokens, group, token=8 * REQUEST)


def keys_alone(memory, slack, tokens, group):
    """the keys without the values"""
    return _seats(memory, slack, tokens, group, token=REQUEST // 2)


def one_layer(memory, slack, tokens, group):
    """the keys and values of one layer only"""
    return _seats(memory, slack, tokens, group, token=REQUEST // 80)


def gib(memory, slack, tokens, group):
    """1 GB taken as 2^30 bytes"""
    return _seats(memory, slack, tokens, group, giga=2**30)


def half_the_bytes_twice_the_seats(memory, slack, tokens, group):
    """half the bytes, so twice the seats (it is what the weights LEAVE that is filled)"""
    int8, _ = _seats(memory, slack, tokens, group)
    return [int8, 2 * int8]


def cache_in_4_bits(memory, slack, tokens, group):
    """keys and values in the bits of the weights: 1 byte with int8, half a byte with int4"""
    both = [_seats(memory, slack, tokens, group, token=REQUEST // n) for n in (2, 4)]
    return [both[0][0], both[1][1]]


def rounded_up(memory, slack, tokens, group):
    """numbers rounded up: the last request has only a part of its memory"""
    return [n + 1 for n in _seats(memory, slack, tokens, group)]
