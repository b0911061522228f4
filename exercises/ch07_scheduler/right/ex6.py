"""Other right mends of 7.6."""


def gives_the_last_one_back(tokens, known, block_size):
    shared = []
    for end in range(block_size, len(tokens) + 1, block_size):
        if tuple(tokens[:end]) not in known:
            break
        shared.append(known[tuple(tokens[:end])])
    if len(shared) * block_size == len(tokens):
        shared.pop()
    return shared, tokens[len(shared) * block_size :]


def looks_without_the_last_token(tokens, known, block_size):
    start, shared = 0, []
    while len(tokens[:-1]) - start >= block_size:
        block = known.get(tuple(tokens[: start + block_size]))
        if block is None:
            break
        shared, start = [*shared, block], start + block_size
    return shared, tokens[start:]
