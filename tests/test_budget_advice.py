"""The decision table: its rows apply where they should, and name chapters that exist."""

import pytest

from minillm.budget import Question, plan
from minillm.budget_advice import NOTEBOOKS, chapter_file, decision_table
from minillm.budget_devices import find_gpu
from minillm.budget_models import find_model


def rows_of(question: Question) -> dict[str, str]:
    return {row.situation: row.here for row in decision_table(plan(question))}


def test_every_row_names_chapters_that_exist():
    table = decision_table(plan(Question(find_model("tiny"), find_gpu("H100"))))
    assert len(table) == 9
    for row in table:
        assert row.chapters and row.said and row.better
        for chapter in row.chapters:
            if int(chapter) <= 11:  # the chapters that were there when this was written
                assert (NOTEBOOKS.parent / chapter_file(chapter)).is_file()
    assert chapter_file("99") == "chapter 99"


@pytest.mark.parametrize(
    "situation, yes, no",
    [
        ("Memory is short", dict(name="llama-3-70b"), dict(name="tiny")),
        ("Long contexts and answers", dict(name="llama-2-7b", requests=8),
         dict(name="llama-2-7b", requests=1, context=128)),
        ("Many requests at the same time", dict(name="tiny"), dict(name="tiny", requests=1)),
        ("Answers in real time", dict(name="llama-2-7b", requests=1000), dict(name="tiny")),
        ("The model itself should be smaller", dict(name="llama-3-70b"), dict(name="tiny")),
        ("A laptop or a phone", dict(name="tiny", gpu="phone"), dict(name="tiny")),
        ("Own device or somebody's API", dict(name="tiny", price_per_hour=1.0), dict(name="tiny")),
    ],
)  # fmt: skip
def test_rows_apply_where_they_should(situation, yes, no):
    def here(name, gpu="H100", **options):
        return rows_of(Question(find_model(name), find_gpu(gpu), **options))[situation]

    assert here(**yes) and not here(**no)
