"""Named wrong answers of 5.2."""


def _serve(lengths, seats, choose=lambda waiting, left: 0, may_fill=lambda sitting: True, extra=0):
    waiting, left = list(range(len(lengths))), [n + extra for n in lengths]
    sitting, timeline = [None] * seats, []
    while True:
        if may_fill(sitting):
            for seat in range(seats):
                if sitting[seat] is None and waiting:
                    sitting[seat] = waiting.pop(choose(waiting, left))
        if all(who is None for who in sitting):
            return timeline
        timeline.append(list(sitting))
        for seat, who in enumerate(sitting):
            if who is not None:
                left[who] -= 1
                sitting[seat] = who if left[who] else None


def waits_for_all(lengths, seats):
    """a static batch: nobody is let in before all seats are empty"""
    return _serve(lengths, seats, may_fill=lambda sitting: set(sitting) == {None})


def shortest_first(lengths, seats):
    """the shortest answer first (nobody knows the lengths before)"""
    return _serve(
        lengths, seats, lambda waiting, left: waiting.index(min(waiting, key=lambda i: left[i]))
    )


def last_come_first(lengths, seats):
    """the last of the line first"""
    return _serve(lengths, seats, lambda waiting, left: len(waiting) - 1)


def stays_one_step_more(lengths, seats):
    """a request that keeps its seat one step after its last token"""
    return _serve(lengths, seats, extra=1)


def waits_for_half(lengths, seats):
    """a seat refilled only when at least half of the seats are free"""
    return _serve(lengths, seats, may_fill=lambda sitting: 2 * sitting.count(None) >= seats)


def one_seat_a_step(lengths, seats):
    """only one free seat filled in a step"""
    waiting, left, timeline = list(range(len(lengths))), list(lengths), []
    sitting = [None] * seats
    while waiting or any(who is not None for who in sitting):
        if waiting and None in sitting:
            sitting[sitting.index(None)] = waiting.pop(0)
        timeline.append(list(sitting))
        for seat, who in enumerate(sitting):
            if who is not None:
                left[who] -= 1
                sitting[seat] = who if left[who] else None
    return timeline


def an_empty_step_between(lengths, seats):
    """a seat that stays empty for one step before the next request takes it"""
    waiting, left, timeline = list(range(len(lengths))), list(lengths), []
    sitting, free = [None] * seats, list(range(seats))
    while waiting or any(who is not None for who in sitting):
        for seat in free:
            if waiting:
                sitting[seat] = waiting.pop(0)
        free = [seat for seat, who in enumerate(sitting) if who is None]
        timeline.append(list(sitting))
        for seat, who in enumerate(sitting):
            if who is not None:
                left[who] -= 1
                sitting[seat] = who if left[who] else None
    return timeline


def closes_the_gaps(lengths, seats):
    """requests that move to a lower seat when one is free"""
    waiting, left, timeline, sitting = list(range(len(lengths))), list(lengths), [], []
    while waiting or sitting:
        while waiting and len(sitting) < seats:
            sitting.append(waiting.pop(0))
        timeline.append(sitting + [None] * (seats - len(sitting)))
        for who in sitting:
            left[who] -= 1
        sitting = [who for who in sitting if left[who]]
    return timeline


def request_0_is_nobody(lengths, seats):
    """request 0 taken for nobody (0 is false in Python): compare with `is None`"""
    waiting, left, timeline = list(range(len(lengths))), list(lengths), []
    sitting = [None] * seats
    while waiting or any(sitting):
        for seat in range(seats):
            if sitting[seat] is None and waiting:
                sitting[seat] = waiting.pop(0)
        timeline.append(list(sitting))
        for seat, who in enumerate(sitting):
            if who is not None:
                left[who] -= 1
                sitting[seat] = who if left[who] else None
    return timeline
