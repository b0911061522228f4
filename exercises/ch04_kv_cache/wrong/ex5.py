"""Named misconceptions of 4.5."""


def article_formula(users, models, load):
    """the article's formula, with width in place of KV heads * head size"""
    return [2 * p / (users * 2 * layers * width * 2) for p, layers, width, *_ in models]


def query_heads(users, models, load):
    """keys and values of every query head, without grouped-query attention"""
    return [2 * p / (users * 2 * n * heads * size * 2) for p, n, _, heads, _, size in models]


def keys_alone(users, models, load):
    """the keys without the values"""
    return [2 * p / (users * n * kv * size * 2) for p, n, _, _, kv, size in models]


def one_layer(users, models, load):
    """the keys and values of one layer only"""
    return [2 * p / (users * 2 * kv * size * 2) for p, _, _, _, kv, size in models]


def parameters_as_bytes(users, models, load):
    """one byte for a parameter (16 bits are two bytes)"""
    return [p / (users * 2 * n * kv * size * 2) for p, n, _, _, kv, size in models]


def numbers_as_bits(users, models, load):
    """16 bytes for a cached number (16 bits are two bytes)"""
    return [2 * p / (users * 2 * n * kv * size * 16) for p, n, _, _, kv, size in models]
