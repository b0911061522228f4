"""Reference of 7.6."""


def admit(tokens, known, block_size):
    shared = []
    for end in range(block_size, len(tokens), block_size):
        block = known.get(tuple(tokens[:end]))
        if block is None:
            break
        shared.append(block)
    return shared, tokens[len(shared) * block_size :]
