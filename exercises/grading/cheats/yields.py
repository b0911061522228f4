"""Returns a generator."""

# exercise: 0.2
# ends: output


def scale_rows(weights, scale):
    yield weights * scale[:, None]
