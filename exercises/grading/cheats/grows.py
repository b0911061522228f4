"""Takes memory bit by bit."""

# exercise: 0.2
# ends: memory or timeout

kept = []


def scale_rows(weights, scale):
    while True:
        kept.append(bytearray(2**24))
