"""Named wrong answers of 7.1."""

import hashlib


def _digest(*values):
    return hashlib.blake2b(repr(values).encode(), digest_size=16).digest()


def _pieces(tokens, block_size):
    return [tokens[i : i + block_size] for i in range(0, len(tokens), block_size)]


def _full(tokens, block_size):
    return _pieces(tokens[: len(tokens) // block_size * block_size], block_size)


def without_parent(tokens, block_size, extras):
    """a name from the block's own tokens alone, without its parent"""
    return [_digest(own, extras) for own in _full(tokens, block_size)]


def place_for_parent(tokens, block_size, extras):
    """the number of the block in place of the parent's name"""
    return [_digest(i, own, extras) for i, own in enumerate(_full(tokens, block_size))]


def parents_tokens_only(tokens, block_size, extras):
    """the tokens of the block before in place of its name, the extras in the first name only"""
    blocks = _full(tokens, block_size)
    before = [extras, *blocks]  # the extras are in the first name alone
    return [_digest(parent, own) for parent, own in zip(before, blocks)]


def without_extras(tokens, block_size, extras):
    """a chain that leaves the extras out"""
    names, parent = [], b""
    for own in _full(tokens, block_size):
        parent = _digest(parent, own)
        names.append(parent)
    return names


def names_the_rest(tokens, block_size, extras):
    """a name also for the last block, although it is not full"""
    names, parent = [], _digest(extras)
    for own in _pieces(tokens, block_size):
        parent = _digest(parent, own)
        names.append(parent)
    return names


def order_ignored(tokens, block_size, extras):
    """the sum of the block's tokens (the same tokens in another order get the same name)"""
    names, parent = [], _digest(extras)
    for own in _full(tokens, block_size):
        parent = _digest(parent, sum(own))
        names.append(parent)
    return names


def digits_glued(tokens, block_size, extras):
    """the tokens' digits glued together: 1, 23 and 12, 3 look the same"""
    names, parent = [], _digest(extras)
    for own in _full(tokens, block_size):
        parent = _digest(parent, "".join(map(str, own)))
        names.append(parent)
    return names


def last_block_left_out(tokens, block_size, extras):
    """no name for the last full block when the text ends with it"""
    names, parent = [], _digest(extras)
    for own in _full(tokens, block_size)[: (len(tokens) - 1) // block_size]:
        parent = _digest(parent, own)
        names.append(parent)
    return names


def own_tokens_alone(tokens, block_size, extras):
    """a name from the block's own tokens alone, without its parent and without the extras"""
    return [_digest(own) for own in _full(tokens, block_size)]


def parents_tokens_and_extras(tokens, block_size, extras):
    """the tokens of the block before in place of its name (what comes before THAT is not in it)"""
    blocks = _full(tokens, block_size)
    return [_digest(before, own, extras) for before, own in zip([[], *blocks], blocks)]


def any_extras_are_alike(tokens, block_size, extras):
    """whether there are extras, not which: adapter 7 and adapter 8 look the same"""
    names, parent = [], _digest("first", bool(extras))
    for own in _full(tokens, block_size):
        parent = _digest(parent, own)
        names.append(parent)
    return names


def three_bytes(tokens, block_size, extras):
    """a name of 3 bytes: among many texts two get the same one"""
    names, parent = [], _digest("first", extras)
    for own in _full(tokens, block_size):
        parent = hashlib.blake2b(repr((parent, own)).encode(), digest_size=3).digest()
        names.append(parent)
    return names
