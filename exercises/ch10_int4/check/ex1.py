"""Check of 10.1: words from codes, and codes from words that the check packed byte by byte."""

import torch

from exercises.grading import spec
from exercises.grading.judge import Wrong, compare
from exercises.grading.spec import Exercise

EXERCISE = Exercise(
    id="10.1", title="Eight codes in one word", kind="code", entry="Int4Words",
    minutes=25, difficulty=3, evening=True,
    sizes=(
        {"N": 1, "K": 8}, {"N": 2, "K": 16}, {"N": 3, "K": 5}, {"N": 9, "K": 27},
        {"N": 8, "K": 33},
    ),
    hints=(
        "The codes of a row are -8, -7, 0. Which three fields? The word is "
        "field 0 + field 1 * 16 + field 2 * 256: which number?",
        "fields = codes + 8, filled up with zeros to a multiple of 8: [N, W, 8]. "
        "word = sum over i of (field i << 4 i). field i = (word >> 4 i) & 15: without the & 15, "
        "the higher fields stay there, too (and in the highest, the sign of a negative word). "
        "Shift in 32 bits or more: int8 has no room for field 2.",
        "# pack\n"
        "fields_NW8 = F.pad(codes_NK.int() + 8, (0, -K % 8)).view(N, -1, 8)\n"
        "return (fields_NW8 << torch.arange(0, 32, ____)).sum(-1).to(torch.int32)\n"
        "# unpack\n"
        "fields_NW8 = words_NW[:, :, None] >> torch.arange(0, 32, ____) & 15\n"
        "return (fields_NW8.flatten(1)[:, :K] - 8).to(torch.int8)",
    ),
)  # fmt: skip


def make(rng, N, K):
    """Words to unpack hold other codes than those to pack, and rubbish in the unused fields."""
    codes_NK = torch.tensor([[rng.randint(-8, 7) for _ in range(K)] for _ in range(N)])
    codes_NK[0, min(K, 8) - 1] = 7  # of 8 columns or more: a negative word
    words_NW = [
        [
            int.from_bytes(bytes(rng.randrange(256) for _ in range(4)), "little", signed=True)
            for _ in range(-(-K // 8))
        ]
        for _ in range(N)
    ]
    return {
        "codes_NK": codes_NK.to(torch.int8),
        "words_NW": torch.tensor(words_NW, dtype=torch.int32),
    }


def drive(answer, case):
    """Both ways, each from what the check made."""
    codes_NK = case["codes_NK"]
    packer = answer()
    return {
        "pack": packer.pack(codes_NK),
        "unpack": packer.unpack(case["words_NW"], codes_NK.shape[1]),
    }


def judge(case, output):
    """Words in hex: a digit is a field, so one look shows which field is wrong."""
    want = drive(spec.reference("10.1"), case)
    for way in ("pack", "unpack"):
        try:
            compare(output[way], want[way], what=way)
        except Wrong as wrong:
            if wrong.id != "value":
                raise
            words_NW = want["pack"] if way == "pack" else case["words_NW"]
            raise Wrong(wrong.id, _in_hex(way, wrong, words_NW), wrong.index) from None


def _in_hex(way: str, wrong: Wrong, words_NW) -> str:
    row, place = wrong.index
    if way == "pack":
        return (
            f"{wrong.message}. In hex a digit is a field, the first code's is the last digit: "
            f"expected {_hex(wrong.expected)}, got {_hex(wrong.got)}"
        )
    word = int(words_NW[row, place // 8])
    return (
        f"{wrong.message}. The word is {_hex(word)}; field {place % 8}, counted from the last "
        f"digit, is the code {wrong.expected}, got {wrong.got}"
    )


def _hex(word: int) -> str:
    return f"0x{word & 0xFFFFFFFF:08x}"
