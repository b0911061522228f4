"""Other right answers of 5.2."""


def by_free_times(lengths, seats):
    free_from, rows = [0] * seats, []
    for who, length in enumerate(lengths):
        seat = min(range(seats), key=lambda s: (free_from[s], s))
        start, free_from[seat] = free_from[seat], free_from[seat] + length
        rows += [[None] * seats for _ in range(free_from[seat] - len(rows))]
        for step in range(start, free_from[seat]):
            rows[step][seat] = who
    return rows


def with_a_queue_of_pairs(lengths, seats):
    from collections import deque

    line, sitting, timeline = deque(enumerate(lengths)), {}, []
    while line or sitting:
        for seat in range(seats):
            if seat not in sitting and line:
                sitting[seat] = line.popleft()
        timeline.append([sitting[s][0] if s in sitting else None for s in range(seats)])
        sitting = {s: (who, n - 1) for s, (who, n) in sitting.items() if n > 1}
    return timeline
