"""One number that broadcasts against every shape."""

# exercise: 0.2
# ends: wrong


def scale_rows(weights, scale):
    return (weights * scale[:, None])[:1, :1]
