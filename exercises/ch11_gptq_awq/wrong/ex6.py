"""Named misconceptions of 11.6."""


def _letter(choices, wanted):
    return next((letter for letter, bits in choices.items() if list(bits) == list(wanted)), None)


def _fewest(rows, columns, floor, see):
    return min(bits for bits in rows if see(rows[bits], columns) >= floor or bits == 8)


def eight_for_all(rows, products, choices, **texts):
    """8 bits for all, to be safe: more bytes than two of the products need"""
    return _letter(choices, [8] * 3)


def four_for_all(rows, products, choices, **texts):
    """4 bits for all, because everybody takes 4: too many for one product at least"""
    return _letter(choices, [4] * 3)


def smallest_for_all(rows, products, choices, **texts):
    """the smallest file for all: not every floor holds"""
    return _letter(choices, [2] * 3)


def by_the_average(rows, products, choices, **texts):
    """the average of the five tasks against the floor, not the product's own task"""
    five = [task for task in rows[8] if task != "same"]
    average = lambda row, c: row["same"] if c == ("same",) else sum(row[t] for t in five) / 5
    return _letter(choices, [_fewest(rows, *p, average) for p in products])


def nearly_held(rows, products, choices, **texts):
    """2 bits where a floor is nearly held: nearly is under the floor"""
    nearly = lambda row, columns: min(row[c] for c in columns) + 0.1
    right = [_fewest(rows, *p, lambda row, c: min(row[x] for x in c)) for p in products]
    return _letter(choices, [_fewest(rows, *p, nearly) if b == 3 else b
                             for b, p in zip(right, products)])  # fmt: skip
