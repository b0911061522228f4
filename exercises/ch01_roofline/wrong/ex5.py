"""Named wrong answers of 1.5."""


def slow_memory():
    """blaming the memory: small matrices sit in the cache"""
    return "memory"


def long_past():
    """blaming attention: a few earlier tokens are a few KB"""
    return "attention"


def large_head():
    """blaming the head: the largest matrix, but a small share of the bytes"""
    return "head"


def slow_arithmetic():
    """blaming arithmetic: 2 FLOPs a weight are little"""
    return "arithmetic"


def text_work():
    """blaming the tokenizer: a step has no text in it"""
    return "tokenizer"
