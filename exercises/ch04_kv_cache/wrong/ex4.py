"""Named wrong answers of 4.4."""


def _bytes(config, numbers, tokens, bytes_per_number, both=2):
    return both * config["num_layers"] * numbers * tokens * bytes_per_number


def _pair(config, numbers, tokens, bytes_per_number, both=2):
    article = _bytes(config, config["width"], tokens, bytes_per_number, both)
    return article, _bytes(config, numbers, tokens, bytes_per_number, both)


def article_twice(config, length, batch, bytes_per_number):
    """the article's formula in both places"""
    return _pair(config, config["width"], length * batch, bytes_per_number)


def query_heads(config, length, batch, bytes_per_number):
    """num_heads in place of num_kv_heads"""
    numbers = config["num_heads"] * config["head_size"]
    return _pair(config, numbers, length * batch, bytes_per_number)


def head_size_from_width(config, length, batch, bytes_per_number):
    """width / num_heads in place of head_size"""
    numbers = config["num_kv_heads"] * (config["width"] // config["num_heads"])
    return _pair(config, numbers, length * batch, bytes_per_number)


def keys_alone(config, length, batch, bytes_per_number):
    """counting the keys without the values"""
    numbers = config["num_kv_heads"] * config["head_size"]
    return _pair(config, numbers, length * batch, bytes_per_number, both=1)


def one_request(config, length, batch, bytes_per_number):
    """one request instead of the whole batch"""
    numbers = config["num_kv_heads"] * config["head_size"]
    return _pair(config, numbers, length, bytes_per_number)


def real_first(config, length, batch, bytes_per_number):
    """the two numbers in the other order"""
    numbers = config["num_kv_heads"] * config["head_size"]
    return _pair(config, numbers, length * batch, bytes_per_number)[::-1]
