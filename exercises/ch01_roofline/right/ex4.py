"""Other right answers of 1.4."""


def with_the_ridge(flops, moved, launches, peak, bandwidth, launch):
    if flops / moved > peak / bandwidth:
        return flops / peak + launches * launch
    return moved / bandwidth + launches * launch


def with_sorted(flops, moved, launches, peak, bandwidth, launch):
    return launch * launches + sorted([flops / peak, moved / bandwidth])[1]
