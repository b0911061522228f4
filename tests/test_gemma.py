"""The real model, Gemma 3 270M from its GGUF, against transformers reading the same file.

Run by `make test GEMMA=1`. The oracle is fed the prompt and our 64 tokens once (teacher forcing):
if each of our tokens is its likeliest next one, its own greedy text is the same, and this takes a
tenth of the time.
"""

from __future__ import annotations

import gc
import random
import subprocess
import sys
import time

import pytest
import torch
from hf_models import transformers_gguf

import minillm

pytestmark = [pytest.mark.gemma, pytest.mark.timeout(1800)]
PROMPTS = {
    "english": "The capital of France is",
    "story": "Once upon a time there was a small robot who",
    "korean": "대한민국의 수도는",
    "korean story": "옛날 옛적에 호랑이가 살았습니다. 어느 날",
    "code": "def fibonacci(n):\n    ",
    "sql": "SELECT name, COUNT(*)\nFROM users\nWHERE",
    "emoji": "I love 🍕 and 👨‍👩‍👧‍👦! 😀",
    "japanese": "日本の首都は",
    "numbers": "1, 2, 3, 5, 8, 13,",
    "list": "Shopping list:\n\n* milk\n* bread\n*",
}
TEXTS = [
    *PROMPTS.values(),
    "  two  spaces   three\t\ttabs\n\n\nnewlines   ",
    "안녕하세요 세계! 훈민정음",
    "مرحبا بالعالم",
    "नमस्ते दुनिया क्षत्रिय",
    "สวัสดีชาวโลก",
    "🏳️‍🌈👍🏽 ZWJ 👩🏿‍🚀",
    "Ελληνικά Кириллица עברית",
    "def f(x):\n\treturn x**2  # 코드\n",
    "\x00\x01\x7f\x80\ufffd\u200b\ufeff",
    "𐍈𓀀𒀀꧁",
    "e\u0301 ﬁ ½ ²",
    "<bos>text<eos>",
    "<start_of_turn>user\nhi<end_of_turn>\n",
    "a" * 50 + " " * 40 + "b",
    "",
    "▁▁ literal ▁",
    " leading",
    "\r\n\r\n \n",
    "<code>x</code><div>",
    "[multimodal]",
    "1234567890",
]


@pytest.fixture(scope="module")
def gemma():
    start = time.monotonic()
    model, tokenizer = minillm.load("gemma3-270m", dtype="fp32", device="cpu")
    print(f"\ngemma3-270m loaded in {time.monotonic() - start:.1f} s")
    return model, tokenizer


@pytest.fixture(scope="module")
def gguf_path():
    from minillm.gemma import gemma_file

    return gemma_file()


@pytest.fixture(scope="module")
def ours(gemma):
    """{prompt name: (prompt tokens, our 64 greedy tokens)}."""
    model, tokenizer = gemma
    params = minillm.SamplingParams(max_tokens=64, ignore_eos=True)
    prompts = {name: tokenizer.encode(text) for name, text in PROMPTS.items()}
    return {n: (ids, minillm.generate(model, ids, params)) for n, ids in prompts.items()}


def test_greedy_text_equals_transformers(ours, gemma, gguf_path):
    """64 tokens of 10 prompts; where they differ, it must be a tie of DESIGN's section 9."""
    theirs, ties, worst = transformers_gguf(gguf_path), [], 0.0
    for name, (prompt, written) in ours.items():
        assert len(written) == 64
        tokens_T = torch.tensor(prompt + written)
        with torch.inference_mode():
            logits_TV = theirs(tokens_T[None, :-1]).logits[0]
            mine_TV = gemma[0](tokens_T[:-1])
        spread = float(logits_TV.max() - logits_TV.min())
        worst = max(worst, float((mine_TV - logits_TV).abs().max()) / spread)
        logits_TV = logits_TV[len(prompt) - 1 :]
        for step, token in enumerate(written):
            best = int(logits_TV[step].argmax())
            gap = float(logits_TV[step, best] - logits_TV[step, token]) / spread
            assert gap <= 1e-4, f"{name}: token {step} is {token}, transformers writes {best}"
            if best != token:
                ties.append((name, step, token, best, gap))
    print(f"\n10 prompts x 64 tokens; largest logit difference {worst:.1e} of the spread; "
          f"ties: {ties or 'none'}")  # fmt: skip
    assert worst < 1e-4
    del theirs
    gc.collect()


def test_streamed_text_is_the_same(gemma, ours):
    model, tokenizer = gemma
    for name, (_, written) in ours.items():
        decoder = minillm.StreamDecoder(tokenizer)
        pieces = [decoder.push(token) for token in written]
        assert "".join(pieces) + decoder.finish() == tokenizer.decode(written), name
    params = minillm.SamplingParams(max_tokens=8, ignore_eos=True)
    pieces = list(minillm.stream_text(model, tokenizer, PROMPTS["korean"], params))
    assert "".join(pieces) == tokenizer.decode(ours["korean"][1][:8]) and len(pieces) > 1


def test_token_ids_equal_transformers(gemma, gguf_path):
    import transformers

    theirs = transformers.AutoTokenizer.from_pretrained(gguf_path.parent, gguf_file=gguf_path.name)
    r, pool = random.Random(0), "".join(TEXTS)
    mixed = ["".join(r.choices(pool, k=r.randrange(1, 60))) for _ in range(500)]
    bos = gemma[1].bos_token_id
    for text in [*TEXTS, *mixed]:
        expected = theirs(text)["input_ids"]
        if expected[:2] == [bos, bos]:
            expected = expected[1:]  # theirs adds a second one to a text that has it
        assert gemma[1].encode(text) == expected, text
        assert gemma[1].decode(expected) == theirs.decode(expected, skip_special_tokens=True), text


def test_no_space_is_put_in_front(gemma):
    tokenizer = gemma[1]
    assert (
        tokenizer.encode("Hello")[0] == 2 and tokenizer.decode(tokenizer.encode("Hello")) == "Hello"
    )
    assert tokenizer.encode("Hello")[1] != tokenizer.encode(" Hello")[1]


@pytest.mark.parametrize("source", ["gemma3-270m", "file"])
def test_first_token_of_a_fresh_process(source, gemma, gguf_path):
    """Prints the seconds; a busy machine must not fail a test of results."""
    name = str(gguf_path) if source == "file" else source
    code = (
        "import sys, minillm\n"
        "model, tokenizer = minillm.load(sys.argv[1])\n"
        "params = minillm.SamplingParams(max_tokens=1)\n"
        "print(minillm.generate(model, tokenizer.encode('The capital of France is'), params))"
    )
    start = time.monotonic()
    done = subprocess.run([sys.executable, "-c", code, name], capture_output=True, text=True)
    print(f"\n{source}: first token {time.monotonic() - start:.1f} s after process start")
    assert done.stdout.strip() == "[506]", done  # " the"


def test_model_card_facts(gemma):
    model, tokenizer = gemma
    c = model.config
    assert (c.family, c.vocab_size, c.num_layers, c.head_size) == ("gemma3", 262144, 18, 256)
    assert c.windows == tuple(None if i % 6 == 5 else 512 for i in range(18))
    assert model.num_parameters() == 268_098_176 and 1 in tokenizer.eos_token_ids
