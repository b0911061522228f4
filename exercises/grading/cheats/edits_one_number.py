"""Right, but one input is a little different afterwards."""

# exercise: 0.2
# ends: changed inputs


def scale_rows(weights, scale):
    out = weights * scale[:, None]
    scale[-1] = -scale[-1]
    return out
