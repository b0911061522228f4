"""What "exact" means here: every token in float64, ties explained in float32, logits in 16 bit."""

from __future__ import annotations

import dataclasses
import random

import pytest
import torch
import zoo
from hypothesis import given, settings
from hypothesis import strategies as st

from minillm.cache.simple import NoCache, StripCache
from minillm.generate import generate
from minillm.sampling import SamplingParams, filter_logits

UNTIED = [n for n in zoo.CASES if "tied" not in n.replace("untied", "")]
TOLERANCE = 1e-4  # of the spread of the logits, or of the distribution


def first_difference(one, other) -> int | None:
    return next((i for i, (a, b) in enumerate(zip(one, other)) if a != b), None)


def explained(exact_model, prompt, one, other, params) -> bool:
    """Whether two texts differ only by a tie: a choice that rounding may turn.

    Greedy: the two candidates lie within the tolerance of each other. Sampled: a step of the
    cumulative distribution lies within the tolerance of the drawn number, so that the two
    candidates are neighbours among the tokens of positive probability (only tiny ones between).
    """
    place = first_difference(one, other)
    if place is None:
        return len(one) == len(other)
    text = torch.tensor([*prompt, *one[:place]])
    logits_V = exact_model(text)[-1]
    a, b = sorted((one[place], other[place]))
    if params.greedy:
        gap = (logits_V[a] - logits_V[b]).abs()
        return bool(gap < TOLERANCE * (logits_V.max() - logits_V.min()))
    probs_V = filter_logits(logits_V, params).softmax(-1)
    generator = torch.Generator().manual_seed(params.seed)
    draw = lambda: float(torch.rand(1, generator=generator, dtype=torch.float64))
    drawn = [draw() for _ in range(place + 1)][-1]
    steps_V = probs_V.cumsum(-1)
    return all(abs(float(steps_V[t]) - drawn) < TOLERANCE for t in range(a, b))


@settings(max_examples=80, deadline=None, derandomize=True)
@given(st.data())
def test_in_float64_every_token_is_equal_with_any_memory_and_chunking(data):
    draw = data.draw
    model = zoo.random_model(draw(st.sampled_from(UNTIED)), seed=draw(st.integers(0, 3)))
    prompt = draw(st.lists(st.integers(0, zoo.VOCAB - 1), min_size=1, max_size=20))
    params = SamplingParams(
        max_tokens=draw(st.integers(1, 16 if len(prompt) < 3 else 8)),
        temperature=draw(st.sampled_from([0.0, 0.5, 1.0, 2.0])),
        top_k=draw(st.sampled_from([0, 1, 9])), top_p=draw(st.sampled_from([1.0, 0.8])),
        min_p=draw(st.sampled_from([0.0, 0.05])), seed=draw(st.integers(0, 99)),
        repetition_penalty=draw(st.sampled_from([1.0, 1.3])),
        presence_penalty=draw(st.sampled_from([0.0, 0.4])),
    )  # fmt: skip
    model.config = dataclasses.replace(model.config, max_len=len(prompt) + params.max_tokens)
    want = generate(model, prompt, params, NoCache(model.config))
    assert generate(model, prompt, params) == want
    memory = StripCache.for_model(model, 40)
    memory.kv.fill_(float("nan"))
    held = draw(st.integers(0, len(prompt)))
    while memory.length < held:
        size = draw(st.integers(1, held - memory.length))
        model(torch.tensor(prompt[memory.length :][:size]), memory=memory)
    assert generate(model, prompt, params, memory) == want


@pytest.mark.parametrize("temperature", [0.0, 1.0])
@pytest.mark.parametrize("name", UNTIED)
def test_in_float32_texts_differ_at_most_by_ties(name, temperature):
    exact, model = zoo.random_model(name), zoo.random_model(name, torch.float32)
    prompt, ties = zoo.random_tokens(6, seed=8).tolist(), 0
    params = SamplingParams(max_tokens=10, temperature=temperature, seed=2)
    exact.config = model.config = dataclasses.replace(model.config, max_len=64)
    want = generate(exact, prompt, params)
    for memory in (NoCache(model.config), StripCache.for_model(model, 40)):
        got = generate(model, prompt, params, memory)
        assert explained(exact, prompt, got, want, params)
        ties += got != want
    print(f"{name}: {ties} ties")


@pytest.mark.parametrize("name", [n for n in UNTIED if "gelu" not in n])
def test_greedy_texts_equal_those_of_transformers(name):
    theirs, model = zoo.theirs_and_ours(zoo.CASES[name])
    prompt = zoo.random_tokens(9, seed=4).tolist()
    params = SamplingParams(max_tokens=20 if model.config.max_len > 40 else 7, ignore_eos=True)
    theirs.generation_config.eos_token_id = theirs.generation_config.pad_token_id = None
    ids = torch.tensor([prompt])
    found = theirs.generate(
        ids, attention_mask=torch.ones_like(ids), max_new_tokens=params.max_tokens, do_sample=False
    )
    got, want = generate(model, prompt, params), found[0, len(prompt) :].tolist()
    assert len(want) == params.max_tokens
    assert explained(model.double(), prompt, got, want, params), (got, want)


def test_the_rule_of_ties_can_say_no():
    model, prompt = zoo.random_model("qwen3"), [5, 6, 7]
    greedy = SamplingParams(max_tokens=6)
    text = generate(model, prompt, greedy)
    logits_V = model(torch.tensor(prompt + text[:2]))[-1]
    second = int(logits_V.topk(2).indices[1])
    assert not explained(model, prompt, text, [*text[:2], second, *text[3:]], greedy)
    with torch.no_grad():  # two equal rows of the head: an exact tie
        model.head.weight[second] = model.head.weight[text[2]]
    assert explained(model, prompt, text, [*text[:2], second, *text[3:]], greedy)
    sampled = SamplingParams(max_tokens=6, temperature=1.0, seed=3)
    text = generate(model, prompt, sampled)
    for other in random.Random(0).sample(range(zoo.VOCAB), 20):
        if other != text[4]:
            assert not explained(model, prompt, text, [*text[:4], other, text[5]], sampled)


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
@pytest.mark.parametrize("name", zoo.ONE_OF_EACH)
def test_in_16_bit_decoding_is_as_near_the_truth_as_reading_at_once(name, dtype):
    exact = zoo.random_model(name)
    rounded = zoo.random_model(name, dtype)
    exact.load_state_dict(rounded.state_dict())
    tokens_T = zoo.random_tokens(23)
    memory = StripCache.for_model(rounded, 23)
    memory.kv.fill_(float("nan"))
    one_by_one_TV = torch.cat([rounded(t[None], memory=memory) for t in tokens_T])
    error = lambda x: float((x.double() - exact(tokens_T)).square().mean().sqrt())
    assert error(one_by_one_TV) < 2 * error(rounded(tokens_T))


@pytest.mark.parametrize("temperature", [0.0, 1.0])
def test_activations_beyond_float16_are_reported_not_written_as_text(temperature):
    """A bf16 model may need more than 65,504: one clear error, never tokens out of inf."""
    model, params = zoo.random_model("llama 5:1"), SamplingParams(4, temperature, seed=0)
    model.layers[0].mlp.down.weight.mul_(2e4)
    with pytest.raises(ArithmeticError, match="overflow in this dtype.*fp32"):
        generate(model.to(torch.float16), [1, 2, 3], params)
    model = zoo.random_model("llama 5:1")
    model.layers[0].mlp.down.weight.mul_(2e4)
    assert len(generate(model.to(torch.bfloat16), [1, 2, 3], params)) == 4
