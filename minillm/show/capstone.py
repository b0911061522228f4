"""The picture of the capstone: who sat on which seat of the engine, and how many waited."""

from __future__ import annotations

from collections.abc import Sequence

from minillm.show.canvas import PALETTE, SERIES, Picture, new_figure


def seats_of_times(times: Sequence) -> list[int]:
    """The seat of each request: the lowest that is free when it starts, until it has finished."""
    seats, free_at = [0] * len(times), []
    for number in sorted(range(len(times)), key=lambda i: times[i].started):
        started = times[number].started
        place = next((s for s, end in enumerate(free_at) if end <= started), len(free_at))
        free_at[place : place + 1] = [times[number].finished]
        seats[number] = place
    return seats


def waiting(times: Sequence) -> tuple[list[float], list[int]]:
    """(seconds, requests that have come and not started) at every change."""
    changes = [(t.arrival, 1) for t in times] + [(t.started, -1) for t in times]
    seconds, counts, line = [0.0], [0], 0
    for moment, change in sorted(changes, key=lambda c: (c[0], -c[1])):
        line += change
        seconds.append(moment)
        counts.append(line)
    return seconds, counts


def served(times: Sequence, alt: str = "") -> Picture:
    """Above: how many requests wait. Below: seats over time, one colour a request.

    Hatched: it waits for its first token (its prompt is read). Plain: it writes. times: a
    RequestMetrics (minillm.engine.metrics) for each request; all have finished.
    """
    seats, (seconds, counts) = seats_of_times(times), waiting(times)
    rows = max(seats) + 1
    size = dict(width=7.5, height=min(0.14 * rows, 4.0) + 2.0, sharex=True)
    figure, (above, below) = new_figure(rows=2, gridspec_kw={"height_ratios": [1, 2]}, **size)
    above.step(seconds, counts, where="post", color=PALETTE["vermilion"], linewidth=1.5)
    above.set(ylabel="waiting", ylim=(0, max(counts) * 1.1 + 1))
    for number, (one, seat) in enumerate(zip(times, seats)):
        color, first = SERIES[number % len(SERIES)], one.token_times[0]
        look = dict(height=0.86, color=color, edgecolor="white", linewidth=0.5)
        below.barh(seat, first - one.started, left=one.started, hatch="////", **look)
        below.barh(seat, one.finished - first, left=first, **look)
    end = max(one.finished for one in times)
    below.set(xlabel="s", ylabel="seat", ylim=(rows - 0.4, -0.6), xlim=(0, end * 1.01))
    below.set_yticks(range(0, rows, 5 if rows > 10 else 1))
    said = (
        f"{len(times)} requests on {rows} seat{'s' * (rows > 1)}, the last one done after "
        f"{end:.2f} s. At most {max(counts)} waited."
    )
    return Picture(figure, alt or said)
