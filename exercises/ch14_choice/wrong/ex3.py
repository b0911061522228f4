"""Named misconceptions of 14.3."""

BEST = {
    "alone": "W", "queue": "S", "long": "K", "fit": "K", "system": "P", "document": "N",
    "pause": "C",
}  # fmt: skip


def _letters(asked, **other):
    return "".join((BEST | other)[one["kind"]] for one in asked)


def int4_everywhere(asked, **texts):
    """int4 weights as the answer to everything: they help where the weights are what is read"""
    return "W" * len(asked)


def more_seats_everywhere(asked, **texts):
    """more seats as the answer to everything: they help where a queue waits for them"""
    return "S" * len(asked)


def nothing_helps(asked, **texts):
    """none of these, everywhere"""
    return "N" * len(asked)


def int4_for_a_document(asked, **texts):
    """fewer bytes for a long new prompt: arithmetic takes the time, and W leaves it as it is"""
    return _letters(asked, document="W")


def small_chunks_for_a_document(asked, **texts):
    """smaller chunks to have the first word sooner: they help the OTHERS, this one waits longer"""
    return _letters(asked, document="C")


def shared_document(asked, **texts):
    """prefix caching for a new document: nobody has computed it before"""
    return _letters(asked, document="P")


def weights_are_the_most(asked, **texts):
    """the weights taken for the largest thing in memory, however long the texts are"""
    return _letters(asked, long="W", fit="W")


def seats_for_long_texts(asked, **texts):
    """more seats where texts are long: seats cost nothing, their K and V do"""
    return _letters(asked, long="S", fit="S")
