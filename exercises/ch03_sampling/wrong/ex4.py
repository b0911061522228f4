"""Named wrong answers of 3.4."""

import codecs


def token_by_token(held, new):
    """decoding each token by itself: half characters are shown as U+FFFD"""
    return new.decode("utf-8", "replace"), b""


def ignores_errors(held, new):
    """errors='ignore': half characters disappear"""
    return new.decode("utf-8", "ignore"), b""


def all_or_nothing(held, new):
    """keeping everything until all of it decodes: whole characters come late"""
    try:
        return (held + new).decode("utf-8"), b""
    except UnicodeDecodeError:
        return "", held + new


def forgets_held(held, new):
    """using the held bytes nowhere"""
    decoder = codecs.getincrementaldecoder("utf-8")("replace")
    return decoder.decode(new), decoder.getstate()[0]


def last_three_kept(held, new):
    """always keeping the last three bytes: right text, but late"""
    data = held + new
    cut = max(0, len(data) - 3)
    while cut < len(data) and 0x80 <= data[cut] < 0xC0:
        cut += 1
    return data[:cut].decode("utf-8", "replace"), data[cut:]


def three_bytes_each(held, new):
    """taking every character of more than one byte for three bytes long"""
    data = held + new
    cut = len(data)
    for back in range(1, min(2, len(data)) + 1):
        if data[-back] < 0x80:
            break
        if data[-back] >= 0xC0:
            cut = len(data) - back
            break
    return data[:cut].decode("utf-8", "replace"), data[cut:]


def repeats(held, new):
    """showing the half character now, and the whole one again later"""
    decoder = codecs.getincrementaldecoder("utf-8")("replace")
    decoder.decode(held + new)
    return (held + new).decode("utf-8", "replace"), decoder.getstate()[0]
