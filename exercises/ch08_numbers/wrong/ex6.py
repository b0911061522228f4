"""Named wrong answers of 8.6."""


def whole_step(low, high):
    """a whole step (to nearest it is half of one)"""
    return [high / 127, high / 7, (high + low) / 15]


def typical(low, high):
    """the typical error, step / sqrt(12), not the largest"""
    return [x / 12**0.5 for x in whole_step(low, high)]


def range_everywhere(low, high):
    """max - min also for the symmetric formats"""
    return [(high + low) / codes / 2 for codes in (255, 15, 15)]


def largest_everywhere(low, high):
    """max |w| / 7 also for the asymmetric format: it has the same 16 codes"""
    return [high / 127 / 2, high / 7 / 2, high / 7 / 2]


def fifteen_steps_of_one_side(low, high):
    """max |w| / 15 for the asymmetric format: its 15 steps reach from min to max"""
    return [high / 127 / 2, high / 7 / 2, high / 15 / 2]


def half_the_bits(low, high):
    """int4 twice as coarse as int8 (each bit less doubles the step: 16 times)"""
    return [high / 127 / 2, high / 127, (high + low) / 255]
