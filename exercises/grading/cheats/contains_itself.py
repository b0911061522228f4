"""Returns a list that holds itself."""

# exercise: 0.2
# ends: output


def scale_rows(weights, scale):
    out = []
    out.append(out)
    return out
