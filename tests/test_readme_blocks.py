"""What the README shows of the default model is what the default model does."""

import re
from pathlib import Path

import pytest

import minillm
from minillm import corpus

PAGE = (Path(__file__).resolve().parents[1] / "README.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```python\n(.*?)^```$", PAGE, re.M | re.S)
ASKED = dict(re.findall(r'minillm generate .*?--prompt "(\w+: [^"]*)" +# (.+)$', PAGE, re.M))
TASKS = dict(re.findall(r"^- `((?:add|sort|copy|boxes|code): [^`]*)`: (.*)[,.]$", PAGE, re.M))
RIGHT = {"add": "936", "sort": "1259", "copy": " k d o", "boxes": " cup", "code": "8"}


@pytest.mark.parametrize("number", range(len(BLOCKS)))
def test_a_block_of_python_prints_what_its_last_comments_say(number, capsys):
    exec(compile(BLOCKS[number], f"README.md, block {number}", "exec"), {})
    printed = capsys.readouterr().out
    said = re.search(r"((?:^# .*\n)*)\Z", BLOCKS[number], re.M)[1]
    if said:
        assert printed == re.sub("^# ", "", said, flags=re.M)
    else:  # drawn at a temperature: another text on another machine
        assert printed.startswith("Once upon a time") and len(printed) > 40


def test_both_blocks_and_one_answer_are_found():
    assert len(BLOCKS) == 2 and "# 936 stop" in BLOCKS[1]
    assert set(TASKS) and [key.partition(":")[0] for key in TASKS] == list(RIGHT)


def test_prompts_have_the_answers_shown():
    model, tokenizer = minillm.load("tiny", device="cpu")
    params = minillm.SamplingParams(max_tokens=20)

    def written(prompt):
        return tokenizer.decode(minillm.generate(model, tokenizer.encode(prompt), params))

    assert len(ASKED) == 2
    assert {prompt: written(prompt) for prompt in ASKED} == ASKED
    assert {prompt.partition(":")[0]: written(prompt) for prompt in TASKS} == RIGHT


@pytest.mark.parametrize("task, what, words", [
    ("add", r"\d+", "two numbers of three digits each"),
    ("sort", r"\d", "4 to 7 digits"),
    ("copy", r" \w\b", "3 to 10 letters"),
    ("recall", r",|;", "2 to 8 boxes (`recall` in the tables)"),
])  # fmt: skip
def test_the_ranges_are_those_of_the_training_text(task, what, words):
    prompts = [item.prompt for item in corpus.test_items(task, count=400, seed=3)]
    found = [re.findall(what, prompt) for prompt in prompts]
    if task == "add":
        counts = {len(number) for numbers in found for number in numbers}
        assert counts == {3} and {len(numbers) for numbers in found} == {2}
    else:
        counts = {len(parts) for parts in found}
        assert (min(counts), max(counts)) == tuple(map(int, re.findall(r"\d+", words)))
    name = {"recall": "boxes"}.get(task, task)
    assert words in [said for prompt, said in TASKS.items() if prompt.startswith(name)]
