"""Other right answers of 1.5."""


def one_word():
    return "fixed"


def by_exclusion():
    others = {"memory", "attention", "head", "arithmetic", "tokenizer"}
    return next(word for word in ("memory", "fixed") if word not in others)
