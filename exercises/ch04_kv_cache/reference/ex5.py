"""Reference of 4.5."""


def answer(users, models, load):
    found = []
    for parameters, layers, _width, _query_heads, kv_heads, head_size in models:
        found.append(2 * parameters / (users * 2 * layers * kv_heads * head_size * 2))
    return found
