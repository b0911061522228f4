"""Reference of 5.5."""


def answer(burst, answer_length, interval, limit):
    found = []
    for seats in (2, 8, 32, 128):
        step = 5.4 + 0.16 * seats  # milliseconds
        whole = burst * answer_length / seats * step / 1000  # seconds
        if step <= limit and whole <= interval:
            found.append(str(seats))
    return tuple(found)
