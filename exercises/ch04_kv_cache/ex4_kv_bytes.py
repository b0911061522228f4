"""Exercise 4.4: how many bytes does the KV cache take?

Articles often give layers x width x 2 x length x batch x bytes of a number. Real models store
num_kv_heads * head_size numbers for a key, not `width`. Compute both; call them article and real.

config is a dict of whole numbers: num_layers, width, num_heads, num_kv_heads, head_size.
length is tokens per request, batch is requests.
"""


def kv_bytes(config: dict, length: int, batch: int, bytes_per_number: int) -> tuple[int, int]:
    """Returns (bytes by the article's formula, bytes a real cache takes)."""
    raise NotImplementedError("Exercise 4.4: two formulas")
