"""Reference of 7.1."""

import hashlib


def digest(*values) -> bytes:
    return hashlib.blake2b(repr(values).encode(), digest_size=16).digest()


def block_names(tokens, block_size, extras):
    names, parent = [], digest("first", extras)
    for end in range(block_size, len(tokens) + 1, block_size):
        parent = digest(parent, tokens[end - block_size : end])
        names.append(parent)
    return names
