"""Reference of 1.4."""


def step_seconds(flops, moved, launches, peak, bandwidth, launch):
    arithmetic = flops / peak
    moving = moved / bandwidth
    return max(arithmetic, moving) + launches * launch
