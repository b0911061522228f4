"""Other right answers of 11.7."""


def by_sets(wanted, before, after):
    right = [{i for i, w in enumerate(wanted) if w == given[i]} for given in (before, after)]
    lost, won, count = len(right[0] - right[1]), len(right[1] - right[0]), len(wanted)
    return [len(right[0]) / count, len(right[1]) / count, (lost + won) / count,
            2 * min(lost, won) / count]  # fmt: skip


def by_counting(wanted, before, after):
    kinds = {(x, y): 0 for x in (True, False) for y in (True, False)}
    for w, b, a in zip(wanted, before, after):
        kinds[w == b, w == a] += 1
    both, lost, won, count = *(kinds[k] for k in ((1, 1), (1, 0), (0, 1))), len(wanted)
    flipped = (lost + won) / count
    return (both + lost) / count, (both + won) / count, flipped, flipped - abs(won - lost) / count
