"""Reference of 5.2."""


def continuous_timeline(lengths, seats):
    waiting, left = list(range(len(lengths))), list(lengths)
    sitting, timeline = [None] * seats, []
    while True:
        for seat in range(seats):
            if sitting[seat] is None and waiting:
                sitting[seat] = waiting.pop(0)
        if all(who is None for who in sitting):
            return timeline
        timeline.append(list(sitting))
        for seat, who in enumerate(sitting):
            if who is not None:
                left[who] -= 1
                sitting[seat] = who if left[who] else None
