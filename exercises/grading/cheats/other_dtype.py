"""Right numbers in another precision."""

# exercise: 0.2
# ends: wrong


def scale_rows(weights, scale):
    return weights.double() * scale[:, None]
