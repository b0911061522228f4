"""Reference of 7.5."""


def answer(prompt):
    weights, found = 6.7e9, []
    for share in (0, 0.5, 0.9):
        new = prompt * (1 - share)
        found.append(1000 * max(2 * weights / 300e9, 2 * weights * new / 60e12))
    return found
