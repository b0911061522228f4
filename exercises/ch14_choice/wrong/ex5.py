"""Named wrong answers of 14.5."""


def first_come(request, now):
    """first come, first served: the rule that is to be beaten"""
    return request["arrival"]


def shortest_answer(request, now):
    """shortest answer first, whatever has waited: a long one starves"""
    return request["answer"]


def shortest_prompt(request, now):
    """shortest prompt first: reading is the small part, writing keeps the seat"""
    return request["prompt"]


def last_come(request, now):
    """last come, first served: whoever waits, waits longer"""
    return -request["arrival"]


def longest_answer(request, now):
    """longest answer first: it has the most to do, and everybody waits for it"""
    return -request["answer"]


def longest_wait_is_last(request, now):
    """waiting counts with the wrong sign: the longer a request waits, the later it starts"""
    return request["answer"] + 200 * (now - request["arrival"])


def hardly_aging(request, now):
    """a second of waiting counts as 5 tokens: a long request has to wait for a minute"""
    return request["answer"] - 5 * (now - request["arrival"])


def hardly_sorted(request, now):
    """a second of waiting counts as 4,000 tokens: nearly first come, first served"""
    return request["answer"] - 4000 * (now - request["arrival"])
