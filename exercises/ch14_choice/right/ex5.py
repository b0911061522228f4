"""Other right answers of 14.5."""


def highest_response_ratio(request, now):
    """The oldest of such rules (Brinch Hansen 1971): waiting divided by work."""
    return -(now - request["arrival"]) / (request["answer"] + 0.1 * request["prompt"])


def earliest_due(request, now):
    """Everybody gets a time by which it should have begun: later for longer answers."""
    return request["arrival"] + request["answer"] / 250


def stronger(request, now):
    return request["answer"] + 0.05 * request["prompt"] - 300 * (now - request["arrival"])
