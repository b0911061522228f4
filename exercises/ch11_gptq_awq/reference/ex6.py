"""Reference of 11.6."""


def answer(rows, products, choices, **texts):
    """rows: {bits: {column: share}}; products: (columns, floor); choices: {letter: three bits}."""
    wanted = [
        min(bits for bits, row in rows.items() if all(row[c] >= floor for c in columns))
        for columns, floor in products
    ]
    return tuple(letter for letter, bits in choices.items() if list(bits) == wanted)
