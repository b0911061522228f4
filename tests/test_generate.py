"""The plain loop: which tokens it writes, when it ends, and what it refuses."""

from __future__ import annotations

import dataclasses
from types import SimpleNamespace

import pytest
import torch
import zoo

from minillm.bpe import train_tokenizer
from minillm.cache.simple import NoCache, StripCache
from minillm.generate import generate, steps, stream_text
from minillm.sampling import SamplingParams
from minillm.tokenizer import Tokenizer

PROMPT = [5, 80, 3, 110, 0, 41, 7]
# Of Gemma an untied one: a small tied model repeats one token, which would hide faults.
NAMES = (*zoo.ONE_OF_EACH[:4], "gemma3 biases, untied, 6/2")


def naive(model, tokens, count):
    """Argmax over the whole text again and again."""
    tokens = list(tokens)
    for _ in range(count):
        tokens.append(int(model(torch.tensor(tokens), memory=NoCache(model.config))[-1].argmax()))
    return tokens[-count:]


def model_with(name="llama 5:1", **change):
    model = zoo.random_model(name)
    model.config = dataclasses.replace(model.config, **change)
    return model


@pytest.mark.parametrize("name", NAMES)
def test_greedy_equals_the_naive_loop_with_any_memory(name):
    model, params = zoo.random_model(name), SamplingParams(max_tokens=20)
    want = naive(model, PROMPT, 20)
    assert len(set(want)) > 3, "a text that repeats itself would hide faults"
    assert generate(model, PROMPT, params) == want
    assert generate(model, PROMPT, params, NoCache(model.config)) == want
    assert generate(model, PROMPT, params, StripCache.for_model(model, 60)) == want
    assert generate(model, torch.tensor(PROMPT), params) == want


def test_a_sampled_text_is_the_same_with_any_memory():
    model = zoo.random_model(NAMES[4])
    params = SamplingParams(max_tokens=25, temperature=1.0, top_p=0.95, seed=4)
    text = generate(model, PROMPT, params)
    assert generate(model, PROMPT, params, NoCache(model.config)) == text
    assert generate(model, PROMPT, dataclasses.replace(params, seed=5)) != text


@pytest.mark.parametrize("place", [0, 3, 8])
@pytest.mark.parametrize("position", [0, 1, 2])
def test_each_of_several_end_tokens_ends_the_text(place, position):
    free = naive(zoo.random_model("llama 5:1"), PROMPT, 12)
    end = free[place]
    never = [t for t in range(zoo.VOCAB) if t not in free][:2]
    ends = [*never[:position], end, *never[position:]]
    want = free[: free.index(end)]
    model = model_with(eos_token_ids=tuple(ends))
    assert generate(model, PROMPT, SamplingParams(max_tokens=12)) == want
    assert generate(model, PROMPT, SamplingParams(max_tokens=12, ignore_eos=True)) == free
    plain = zoo.random_model("llama 5:1")
    params = SamplingParams(max_tokens=12, stop_token_ids=ends)
    assert generate(plain, PROMPT, params) == want
    both = SamplingParams(max_tokens=12, stop_token_ids=ends, ignore_eos=True)
    assert generate(model, PROMPT, both) == want  # ignore_eos leaves the caller's own ids alone


def test_the_union_of_the_models_and_the_callers_end_tokens_counts():
    free = naive(zoo.random_model("llama 5:1"), PROMPT, 12)
    early, late = sorted({free.index(t) for t in free})[2:4]
    for mine, theirs in ((early, late), (late, early)):
        model = model_with(eos_token_ids=(free[theirs],))
        params = SamplingParams(max_tokens=12, stop_token_ids=[free[mine]])
        assert generate(model, PROMPT, params) == free[:early]


def test_an_end_token_outside_the_vocabulary_is_refused():
    from minillm import LLM

    model, message = zoo.random_model("llama 5:1"), f"stop token {zoo.VOCAB} is not in the vocab"
    fine, bad = ({"stop_token_ids": [0, zoo.VOCAB - 1 + more]} for more in (0, 1))
    for answer in (
        lambda params: generate(model, PROMPT, params),
        lambda params: LLM(model, None).generate([PROMPT], params),
    ):
        assert answer(SamplingParams(max_tokens=2, **fine))
        with pytest.raises(ValueError, match=message):
            answer(SamplingParams(max_tokens=2, **bad))


@pytest.mark.parametrize("count", [1, 2, 7])
def test_max_tokens_is_exact_and_reasons_are_told(count):
    model = model_with(eos_token_ids=())
    found = list(steps(model, PROMPT, SamplingParams(max_tokens=count)))
    assert [s.token for s in found] == naive(model, PROMPT, count)
    assert [s.finish_reason for s in found] == [None] * (count - 1) + ["length"]
    ending = model_with(eos_token_ids=(found[-1].token,))
    last = list(steps(ending, PROMPT, SamplingParams(max_tokens=count)))[-1]
    assert last.finish_reason == "stop"


@pytest.mark.parametrize("held", range(len(PROMPT) + 1))
def test_a_memory_that_holds_a_prefix_goes_on_from_there(held):
    """Up to the whole prompt: then the last token is computed again, there are no logits else."""
    for name in NAMES:
        model = zoo.random_model(name)
        memory = StripCache.for_model(model, 40)
        memory.kv.fill_(float("nan"))
        if held:
            model(torch.tensor(PROMPT[:held]), memory=memory)
        got = generate(model, PROMPT, SamplingParams(max_tokens=6), memory)
        assert got == naive(model, PROMPT, 6)
        assert memory.length == len(PROMPT) + 5  # the last token written was not fed


def test_an_interrupt_behind_the_last_layer_can_be_tried_again():
    """The memory holds the step already, the logits are lost: the last token is computed again."""
    model = zoo.random_model("qwen3")
    memory = StripCache.for_model(model, 40)

    def interrupt(*_):
        raise KeyboardInterrupt

    hook = model.norm.register_forward_pre_hook(interrupt)
    with pytest.raises(KeyboardInterrupt):
        generate(model, PROMPT, SamplingParams(max_tokens=6), memory)
    hook.remove()
    assert memory.length == len(PROMPT)
    assert generate(model, PROMPT, SamplingParams(max_tokens=6), memory) == naive(model, PROMPT, 6)


def test_the_same_prompt_twice_and_a_longer_one():
    model, params = zoo.random_model("qwen3"), SamplingParams(max_tokens=4)
    memory = StripCache.for_model(model, 40)
    first = generate(model, PROMPT, params, memory)
    longer = PROMPT + first + [9]
    assert generate(model, longer, params, memory) == naive(model, longer, 4)
    with pytest.raises(ValueError, match="holds 15 tokens, the prompt has only 7"):
        generate(model, PROMPT, params, memory)
    assert memory.length == 15


def test_a_memory_that_becomes_full_says_so():
    model = zoo.random_model("qwen3")
    memory = StripCache.for_model(model, 9)
    with pytest.raises(ValueError, match="max_len"):
        generate(model, PROMPT, SamplingParams(max_tokens=4), memory)
    full = StripCache.for_model(model, 10)  # 7 of the prompt, 3 of the answer's 4
    assert len(generate(model, PROMPT, SamplingParams(max_tokens=4), full)) == 4


@pytest.mark.parametrize("prompt, message", [
    ([], "empty"),
    ([1, zoo.VOCAB], f"token {zoo.VOCAB} is not in the vocabulary of {zoo.VOCAB}"),
    ([-1], "token -1"),
    ([10**30], "vocabulary"),
    ("hello", "token ids"),
    ([1.0], "token ids"),
    (["1"], "token ids"),
    (None, "token ids"),
    ([1] * 62, "context of 64.*lower max_tokens to 3"),
    ([1] * 65, "context of 64.*shorten"),
])  # fmt: skip
def test_prompts_that_cannot_be_run_are_refused(prompt, message):
    with pytest.raises(ValueError, match=message):
        generate(zoo.random_model("llama 5:1"), prompt, SamplingParams(max_tokens=4))


def test_the_context_can_be_used_to_its_end():
    model = zoo.random_model("llama 5:1")
    assert len(generate(model, [1] * 61, SamplingParams(max_tokens=4))) == 4
    assert len(generate(model, [1] * 64, SamplingParams(max_tokens=1))) == 1


@pytest.mark.parametrize("change, message", [
    ({"stop": "x"}, "stop strings need a tokenizer"),
    ({"n": 2}, "n > 1"),
    ({"logprobs": 1}, "logprobs"),
    ({"prompt_logprobs": 0}, "prompt_logprobs"),
])  # fmt: skip
def test_what_generate_cannot_do_is_refused(change, message):
    with pytest.raises(ValueError, match=message):
        generate(zoo.random_model("llama 5:1"), PROMPT, SamplingParams(**change))


@pytest.mark.parametrize("more", [{}, {"temperature": 1.0, "seed": 0, "repetition_penalty": 2.0}])
def test_logprobs_are_those_of_the_model_before_any_filter(more):
    model = zoo.random_model("mistral window")
    params = SamplingParams(max_tokens=5, logprobs=3, prompt_logprobs=2, **more)
    found = list(steps(model, PROMPT, params))
    text = PROMPT + [s.token for s in found]
    want_TV = model(torch.tensor(text)).log_softmax(-1)
    for place, step in enumerate(found, len(PROMPT) - 1):
        best = want_TV[place].topk(3).indices.tolist()
        assert list(step.logprobs) == list(dict.fromkeys([step.token, *best]))
        assert all(abs(p - float(want_TV[place, t])) < 1e-9 for t, p in step.logprobs.items())
    rows = found[0].prompt_logprobs
    assert len(rows) == len(PROMPT) and rows[0] is None
    assert all(s.prompt_logprobs is None for s in found[1:])
    for place, row in enumerate(rows[1:]):
        assert set(row) == {PROMPT[place + 1], *want_TV[place].topk(2).indices.tolist()}
        assert all(abs(p - float(want_TV[place, t])) < 1e-9 for t, p in row.items())


def test_prompt_logprobs_with_a_filled_memory_are_refused_not_wrong():
    model = zoo.random_model("llama 5:1")
    memory = StripCache.for_model(model, 20)
    model(torch.tensor(PROMPT[:3]), memory=memory)
    with pytest.raises(ValueError, match="empty memory"):
        list(steps(model, PROMPT, SamplingParams(max_tokens=2, prompt_logprobs=1), memory))


@pytest.fixture(scope="module")
def tokenizer():
    return Tokenizer(train_tokenizer(vocab_size=400, documents=300), (0,), 0)


class Scripted:
    """A stand-in for the model that writes one text, token by token, then the end token."""

    def __init__(self, tokenizer, prompt: str, text: str):
        self.config = dataclasses.replace(
            zoo.config_of("llama 5:1"), vocab_size=400, max_len=500, eos_token_ids=(0,)
        )
        self.embedding = SimpleNamespace(weight=torch.zeros(1))
        self.first = len(tokenizer.encode(prompt))
        self.script = [*tokenizer.encode(text, add_special=False), 0]

    def __call__(self, tokens_T, memory, rows):
        memory.length += len(tokens_T)
        logits_V = torch.zeros(400)
        logits_V[self.script[memory.length - self.first]] = 9.0
        return logits_V[None]


def streamed(tokenizer, text, prompt="say:", **params) -> list[str]:
    model = Scripted(tokenizer, prompt, text)
    return list(stream_text(model, tokenizer, prompt, SamplingParams(**params)))


@pytest.mark.parametrize(
    "text", ["a small fox", "안녕하세요, 여우", "🦊🎈 and 3+4=7 ✓", " x\n\ny "]
)
def test_the_pieces_of_a_stream_are_the_text(tokenizer, text):
    pieces = streamed(tokenizer, text, max_tokens=200)
    assert "".join(pieces) == text and all(pieces) and len(pieces) > 2
    assert not any("\ufffd" in piece for piece in pieces)


@pytest.mark.parametrize("text, stop, want", [
    ("one two END three", ["END"], "one two "),
    ("one two END", ["END"], "one two "),
    ("ABC and no more DEF", ["DEFGHIJ"], "ABC and no more DEF"),  # held back, then released
    ("one two three", ["three", "two"], "one "),
    ("END", ["END"], ""),
    ("eeeend", ["end"], "eee"),
])  # fmt: skip
def test_a_stop_string_ends_the_stream_and_no_part_of_it_is_shown(tokenizer, text, stop, want):
    assert "".join(streamed(tokenizer, text, stop=stop, max_tokens=200)) == want


def test_a_stop_string_in_the_prompt_does_not_stop(tokenizer):
    assert "".join(streamed(tokenizer, "DEF GHI", "say ABC", stop="ABCDEF")) == "DEF GHI"


def test_max_tokens_inside_a_character(tokenizer):
    pieces = streamed(tokenizer, "🦊", max_tokens=1)
    assert "".join(pieces) == "\ufffd"
    assert len(streamed(tokenizer, "🦊", max_tokens=50)) == 1
