"""Reference of 4.4."""


def kv_bytes(config, length, batch, bytes_per_number):
    tokens, real_numbers = length * batch, config["num_kv_heads"] * config["head_size"]
    article = 2 * config["num_layers"] * config["width"] * tokens * bytes_per_number
    real = 2 * config["num_layers"] * real_numbers * tokens * bytes_per_number
    return article, real
