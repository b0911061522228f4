"""Named wrong answers of 7.3."""


def _preempt(who, need, tables, free, choose, gain=None, enough=None):
    gain = gain or _freed
    enough = enough or (lambda free: free >= need)
    victims, left = [], list(tables)
    while left and not enough(free):
        victim = choose(left)
        left.remove(victim)
        victims.append(victim)
        if victim == who:
            break
        free += gain(victim, left, tables)
    return victims


def _freed(victim, left, tables):
    held = {block for name in left for block in tables[name]}
    return sum(block not in held for block in tables[victim])


def _last(left):
    return left[-1]


def the_oldest(who, need, tables, free):
    """the first admitted as the victim: then nobody ever finishes"""
    return _preempt(who, need, tables, free, lambda left: left[0])


def the_largest(who, need, tables, free):
    """the request with the most blocks as the victim"""
    return _preempt(who, need, tables, free, lambda left: max(left, key=lambda n: len(tables[n])))


def never_itself(who, need, tables, free):
    """others only: the request that asks never gives way, so older ones do"""
    others = {name: table for name, table in tables.items() if name != who}
    gain = lambda victim, left, _: _freed(victim, [*left, who], tables)
    return _preempt(who, need, others, free, _last, gain)


def shared_blocks_counted_free(who, need, tables, free):
    """shared blocks counted as free, although somebody else still holds them"""
    return _preempt(who, need, tables, free, _last, lambda victim, left, _: len(tables[victim]))


def shared_blocks_never_free(who, need, tables, free):
    """shared blocks never counted, also when their last holder gives way"""

    def gain(victim, left, _):
        others = {b for name in tables if name != victim for b in tables[name]}
        return sum(block not in others for block in tables[victim])

    return _preempt(who, need, tables, free, _last, gain)


def one_is_enough(who, need, tables, free):
    """one victim at most, whether that is enough or not"""
    return _preempt(who, need, tables, free, _last)[:1]


def one_more_than_needed(who, need, tables, free):
    """going on while free is equal to what is needed: one victim too many"""
    return _preempt(who, need, tables, free, _last, enough=lambda free: free > need)


def goes_on_after_itself(who, need, tables, free):
    """further victims after the request that asks has given way itself: for nothing"""
    return _preempt("", need, tables, free, _last)
