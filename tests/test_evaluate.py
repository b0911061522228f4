"""Perplexity against closed forms, and task accuracy against really generating the answers."""

from __future__ import annotations

import math
import random
from types import SimpleNamespace

import pytest
import torch
import zoo

from minillm import corpus
from minillm.compress import evaluate
from minillm.generate import generate
from minillm.sampling import SamplingParams

CONFIG = zoo.config_of("llama 5:1")


class Fake:
    """A model given as a table of log-probabilities of the next token after each token."""

    def __init__(self, table_VV, max_len=64):
        self.config = SimpleNamespace(max_len=max_len, windows=(None,), attention_scale=1.0)
        self.embedding = SimpleNamespace(weight=torch.zeros(1))
        self.table_VV, self.windows_seen, self.rows_seen = table_VV, [], []

    def __call__(self, tokens_T, memory, rows):
        assert memory.length == 0
        self.windows_seen.append(tokens_T.tolist())
        self.rows_seen += tokens_T[rows].tolist()
        return self.table_VV[tokens_T[rows]]


def bigrams(seed=0, size=7):
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(size, size, generator=generator, dtype=torch.float64).log_softmax(-1) * 3


@pytest.mark.parametrize("size", [2, 7, 1000])
@pytest.mark.parametrize("length", [2, 8, 9, 100])
def test_a_uniform_model_has_the_perplexity_of_its_vocabulary(size, length):
    model = Fake(torch.zeros(size, size))
    text = [t % size for t in range(length)]
    assert evaluate.perplexity(model, text, window=8) == pytest.approx(size, rel=1e-6)


@pytest.mark.parametrize("window, stride", [(2, 1), (8, 8), (8, 7), (50, 3), (None, None), (7, 3)])
@pytest.mark.parametrize("length", [2, 8, 9, 57])
def test_a_leading_token_is_seen_by_every_window_and_never_scored(length, window, stride):
    """The bigram model again: with `bos` the first token counts, and windows need not overlap."""
    logits_VV = bigrams()
    text = torch.randint(0, 7, (length,), generator=torch.Generator().manual_seed(length)).tolist()
    logs_VV = logits_VV.log_softmax(-1)
    model = Fake(logits_VV)
    got = evaluate.perplexity(model, text, window, stride, bos=5)
    assert all(seen[0] == 5 for seen in model.windows_seen)
    fresh = range(0, length, stride) if stride and stride == window else [0]  # right behind it
    before = [5 if i in fresh else text[i - 1] for i in range(length)]
    total = math.fsum(-float(logs_VV[a, b]) for a, b in zip(before, text))
    assert got == pytest.approx(math.exp(total / length), rel=1e-12)


@pytest.mark.parametrize("window, stride", [(2, 1), (8, 1), (8, 7), (8, 4), (50, 3), (None, None)])
@pytest.mark.parametrize("length", [2, 3, 8, 9, 10, 57])
def test_a_bigram_model_has_its_closed_form(length, window, stride):
    """Total over count: the mean of the windows' means would be another number."""
    logits_VV = bigrams()
    text = torch.randint(0, 7, (length,), generator=torch.Generator().manual_seed(length)).tolist()
    logs_VV = logits_VV.log_softmax(-1)
    total = math.fsum(-float(logs_VV[a, b]) for a, b in zip(text, text[1:]))
    got = evaluate.perplexity(Fake(logits_VV), text, window, stride)
    assert got == pytest.approx(math.exp(total / (length - 1)), rel=1e-12)


@pytest.mark.parametrize("window", [2, 3, 8, 31, 64])
def test_every_token_is_scored_once_from_windows_of_the_text_itself(window):
    for length in (2, window, window + 1, window + 2, 2 * window + 1, 60):
        for stride in {1, window // 2, window - 1} - {0}:
            text = list(range(max(length, 2)))
            model = Fake(torch.zeros(len(text), len(text)))
            evaluate.perplexity(model, text, window, stride)
            assert model.rows_seen == text[:-1]  # each predicts its successor, once, in order
            for part in model.windows_seen:  # nothing is put in front of a window
                assert part == text[part[0] : part[0] + len(part)] and len(part) <= window
            assert all(len(part) == window for part in model.windows_seen[:-1])


def test_a_short_last_window_does_not_weigh_more():
    logits_VV = torch.zeros(4, 4)
    logits_VV[2, 3] = -20.0  # the last step is a bad surprise, alone in the last window
    text = [0, 1, 0, 1, 0, 1, 0, 2, 3]
    want = math.exp((7 * math.log(4) + 20 + math.log(3 + math.exp(-20))) / 8)
    assert evaluate.perplexity(Fake(logits_VV), text, 8, 7) == pytest.approx(want, rel=1e-6)


def test_the_stride_does_not_matter_where_the_context_suffices():
    """Two layers with a window of 5 see 9 tokens back: an overlap of 9 changes nothing."""
    model, text = zoo.random_model("mistral window"), zoo.random_tokens(60)
    logs_TV = model(text).log_softmax(-1)
    want = math.exp(-float(logs_TV[torch.arange(59), text[1:]].mean()))
    for window, stride in ((59, 1), (30, 21), (30, 20), (20, 11), (12, 3), (10, 1), (60, 30)):
        got = evaluate.perplexity(model, text.tolist(), window, stride)
        assert got == pytest.approx(want, rel=1e-9)
    assert evaluate.perplexity(model, text, 9, 4) != pytest.approx(want, rel=1e-4)


def test_perplexity_of_a_16_bit_model_is_summed_in_wide_precision():
    model, text = zoo.random_model("qwen2", torch.bfloat16), zoo.random_tokens(64)
    logs_TV = model(text).double().log_softmax(-1)
    want = math.exp(-float(logs_TV[torch.arange(63), text[1:]].mean()))
    assert evaluate.perplexity(model, text, 64) == pytest.approx(want, rel=1e-5)


def test_perplexity_of_an_impossible_text_is_huge_and_of_nan_is_nan():
    logits_VV = torch.zeros(2, 2)
    logits_VV[:, 1] = -math.inf
    assert evaluate.perplexity(Fake(logits_VV), [0, 1, 0]) > 1e300
    assert math.isnan(evaluate.perplexity(Fake(logits_VV * 0), [0, 1, 0]))


@pytest.mark.parametrize("text, window, stride, message", [
    ([], None, None, "2 tokens"), ([3], None, None, "2 tokens"),
    ([1, 2], 1, None, "window"), ([1, 2], 0, None, "window"), ([1, 2], -4, None, "window"),
    ([1, 2], 8, 0, "stride"), ([1, 2], 8, 8, "stride"), ([1, 2], 8, -1, "stride"),
])  # fmt: skip
def test_perplexity_refuses_what_it_cannot_measure(text, window, stride, message):
    with pytest.raises(ValueError, match=message):
        evaluate.perplexity(Fake(torch.zeros(7, 7)), text, window, stride)


@pytest.mark.parametrize("count", [0, -3])
def test_tasks_refuses_to_judge_nothing(count):
    with pytest.raises(ValueError, match="count"):
        evaluate.tasks(None, None, count)


class Letters:
    """A tokenizer whose text IS its ids: one character each; 0 begins a text."""

    def encode(self, text):
        return [0, *(ord(c) - 0x100 for c in text)]


def text_of(tokens):
    return "".join(chr(t + 0x100) for t in tokens)


def items_around(model, ends, count=40):
    """Half hold what the model writes greedily up to its end, the rest come close to it."""
    rng, result = random.Random(0), []
    while len(result) < count:
        prompt = [rng.randrange(1, zoo.VOCAB) for _ in range(rng.randint(1, 6))]
        written = generate(model, [0, *prompt], SamplingParams(max_tokens=12, ignore_eos=True))
        stop = next((i for i, t in enumerate(written) if t in ends), None)
        if not stop:
            continue
        answer = written[:stop]
        change = len(result) % 6
        if change == 1:  # only the first token is wrong, the model would go on like this
            answer = [(answer[0] + 1) % zoo.VOCAB]
            params = SamplingParams(max_tokens=12, stop_token_ids=tuple(ends))
            answer += generate(model, [0, *prompt, *answer], params)
        elif change == 3:
            answer = answer[:-1] or [*answer, 5]  # right so far, but the model would go on
        elif change == 5:
            answer = [*answer, written[stop]]  # right, and then something after the end
        result.append(corpus.Item("copy", text_of(prompt), text_of(answer)))
    return result


@pytest.mark.parametrize("name", ["llama 5:1", "gemma3 biases, untied, 6/2"])
def test_tasks_says_what_generating_would_say(name, monkeypatch):
    import dataclasses

    model, ends = zoo.random_model(name), set(range(40, 70))
    items = items_around(model, ends)
    model.config = dataclasses.replace(model.config, eos_token_ids=tuple(ends))
    tokenizer, want = Letters(), 0
    for item in items:
        prompt, expected = tokenizer.encode(item.prompt), tokenizer.encode(item.answer)[1:]
        params = SamplingParams(max_tokens=len(expected) + 1, ignore_eos=True)
        written = generate(model, prompt, params)
        right = written[:-1] == expected and written[-1] in ends
        assert evaluate._is_right(model, tokenizer, item) == right
        want += right
    assert len(items) // 3 < want < len(items) * 2 // 3, "both outcomes must occur often"
    monkeypatch.setattr(corpus, "test_items", lambda task, count, seed: items[:count])
    got = evaluate.tasks(model, tokenizer, count=len(items))
    assert got == {task: want / len(items) for task in corpus.TASKS}


def test_tasks_shows_progress_and_asks_for_the_seed(monkeypatch):
    asked = []
    monkeypatch.setattr(
        corpus,
        "test_items",
        lambda *a: asked.append(a) or [corpus.Item("x", text_of([5]), text_of([7]))] * a[1],
    )
    seen = lambda names: [n for n in names if asked.append(n) or True]
    evaluate.tasks(zoo.random_model("llama 5:1"), Letters(), 2, seed=9, progress=seen)
    assert asked == [*corpus.TASKS, *((task, 2, 9) for task in corpus.TASKS)]


def test_tale_perplexity_is_the_mean_over_all_tokens_with_their_end(monkeypatch):
    import dataclasses

    model = zoo.random_model("llama 5:1")
    model.config = dataclasses.replace(model.config, eos_token_ids=(7, 9))
    tales = [text_of([5, 3]), text_of([8, 80, 2, 1, 100, 4])]
    items = [corpus.Item("tales", "", t) for t in tales]
    monkeypatch.setattr(corpus, "test_items", lambda *a: items)
    total, count = 0.0, 0
    for text in tales:
        tokens = torch.tensor([*Letters().encode(text), 7])
        logs = model(tokens).log_softmax(-1)[torch.arange(len(tokens) - 1), tokens[1:]]
        total, count = total - float(logs.sum()), count + len(logs)
    got = evaluate.tale_perplexity(model, Letters())
    assert got == pytest.approx(math.exp(total / count), rel=1e-9)


def test_a_tokenizer_that_joins_prompt_and_answer_is_refused():
    class Joined:
        def encode(self, text):
            return [len(text)]  # one token for any text

    with pytest.raises(ValueError, match="joins the end of .* with its answer"):
        evaluate.tasks(None, Joined(), count=1)
