"""The default model does what its card says, and the quick judge equals real writing."""

import re

import pytest
import torch

import minillm
from minillm import corpus, load
from minillm.card import TARGETS
from minillm.compress import evaluate
from minillm.load import TINY

CARD = (TINY / "README.md").read_text(encoding="utf-8")
ON_CARD = {task: float(a) for task, a in re.findall(r"^\| (\w+) \| ([\d.]+) \|", CARD, re.M)}


@pytest.fixture(scope="module")
def tiny():
    return load("tiny", dtype="fp32", device="cpu")


def test_the_card_has_every_task_its_target_and_the_command():
    assert set(ON_CARD) == set(corpus.TASKS) == set(TARGETS)
    assert "python -m minillm.train" in CARD
    for task, target in TARGETS.items():
        assert f"| {task} | {ON_CARD[task]:.3f} | {target:.2f} |" in CARD


def test_accuracy_is_that_of_the_card(tiny):
    """300 items of the card's 1,000: within four standard deviations of that draw."""
    count = 300
    measured = evaluate.tasks(*tiny, count=count)
    for task, share in ON_CARD.items():
        allowed = 4 * (max(share * (1 - share), 1 / count) / count) ** 0.5
        assert abs(measured[task] - share) <= allowed, (task, measured[task], share)


def test_the_quick_judge_equals_real_writing(tiny):
    model, tokenizer = tiny
    params = minillm.SamplingParams(max_tokens=24)
    seen = []
    for task in corpus.TASKS:
        for item in corpus.test_items(task, 15, seed=5):
            tokens = minillm.generate(model, tokenizer.encode(item.prompt), params)
            written = tokenizer.decode(tokens)
            right = evaluate._is_right(model, tokenizer, item)
            assert right == (written == item.answer), (item, written)
            seen.append(right)
    assert True in seen


def test_size_and_shape(tiny):
    model, tokenizer = tiny
    c = model.config
    assert model.num_parameters() <= 10_000_000
    assert (TINY / "model.safetensors").stat().st_size <= 20_000_000
    assert all(size % 128 == 0 for size in (c.width, c.mlp_width, c.num_heads * c.head_size))
    assert c.vocab_size % 16 == 0 and c.max_len >= 1024 and tokenizer.vocab_size == c.vocab_size


def test_tales_read_better_than_chance_also_at_the_end_of_the_context(tiny):
    """A text of many tales fills the whole context: late tokens must not be worse than early."""
    model, tokenizer = tiny
    texts = [i.answer for i in corpus.test_items("tales", 60, seed=2)]
    tokens = [t for text in texts for t in tokenizer.encode(text)][:1024]
    logits = model(torch.tensor(tokens))
    nll = torch.nn.functional.cross_entropy(logits[:-1], torch.tensor(tokens[1:]), reduction="none")
    assert nll[256:].mean() < nll[:256].mean() * 1.2
    assert nll.mean() < 1.5


@pytest.mark.parametrize("prompt", ["Once upon a time", "옛날 옛적에"])
def test_it_writes_whole_tales_in_both_languages(tiny, prompt):
    model, tokenizer = tiny
    params = minillm.SamplingParams(max_tokens=160, temperature=0.7, seed=3)
    text = "".join(minillm.stream_text(model, tokenizer, prompt, params))
    assert text.endswith((".", '."')) and "\ufffd" not in text and len(text) > 40
    assert bool(re.search("[가-힣]", text)) == (prompt[0] == "옛")
