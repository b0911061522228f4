"""Exercise 3.4: show text while it is written, and never half a character.

A token is some bytes. In UTF-8 a character takes 1 to 4 bytes, and a token may end inside one. Its
first byte says how long it is:

    0x00-0x7F: 1 byte      0xC2-0xDF: 2      0xE0-0xEF: 3      0xF0-0xF4: 4
    0x80-0xBF: never first; these bytes come second, third and fourth

`held` are the bytes kept back so far, `new` those of the next token. Return the text that is final
now, and the bytes to keep: the beginning of a character that is not complete yet, else b"".
Keep back as little as possible. Bytes that can no longer become a character must not be kept:
`data.decode("utf-8", "replace")` shows them as U+FFFD.

Names for `trace`: data is held + new, cut is how many bytes of it are final.
"""


def take_text(held: bytes, new: bytes) -> tuple[str, bytes]:
    """Returns (text that is final, bytes to keep)."""
    raise NotImplementedError("Exercise 3.4: decode whole characters, keep the beginning of one")
