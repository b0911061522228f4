"""Reference of 10.3."""


def answer(memory, slack, tokens, group):
    request = 2 * 80 * 8 * 128 * 2 * tokens  # K and V, layers, heads, size, bytes, tokens
    weights = [70.55e9 * (1 + 2 / 8192), 70.55e9 * (0.5 + 2 / group)]
    return [int((memory * 1e9 - slack * 1e9 - w) // request) for w in weights]
