"""Other right answers of 4.4."""


def by_counting(config, length, batch, bytes_per_number):
    found = []
    for numbers in (config["width"], config["num_kv_heads"] * config["head_size"]):
        token = sum(numbers for _ in range(config["num_layers"]) for _ in ("key", "value"))
        found.append(token * length * batch * bytes_per_number)
    return tuple(found)


def from_the_ratio(config, length, batch, bytes_per_number):
    article = 2.0 * config["num_layers"] * config["width"] * length * batch * bytes_per_number
    stored = config["num_kv_heads"] * config["head_size"]
    return article, article / config["width"] * stored
