"""The picture of a served workload: seats, the line of waiting requests, alt text."""

import pytest

from minillm import show
from minillm.engine.metrics import RequestMetrics
from minillm.show.capstone import seats_of_times, waiting


def one(arrival, started, first, finished):
    return RequestMetrics(arrival, started, [first, finished], finished)


TIMES = [one(0, 0, 1, 4), one(0, 0, 2, 3), one(0.5, 3, 3.5, 5), one(1, 4, 4.5, 6)]


def test_a_request_takes_the_lowest_seat_that_is_free():
    assert seats_of_times(TIMES) == [0, 1, 1, 0]


def test_who_has_come_and_not_started_waits():
    seconds, counts = waiting(TIMES)
    assert max(counts) == 2 and counts[-1] == 0 and min(counts) == 0
    assert counts[seconds.index(1)] == 2 and counts[seconds.index(3)] == 1


def test_the_picture_has_two_bars_a_request_and_says_what_it_shows():
    picture = show.served(TIMES)
    above, below = picture.figure.axes
    assert len(below.patches) == 2 * len(TIMES)
    assert sum(bar.get_width() for bar in below.patches) == pytest.approx(4 + 3 + 2 + 2)
    assert [bar.get_hatch() for bar in below.patches] == ["////", None] * len(TIMES)
    assert "4 requests on 2 seats" in picture.alt and "At most 2 waited" in picture.alt
    assert picture.png()[:4] == b"\x89PNG"
