"""Other right answers of 3.6: rounded, and counted by Python."""

KEYS = ("tiny_english", "tiny_korean", "gemma_english", "gemma_korean")


def whole_tokens(**case):
    return {key: round(len(case[key.split("_")[1]].encode()) / case[key]) for key in KEYS}


def a_tenth_more(**case):
    return {key: 1.1 * len(case[key.split("_")[1]].encode()) / case[key] for key in KEYS}
