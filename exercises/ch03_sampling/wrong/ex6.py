"""Named misconceptions of 3.6."""

KEYS = ("tiny_english", "tiny_korean", "gemma_english", "gemma_korean")


def _divide(english_bytes, korean_bytes, case):
    sizes = {"english": english_bytes, "korean": korean_bytes}
    return {key: sizes[key.split("_")[1]] / case[key] for key in KEYS}


def characters_not_bytes(**case):
    """one byte for each character, in Korean too"""
    return _divide(len(case["english"]), len(case["korean"]), case)


def two_bytes_each(**case):
    """two bytes for each character, as in UTF-16"""
    return _divide(2 * len(case["english"]), 2 * len(case["korean"]), case)


def token_a_word(**case):
    """one token a word"""
    return {key: len(case[key.split("_")[1]].split()) for key in KEYS}


def token_a_character(**case):
    """one token a character"""
    return {key: len(case[key.split("_")[1]]) for key in KEYS}


def token_a_byte(**case):
    """one token a byte"""
    return {key: len(case[key.split("_")[1]].encode()) for key in KEYS}


def korean_like_english(**case):
    """as many tokens in Korean as in English, since it says the same"""
    right = _divide(len(case["english"]), len(case["english"]), case)
    return right | {f"{name}_korean": right[f"{name}_english"] for name in ("tiny", "gemma")}
