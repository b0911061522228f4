"""Other right answers of 7.1."""

import hashlib


def extras_in_every_name(tokens, block_size, extras):
    names = []
    for i in range(len(tokens) // block_size):
        own = ",".join(map(str, tokens[i * block_size : (i + 1) * block_size]))
        parent = names[-1].hex() if names else "-"
        names.append(hashlib.sha256(f"{parent}|{own}|{extras}".encode()).digest())
    return names


def hash_of_the_whole_beginning(tokens, block_size, extras):
    """No chain: every name reads everything again. Slower for long texts, but right."""
    ends = range(block_size, len(tokens) + 1, block_size)
    return [hashlib.md5(repr((extras, tokens[:end])).encode()).hexdigest() for end in ends]
