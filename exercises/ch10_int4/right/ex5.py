"""Other right answers of 10.5: in the band."""


def by_the_formula(group, unpack, tile):
    return [2 / (0.5 + 2 / group), 400 / (2 + unpack / tile)]


def rounded(group, unpack, tile):
    return [3.6, round(400 / (2 + unpack / tile), -1)]
