"""Named misconceptions of 13.5."""


def _answer(right, case, layer=None, head=1):
    """Our answer; head: how often the embedding matrix is read for a token."""
    n1, n2, h1, h2, g1, g2, f1, f2 = case
    layer = min(right, key=right.get) if layer is None else layer
    inside = lambda n, h, g, f: n * (2 * 1024 * 64 * (h + g) + 3 * 1024 * f)
    before, after = inside(n1, h1, g1, f1), inside(n2, h2, g2, f2)
    head *= 32768 * 1024
    return {"layer": layer, "speedup": (before + head) / (after + head)}


def the_last_layer(right, layers, *, n1, n2, h1, h2, g1, g2, f1, f2):
    """the last layer, because the answer leaves there"""
    return _answer(right, (n1, n2, h1, h2, g1, g2, f1, f2), layer=layers - 1)


def counted_from_one(right, layers, *, n1, n2, h1, h2, g1, g2, f1, f2):
    """layers counted from 1: they are numbered from 0"""
    first = min(right, key=right.get) + 1
    return _answer(right, (n1, n2, h1, h2, g1, g2, f1, f2), layer=first)


def a_middle_layer(right, layers, *, n1, n2, h1, h2, g1, g2, f1, f2):
    """a layer of the middle, because the thinking must be there"""
    return _answer(right, (n1, n2, h1, h2, g1, g2, f1, f2), layer=layers // 2)


def without_the_head(right, layers, *, n1, n2, h1, h2, g1, g2, f1, f2):
    """the layers alone: the head is read whole for every token, and does not become smaller"""
    return _answer(right, (n1, n2, h1, h2, g1, g2, f1, f2), head=0)


def embedding_and_head(right, layers, *, n1, n2, h1, h2, g1, g2, f1, f2):
    """the embedding matrix read twice for each token: of the embedding one row is enough"""
    return _answer(right, (n1, n2, h1, h2, g1, g2, f1, f2), head=2)


def layers_only(right, layers, *, n1, n2, h1, h2, g1, g2, f1, f2):
    """the ratio of the numbers of layers: heads and channels count, too"""
    found = _answer(right, (n1, n2, h1, h2, g1, g2, f1, f2))
    return found | {"speedup": n1 / n2}


def all_ratios_multiplied(right, layers, *, n1, n2, h1, h2, g1, g2, f1, f2):
    """the ratios of layers, heads and channels multiplied: heads and channels do not multiply"""
    found = _answer(right, (n1, n2, h1, h2, g1, g2, f1, f2))
    return found | {"speedup": n1 / n2 * h1 / h2 * f1 / f2}


def small_over_large(right, layers, *, n1, n2, h1, h2, g1, g2, f1, f2):
    """the share that is left, not how many times as fast"""
    found = _answer(right, (n1, n2, h1, h2, g1, g2, f1, f2))
    return found | {"speedup": 1 / found["speedup"]}


def how_much_more(right, layers, *, n1, n2, h1, h2, g1, g2, f1, f2):
    """by how much it is faster (0.4 more), not how many times as fast (1.4)"""
    found = _answer(right, (n1, n2, h1, h2, g1, g2, f1, f2))
    return found | {"speedup": found["speedup"] - 1}


def nothing_gained(right, layers, *, n1, n2, h1, h2, g1, g2, f1, f2):
    """no gain, as with scattered zeros: here the matrices are really smaller"""
    found = _answer(right, (n1, n2, h1, h2, g1, g2, f1, f2))
    return found | {"speedup": 1.0}


def root_of_the_ratio(right, layers, *, n1, n2, h1, h2, g1, g2, f1, f2):
    """the square root of the ratio of bytes: twice the bytes take twice the time"""
    found = _answer(right, (n1, n2, h1, h2, g1, g2, f1, f2))
    return found | {"speedup": found["speedup"] ** 0.5}


def square_of_the_ratio(right, layers, *, n1, n2, h1, h2, g1, g2, f1, f2):
    """the square of the ratio: twice the bytes take twice the time"""
    found = _answer(right, (n1, n2, h1, h2, g1, g2, f1, f2))
    return found | {"speedup": found["speedup"] ** 2}
