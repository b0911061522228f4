"""Other right answers of 5.4: in the band."""


def as_the_text_says(traces, seats, **text):
    found = {}
    for name, line in traces.items():
        batches = [line[i : i + seats] for i in range(0, len(line), seats)]
        found[name] = round(sum(map(max, batches)) / (sum(line) / seats), 1)
    return found


def seat_by_seat(traces, seats, **text):
    return {name: _static(line, seats) / _steps(line, seats) for name, line in traces.items()}


def _static(line, seats):
    return sum(max(line[i : i + seats]) for i in range(0, len(line), seats))


def _steps(line, seats):
    waiting, left, steps = list(line), [], 0
    while waiting or left:
        while waiting and len(left) < seats:
            left.append(waiting.pop(0))
        left, steps = [n - 1 for n in left if n > 1], steps + 1
    return steps
