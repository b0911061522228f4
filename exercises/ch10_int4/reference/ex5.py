"""Reference of 10.5."""


def answer(group, unpack, tile):
    moved, flop = 1 / 300e9, 1 / 60e12  # seconds for a byte, for a FLOP
    fp16 = lambda S: max(2 * moved, 2 * S * flop)
    int4 = lambda S: max((0.5 + 2 / group) * moved, (2 * S + unpack * -(-S // tile)) * flop)
    rows = 1
    while int4(rows) < fp16(rows):
        rows += 1
    return [fp16(1) / int4(1), rows]
