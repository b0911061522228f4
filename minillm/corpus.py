"""The text that the default model learns from: written by rules, seeded, endless.

Six kinds of document. Five are tasks with exactly one right answer (recall, copy, sort, add,
code), of different difficulty on purpose: they show what a change to the model breaks. The sixth
are short tales in English and Korean (minillm/tales.py). Whether an item belongs to training or to
the test is decided by a hash of its prompt, so the two can never overlap.
"""

from __future__ import annotations

import random
import zlib
from collections.abc import Iterator
from dataclasses import dataclass

from minillm import tales

TEST_SHARE = 16  # one prompt in 16 is kept for tests
BOX_NAMES = (
    "red blue green white black pink gold gray brown silver orange violet round square small large "
    "left right top low old new soft loud"
).split()
BOX_THINGS = (
    "key hat coin ring book cup lamp rope seed shell bell drum nail pen fork sock rose leaf egg "
    "nut star stamp brush glove"
).split()
MAX_VALUE = 30  # of a variable in a program
LETTERS = "abcdefghijklmnopqrstuvwxyz"


@dataclass(frozen=True)
class Item:
    """One document: the model is asked `prompt` and is right if it writes `answer`."""

    task: str
    prompt: str  # "" for tales
    answer: str  # the whole text for tales


def recall(rng: random.Random) -> tuple[str, str]:
    """Find a thing by its box: `boxes: red key, blue hat; open blue` -> ` hat`.

    The value stands right behind the name, so two layers can find it (the "induction heads" of
    Olsson et al. 2022). With `red=482` a first trial only guessed.
    """
    names = rng.sample(BOX_NAMES, rng.randint(2, 8))
    values = rng.sample(BOX_THINGS, len(names))
    wanted = rng.randrange(len(names))
    listing = ", ".join(f"{n} {v}" for n, v in zip(names, values))
    return f"boxes: {listing}; open {names[wanted]}", f" {values[wanted]}"


def copy(rng: random.Random) -> tuple[str, str]:
    """Write the same 3 to 10 letters again: `copy: k d o =` -> ` k d o`."""
    letters = "".join(f" {rng.choice(LETTERS)}" for _ in range(rng.randint(3, 10)))
    return f"copy:{letters} =", letters


def sort(rng: random.Random) -> tuple[str, str]:
    """Put 4 to 7 digits in order: `sort: 5291=` -> `1259`."""
    digits = [rng.choice("0123456789") for _ in range(rng.randint(4, 7))]
    return f"sort: {''.join(digits)}=", "".join(sorted(digits))


def add(rng: random.Random) -> tuple[str, str]:
    """Three-digit addition: `add: 347+589=` -> `936`."""
    a, b = rng.randint(100, 999), rng.randint(100, 999)
    return f"add: {a}+{b}=", str(a + b)


def code(rng: random.Random) -> tuple[str, str]:
    """Run a small program: `code: a=3; b=a+4; print b=` -> `7`. Values stay in 0..MAX_VALUE."""
    program, values = _program(rng)
    names = list(values)
    shown = names[-1] if rng.random() < 0.7 else rng.choice(names)
    return f"code: {program}; print {shown}=", str(values[shown])


def _program(rng: random.Random) -> tuple[str, dict[str, int]]:
    """-> ("a=3; b=a+4", {"a": 3, "b": 7})."""
    values, lines = {}, []
    for name in "abcd"[: rng.choice((2, 2, 3, 3, 3, 4))]:
        text, value = _statement(rng, values)
        values[name] = value
        lines.append(f"{name}={text}")
    return "; ".join(lines), values


def _statement(rng: random.Random, values: dict[str, int]) -> tuple[str, int]:
    if not values:
        value = rng.randint(1, 20)
        return str(value), value
    while True:
        name = rng.choice(list(values)[-2:])
        kind = rng.choice("++--*v")
        if kind == "v":
            other = rng.choice(list(values))
            text, value = f"{name}+{other}", values[name] + values[other]
        elif kind == "*":
            text, value = f"{name}*2", values[name] * 2
        else:
            step = rng.randint(1, 9)
            text = f"{name}{kind}{step}"
            value = values[name] + (step if kind == "+" else -step)
        if 0 <= value <= MAX_VALUE:
            return text, value


def follow(rng: random.Random) -> tuple[str, str]:
    """Go on with a list from one of its letters: `list: k d o p r; from d` -> ` o p r`.

    Only for training: many answers a document teach the looking-up that recall needs.
    """
    letters = rng.sample(LETTERS, rng.randint(4, 14))
    start = rng.randrange(len(letters) - 1)
    listing = " ".join(letters)
    rest = "".join(f" {x}" for x in letters[start + 1 :])
    return f"list: {listing}; from {letters[start]}", rest


def runs(rng: random.Random) -> tuple[str, str]:
    """Run a program and print every variable: `runs: a=3; b=a+4; print b=` -> `7; print a=3`.

    Only for training: each variable is asked once, in any order, so a document teaches several
    intermediate values where `code` teaches one.
    """
    program, values = _program(rng)
    first, *others = rng.sample(list(values), len(values))
    rest = "".join(f"; print {name}={values[name]}" for name in others)
    return f"runs: {program}; print {first}=", f"{values[first]}{rest}"


TASKS = {"recall": recall, "copy": copy, "sort": sort, "add": add, "code": code}
HELP = {"follow": follow, "runs": runs}  # only for training, never tested
# Share of documents, not of tokens: a tale is about five times as long as a task.
MIXTURE = {
    "recall": 16, "copy": 8, "sort": 12, "add": 19, "code": 22, "runs": 11, "follow": 7, "tales": 5,
}  # fmt: skip


def is_test(key: str) -> bool:
    """Whether the item with this prompt (tales: this title) is kept for tests."""
    return zlib.crc32(key.encode()) % TEST_SHARE == 0


def draw(task: str, rng: random.Random, test: bool = False) -> Item:
    """One item of a task (or of "tales"), from the training or the test side."""
    while True:
        if task == "tales":
            title, text = tales.tale(rng)
            prompt, answer, key = "", text, title
        else:
            prompt, answer = (TASKS | HELP)[task](rng)
            key = prompt
        if is_test(key) == test:
            return Item(task, prompt, answer)


def test_items(task: str, count: int, seed: int = 0) -> list[Item]:
    """`count` different unseen items, the same ones for the same seed."""
    rng, found = random.Random(f"test {task} {seed}"), {}
    while len(found) < count:
        item = draw(task, rng, test=True)
        found[item.prompt or item.answer] = item
    return list(found.values())


def training_items(seed) -> Iterator[Item]:
    """An endless stream of training documents in the proportions of MIXTURE."""
    rng = random.Random(f"train {seed}")
    names, weights = list(MIXTURE), list(MIXTURE.values())
    while True:
        yield draw(rng.choices(names, weights)[0], rng)
