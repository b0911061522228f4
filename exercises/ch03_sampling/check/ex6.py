"""Check of 3.6: the rule bytes / bytes a token; Gemma's facts are recorded, tiny's counted."""

from exercises.ch03_sampling import sentences
from exercises.grading.spec import Exercise

EXERCISE = Exercise(
    id="3.6", title="Tokens in English and in Korean", kind="predict", entry="answer",
    minutes=10, difficulty=2, evening=True, torch=False,
    hints=(
        "A word of 4 Korean syllables: how many bytes is it? If one token holds 1.5 bytes of "
        "such text, how many tokens is the word?",
        "tokens = bytes / (bytes a token). bytes in English = number of characters; bytes in "
        "Korean = 3 x syllables + 1 x (spaces, full stop).",
        "For ANOTHER pair: 41 letters in English; 16 syllables and 5 other characters in Korean; "
        "tiny: 2.1 and 1.6 bytes a token. Put your own numbers in:\n"
        'answer = {"tiny_english": 41 / 2.1, "tiny_korean": (____ * 16 + 5) / 1.6, ...}',
    ),
)  # fmt: skip


def make(rng):
    english, korean = rng.choice(sentences.PAIRS[: sentences.ASKED])
    syllables = sum("가" <= letter <= "힣" for letter in korean)
    case = {"english": english, "korean": korean}
    for name, counts in ("tiny", sentences.tiny_counts), ("gemma", sentences.gemma_counts):
        for language in ("english", "korean"):
            fact = sentences.bytes_per_token(language, counts(language))
            case[f"{name}_{language}"] = round(fact, 1)
    return case | {"syllables": syllables, "plain": len(korean) - syllables}
