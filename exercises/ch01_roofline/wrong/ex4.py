"""Named wrong answers of 1.4."""


def one_after_the_other(flops, moved, launches, peak, bandwidth, launch):
    """moving and arithmetic one after the other: they run at the same time"""
    return flops / peak + moved / bandwidth + launches * launch


def the_faster(flops, moved, launches, peak, bandwidth, launch):
    """the faster of the two: the slower one decides"""
    return min(flops / peak, moved / bandwidth) + launches * launch


def no_launches(flops, moved, launches, peak, bandwidth, launch):
    """no time for launches"""
    return max(flops / peak, moved / bandwidth)


def launches_hidden(flops, moved, launches, peak, bandwidth, launch):
    """launches behind the other two: they come on top"""
    return max(flops / peak, moved / bandwidth, launches * launch)


def bytes_only(flops, moved, launches, peak, bandwidth, launch):
    """bytes alone: always bound by memory"""
    return moved / bandwidth + launches * launch


def one_launch(flops, moved, launches, peak, bandwidth, launch):
    """one launch for the whole step"""
    return max(flops / peak, moved / bandwidth) + launch


def launches_with_arithmetic(flops, moved, launches, peak, bandwidth, launch):
    """launches added to arithmetic only: they come on top of the slower of the two"""
    return max(flops / peak + launches * launch, moved / bandwidth)


def launches_with_moving(flops, moved, launches, peak, bandwidth, launch):
    """launches added to moving only: they come on top of the slower of the two"""
    return max(flops / peak, moved / bandwidth + launches * launch)
