"""False mends of 7.6."""


def _match(tokens, known, block_size):
    shared = []
    for end in range(block_size, len(tokens) + 1, block_size):
        block = known.get(tuple(tokens[:end]))
        if block is None:
            break
        shared.append(block)
    return shared


def last_token_into_a_shared_block(tokens, known, block_size):
    """the last token computed again, into a block that others read"""
    shared = _match(tokens, known, block_size)
    start = min(len(shared) * block_size, len(tokens) - 1)
    return shared, tokens[start:]


def whole_hit_thrown_away(tokens, known, block_size):
    """nothing shared at all when everything is known"""
    shared = _match(tokens, known, block_size)
    if len(shared) * block_size == len(tokens):
        shared = []
    return shared, tokens[len(shared) * block_size :]


def last_block_never_shared(tokens, known, block_size):
    """the last known block given back every time, also when tokens are left behind it"""
    shared = _match(tokens, known, block_size)[:-1]
    return shared, tokens[len(shared) * block_size :]


def multiples_lose_a_block(tokens, known, block_size):
    """a block given back whenever the length is a multiple, also when not all is known"""
    shared = _match(tokens, known, block_size)
    if len(tokens) % block_size == 0 and shared:
        shared.pop()
    return shared, tokens[len(shared) * block_size :]


def only_the_last_token(tokens, known, block_size):
    """the last block given back, but only its last token computed"""
    shared = _match(tokens, known, block_size)
    if len(shared) * block_size == len(tokens):
        return shared[:-1], tokens[-1:]
    return shared, tokens[len(shared) * block_size :]


def looks_behind_a_hole(tokens, known, block_size):
    """an unknown block passed over, and known ones behind it shared"""
    ends = range(block_size, len(tokens), block_size)
    shared = [known[tuple(tokens[:end])] for end in ends if tuple(tokens[:end]) in known]
    return shared, tokens[len(shared) * block_size :]


def block_zero_is_none(tokens, known, block_size):
    """block 0 taken for an unknown block"""
    shared = []
    for end in range(block_size, len(tokens), block_size):
        block = known.get(tuple(tokens[:end]))
        if not block:
            break
        shared.append(block)
    return shared, tokens[len(shared) * block_size :]
