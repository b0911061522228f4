"""Reference of 13.5."""


def answer(right, layers, n1, n2, h1, h2, g1, g2, f1, f2):
    weights = lambda n, h, g, f: n * (2 * 1024 * 64 * (h + g) + 3 * 1024 * f) + 32768 * 1024
    speedup = weights(n1, h1, g1, f1) / weights(n2, h2, g2, f2)
    return {"layer": min(right, key=right.get), "speedup": speedup}
