"""Right, but the caller's weights are gone."""

# exercise: 0.2
# ends: changed inputs


def scale_rows(weights, scale):
    weights *= scale[:, None]
    return weights
