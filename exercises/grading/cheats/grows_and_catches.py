"""Takes memory bit by bit and does not listen."""

# exercise: 0.2
# ends: timeout or memory

kept = []


def scale_rows(weights, scale):
    while True:
        try:
            kept.append(bytearray(2**24))
        except MemoryError:
            pass
