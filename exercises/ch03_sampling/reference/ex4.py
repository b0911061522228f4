"""Reference of 3.4."""


def take_text(held, new):
    data = held + new
    cut = len(data)
    for back in range(1, min(3, len(data)) + 1):  # a beginning has at most 3 bytes
        byte = data[-back]
        if byte < 0x80:
            break
        if byte >= 0xC0:
            length = 2 if byte < 0xE0 else 3 if byte < 0xF0 else 4
            cut = len(data) - back if back < length else cut
            break
    return data[:cut].decode("utf-8", "replace"), data[cut:]
