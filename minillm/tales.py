"""Short tales from templates, in English and Korean: what the default model writes for people.

A tale is drawn from a title (hero, animal, place, thing, plot); the same title can be told in
several ways. Sentences are kept plain, so that a small model can learn to write them well.
"""

from __future__ import annotations

import random

NAMES = "Mina Tom Lily Ben Sara Max Nora Leo Anna Sam Ruby Finn".split()
ANIMALS = "fox rabbit bear mouse bird cat dog frog duck turtle".split()
PLACES = ["forest", "garden", "village", "river", "hill", "lake", "farm", "beach"]
THINGS = ["red ball", "little boat", "golden key", "warm hat", "blue kite", "tiny map"]
THINGS += ["sweet cake", "shiny stone"]
WEATHER = ["sunny", "rainy", "windy", "snowy", "quiet", "bright"]
PLOTS = ("lost", "share", "storm", "brave")

KO_NAMES = "미나 준호 하늘 보라 지우 민수 수아 도윤".split()
KO_ANIMALS = "여우 토끼 곰 고양이 강아지 거북이 다람쥐 오리".split()
KO_PLACES = "숲 강 언덕 마을 호수 바닷가".split()
KO_THINGS = ["빨간 공", "작은 배", "금색 열쇠", "따뜻한 모자", "파란 연", "맛있는 떡"]
KO_PLOTS = ("잃음", "나눔")


def tale(rng: random.Random) -> tuple[str, str]:
    """One tale -> (title, text). The title decides on which side of the test split it falls."""
    return _korean(rng) if rng.random() < 0.3 else _english(rng)


def _english(rng: random.Random) -> tuple[str, str]:
    pick = rng.choice
    name, friend = rng.sample(NAMES, 2)
    animal, other = rng.sample(ANIMALS, 2)
    place, thing, plot, sky = pick(PLACES), pick(THINGS), pick(PLOTS), pick(WEATHER)
    opening = pick((
        f"Once upon a time there was a {animal} named {name}.",
        f"There once was a little {animal} called {name}.",
        f"{name} was a small {animal} who lived near the {place}.",
    ))  # fmt: skip
    setting = pick((
        f"One {sky} day, {name} went to the {place}.",
        f"It was a {sky} morning, and {name} walked to the {place}.",
    ))  # fmt: skip
    middle = {"lost": _lost, "share": _share, "storm": _storm, "brave": _brave}[plot](
        pick, name, friend, other, place, thing
    )
    ending = pick((
        f"From that day on, {name} and {friend} were good friends.",
        f"{name} was very happy and said thank you.",
        "They played together until the sun went down.",
        f"That night, {name} slept well and had a good dream.",
    ))  # fmt: skip
    title = f"{plot}/{name}/{animal}/{place}/{thing}"
    return title, " ".join((opening, setting, *middle, ending))


def _lost(pick, name, friend, other, place, thing) -> tuple[str, ...]:
    return (
        pick((f"{name} had a {thing}, but now it was gone.",
              f"On the way, {name} lost a {thing}.")),
        pick((f"{name} looked under the trees and behind the stones.",
              f"{name} felt sad and began to cry.")),
        f"Then a {other} named {friend} came by.",
        pick((f'"I can help you," said {friend}.', f'"Do not be sad," said {friend}.')),
        pick((f"They looked all day, and at last they found the {thing}.",
              f"{friend} found the {thing} near the {place}.")),
    )  # fmt: skip


def _share(pick, name, friend, other, place, thing) -> tuple[str, ...]:
    return (
        f"There {name} found a {thing}.",
        f"A {other} named {friend} saw the {thing} too.",
        pick((f'"May I see it?" asked {friend}.', f'"I have never had a {thing}," said {friend}.')),
        pick((f"At first, {name} did not want to share.", f"{name} thought for a while.")),
        pick((f'Then {name} said, "We can share it."',
              f"Then {name} smiled and gave the {thing} to {friend}.")),
    )  # fmt: skip


def _storm(pick, name, friend, other, place, thing) -> tuple[str, ...]:
    return (
        pick(("Soon the sky became dark, and a big storm came.",
              "Suddenly it began to rain hard.")),
        pick((f"{name} was cold and wet.", f"{name} was afraid of the loud wind.")),
        f"A kind {other} named {friend} opened the door of a small house.",
        pick((f'"Come in," said {friend}.', f'"You can stay with me," said {friend}.')),
        pick((f"They sat by the fire, and {friend} showed {name} a {thing}.",
              f"{friend} gave {name} some hot soup and a {thing}.")),
    )  # fmt: skip


def _brave(pick, name, friend, other, place, thing) -> tuple[str, ...]:
    return (
        f"There {name} heard a voice. It was a {other} named {friend}.",
        pick((f"{friend} was stuck in a deep hole.", f"{friend} could not cross the water.")),
        pick((f"{name} was small, but {name} was brave.", f"{name} was afraid, but did not run.")),
        pick((f"{name} found a long rope and pulled as hard as possible.",
              f"{name} took a long branch and held it out.")),
        pick((f"Soon {friend} was safe. {friend} gave {name} a {thing}.",
              f'"You saved me," said {friend}, and gave {name} a {thing}.')),
    )  # fmt: skip


def josa(word: str, with_final: str, without_final: str) -> str:
    """The word with the Korean particle that its last syllable asks for."""
    has_final = (ord(word[-1]) - 0xAC00) % 28 != 0
    return word + (with_final if has_final else without_final)


def _korean(rng: random.Random) -> tuple[str, str]:
    pick = rng.choice
    name, friend = rng.sample(KO_NAMES, 2)
    animal, other = rng.sample(KO_ANIMALS, 2)
    place, thing, plot = pick(KO_PLACES), pick(KO_THINGS), pick(KO_PLOTS)
    opening = pick((
        f"옛날 옛적에 {josa(name, '이라는', '라는')} {josa(animal, '이', '가')} 살았어요.",
        f"{place} 근처에 작은 {animal} {josa(name, '이', '가')} 살았어요.",
    ))  # fmt: skip
    if plot == "잃음":
        middle = (
            f"어느 날 {josa(name, '은', '는')} {place}에서 {josa(thing, '을', '를')} 잃어버렸어요.",
            pick((f"{josa(name, '은', '는')} 슬퍼서 울었어요.", "아무리 찾아도 보이지 않았어요.")),
            f"그때 {other} {josa(friend, '이', '가')} 다가왔어요.",
            pick(('"내가 도와줄게." 하고 말했어요.', '"울지 마." 하고 말했어요.')),
            f"둘은 함께 {josa(thing, '을', '를')} 찾았어요.",
        )
    else:
        middle = (
            f"어느 날 {josa(name, '은', '는')} {place}에서 {josa(thing, '을', '를')} 주웠어요.",
            f"그때 {other} {josa(friend, '이', '가')} 다가왔어요.",
            pick(('"나도 갖고 싶어." 하고 말했어요.', '"정말 예쁘다." 하고 말했어요.')),
            f"{josa(name, '은', '는')} {friend}에게 {josa(thing, '을', '를')} 주었어요.",
        )
    ending = pick((
        f"{josa(name, '과', '와')} {josa(friend, '은', '는')} 좋은 친구가 되었어요.",
        "둘은 해가 질 때까지 함께 놀았어요.",
        f"{josa(name, '은', '는')} 아주 행복했어요.",
    ))  # fmt: skip
    title = f"{plot}/{name}/{animal}/{place}/{thing}"
    return title, " ".join((opening, *middle, ending))
