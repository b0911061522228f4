"""Reference of 3.5."""


def pass_on(held, new, stop):
    text = held + new
    if stop in text:
        return text[: text.index(stop)], "", True
    for size in range(min(len(stop) - 1, len(text)), 0, -1):  # the longest beginning first
        if text.endswith(stop[:size]):
            return text[:-size], text[-size:], False
    return text, "", False
