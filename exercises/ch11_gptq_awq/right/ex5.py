"""Other right answers of 11.5: two pairs off, or ties the other way round."""


def one_pair_off(before, curve, least):
    return {"bits": 2, "add": 1, "sort": 2, "copy": 3, "code": 4, "recall": 5}


def two_pairs_off(before, curve, least):
    return {"bits": 2, "sort": 1, "code": 2, "add": 3, "recall": 4, "copy": 5}
