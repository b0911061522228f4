"""Other right answers of 14.3."""

BEST = {
    "alone": "W", "queue": "S", "long": "K", "fit": "K", "system": "P", "document": "N",
    "pause": "C",
}  # fmt: skip


def by_reasoning(asked, **texts):
    """What is read most, or computed most, in each kind of situation."""
    return "".join(BEST[one["kind"]] for one in asked)


def as_a_list(asked, **texts):
    """A list of letters, small ones too."""
    return [BEST[one["kind"]].lower() for one in asked]
