"""Reference of 4.4."""


def kv_bytes(config, length, batch, bytes_per_number):
    both = 2 * config["num_layers"] * length * batch * bytes_per_number
    return both * config["width"], both * config["num_kv_heads"] * config["head_size"]
