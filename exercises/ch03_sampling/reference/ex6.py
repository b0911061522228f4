"""Reference of 3.6: tokens = bytes / bytes a token."""


def answer(
    english, korean, tiny_english, tiny_korean, gemma_english, gemma_korean, syllables, plain
):
    english_bytes, korean_bytes = len(english), 3 * syllables + plain
    return {
        "tiny_english": english_bytes / tiny_english,
        "tiny_korean": korean_bytes / tiny_korean,
        "gemma_english": english_bytes / gemma_english,
        "gemma_korean": korean_bytes / gemma_korean,
    }
