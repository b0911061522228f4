"""Named misconceptions of 11.5."""

LOOK_UP_LAST = ("add", "sort", "code", "copy", "recall")


def _ranked(bits, order):
    return {"bits": bits} | {
        t: order.index(t) + 1 for t in ("recall", "copy", "sort", "add", "code")
    }


def four_bits_hurt(before, curve, least):
    """4 bits, as many texts say: measured, hardly anything moves there"""
    return _ranked(4, LOOK_UP_LAST)


def a_slow_fall(before, curve, least):
    """a loss that grows a little with each bit, so that it is there at 6 bits"""
    return _ranked(6, LOOK_UP_LAST)


def looking_up_first(before, curve, least):
    """looking up as the first to fall: it is the last"""
    return _ranked(2, LOOK_UP_LAST[::-1])


def longest_answer_first(before, curve, least):
    """the longest answers first: what an answer needs counts more than its length"""
    return _ranked(2, ("copy", "sort", "add", "code", "recall"))


def hardest_before_first(before, curve, least):
    """the tasks in the order of their errors in float32: there they hardly differ"""
    return _ranked(2, ("code", "recall", "copy", "sort", "add"))
