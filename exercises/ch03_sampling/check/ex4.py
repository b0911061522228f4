"""Check of 3.4: texts of 1 to 4 bytes a character, cut into tokens at any byte; and broken ones."""

from exercises.grading.spec import Exercise

EXERCISE = Exercise(
    id="3.4", title="A streaming decoder", kind="code", entry="take_text",
    minutes=20, difficulty=3, torch=False,
    sizes=(
        {"text": "한"}, {"letters": 9}, {"text": "aé🙂"}, {"letters": 40},
        {"letters": 25, "broken": True},
    ),
    hints=(
        "The syllable 한 is the bytes ED 95 9C. After the token ED 95: how many bytes are there, "
        "and how many does the first of them promise?",
        "Look back from the end over at most 3 bytes, to the first byte of the last character. "
        "Keep from there on if it promises more bytes than there are: length > back.",
        "data, cut = held + new, len(held + new)\n"
        "for back in range(1, min(3, len(data)) + 1):\n"
        "    byte = data[-back]\n"
        "    if byte < 0x80: break\n"
        "    if byte >= 0xC0:\n"
        "        length = 2 if byte < 0xE0 else 3 if byte < 0xF0 else 4\n"
        "        if ____: cut = len(data) - back\n"
        "        break\n"
        'return data[:cut].decode("utf-8", "replace"), data[cut:]',
    ),
)  # fmt: skip
LETTERS = "ab .,\n" * 3 + "éßñж" * 2 + "한글은세종이만든" + "日本語€" + "🙂🎉🦊👩🏽"
BROKEN = (b"\xed\x95a", b"\x95", b"\xf0\x9f\x99 ", b"\xc3\xc3", b"\xe2\x82")


def make(rng, letters=0, text="", broken=False):
    if text:  # one byte a token
        return {"tokens": [bytes([byte]) for byte in text.encode()]}
    tokens = []
    parts = [rng.choice(LETTERS).encode() for _ in range(letters)]
    # An emoji after a letter, and an accent at the end of a token, in every case.
    parts[1:3] = [b"a", "🙂".encode(), "é".encode()]
    data = b"".join(parts)
    cut = len(parts[0])
    tokens += [data[:cut], data[cut : cut + 2], data[cut + 2 : cut + 4], data[cut + 4 : cut + 7]]
    data = data[cut + 7 :]
    while data:
        size = rng.choice((1, 1, 2, 3, 4, 7))
        tokens.append(data[:size])
        data = data[size:]
    if broken:  # bytes that never become a character, and an end inside one
        for junk in rng.sample(BROKEN[:-1], 3):
            tokens.insert(rng.randrange(len(tokens)), junk)
        tokens.append(BROKEN[-1])
    return {"tokens": tokens}


def drive(answer, case):
    """-> the text shown after each token, and the bytes that are left at the end."""
    shown, held = [], b""
    for new in case["tokens"]:
        text, held = answer(held, new)
        shown.append(text)
    return {"shown": shown, "left": held}
