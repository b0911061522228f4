"""Other right answers of 13.5: in the band."""


def rounded(right, layers, n1, n2, h1, h2, g1, g2, f1, f2):
    weights = lambda n, h, g, f: 33.55 + n * (0.131 * (h + g) + 0.003072 * f)
    return {"layer": 0, "speedup": round(weights(n1, h1, g1, f1) / weights(n2, h2, g2, f2), 2)}


def in_bytes_as_floats(right, layers, n1, n2, h1, h2, g1, g2, f1, f2):
    def moved(n, heads, kv_heads, channels):
        matrices = [(1024, 64 * heads)] * 2 + [(1024, 64 * kv_heads)] * 2 + [(1024, channels)] * 3
        return 4.0 * (n * sum(a * b for a, b in matrices) + 1024 * 32768)

    return {"layer": 0.0, "speedup": moved(n1, h1, g1, f1) / moved(n2, h2, g2, f2) * 1.02}
