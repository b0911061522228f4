"""Reference of 1.5."""


def answer():
    return "fixed"
