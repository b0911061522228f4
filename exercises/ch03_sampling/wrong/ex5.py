"""Named wrong answers of 3.5."""

import re


def _keep(text, sizes, stop):
    for size in sizes:
        if 0 < size <= len(text) and text.endswith(stop[:size]):
            return text[:-size], text[-size:], False
    return text, "", False


def one_piece_only(held, new, stop):
    """looking for the stop string inside each piece alone"""
    if stop in new:
        return held + new[: new.index(stop)], "", True
    return held + new, "", False


def shows_the_stop(held, new, stop):
    """showing the stop string too"""
    text = held + new
    if stop in text:
        return text[: text.index(stop) + len(stop)], "", True
    return _keep(text, range(len(stop) - 1, 0, -1), stop)


def keeps_too_much(held, new, stop):
    """always keeping back len(stop) - 1 characters: right text, but late"""
    text = held + new
    if stop in text:
        return text[: text.index(stop)], "", True
    cut = max(0, len(text) - len(stop) + 1)
    return text[:cut], text[cut:], False


def shortest_beginning(held, new, stop):
    """keeping back the shortest possible beginning, not the longest"""
    text = held + new
    if stop in text:
        return text[: text.index(stop)], "", True
    return _keep(text, range(1, len(stop)), stop)


def stop_must_be_last(held, new, stop):
    """finding the stop string only at the very end of a piece"""
    text = held + new
    if text.endswith(stop):
        return text[: -len(stop)], "", True
    return _keep(text, range(len(stop) - 1, 0, -1), stop)


def whole_text_begins(held, new, stop):
    """keeping back only if ALL of the text is a beginning of the stop string"""
    text = held + new
    if stop in text:
        return text[: text.index(stop)], "", True
    return ("", text, False) if stop.startswith(text) else (text, "", False)


def last_occurrence(held, new, stop):
    """ending at the last stop string of a piece, not at the first"""
    text = held + new
    if stop in text:
        return text[: text.rindex(stop)], "", True
    return _keep(text, range(len(stop) - 1, 0, -1), stop)


def stop_as_a_pattern(held, new, stop):
    """the stop string taken for a regular expression, where . is any character"""
    text = held + new
    found = re.search(stop, text)
    if found:
        return text[: found.start()], "", True
    size = _beginning(text, stop)
    return text[: len(text) - size], text[len(text) - size :], False


def trims_the_end(held, new, stop):
    """white space cut off before the stop string"""
    text = held + new
    if stop in text:
        return text[: text.index(stop)].rstrip(), "", True
    size = _beginning(text, stop)
    return text[: len(text) - size], text[len(text) - size :], False


def _beginning(text, stop):
    """Letters at the end of the text that may begin the stop string."""
    sizes = range(min(len(stop) - 1, len(text)), 0, -1)
    return next((size for size in sizes if text.endswith(stop[:size])), 0)
