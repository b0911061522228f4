"""Tokenizer, streaming decoder and chat templates: text in, tokens, the same text out."""

from __future__ import annotations

import json
import random
import time
import tracemalloc

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tokenizers import Tokenizer as Backend
from tokenizers import decoders, models, pre_tokenizers, trainers

from minillm.chat import TemplateError, render
from minillm.files import LoadError
from minillm.tokenizer import StreamDecoder, Tokenizer, load_tokenizer

TEXTS = [
    "Hello, world! The cat sat on the mat.",
    "안녕하세요, 세계! 훈민정음",
    "こんにちは世界 カタカナ",
    "مرحبا بالعالم",
    "नमस्ते क्षत्रिय",
    "สวัสดีชาวโลก",
    "👨‍👩‍👧‍👦 🏳️‍🌈 👍🏽",
    "def f(x):\n\treturn x**2\n\n\n",
    "  two   spaces    ",
    "\r\n\t\t\v",
    "e\u0301 \u200b\u202e \ufeff",
    "\x00\x01\x7f",
    "𐍈𓀀",
    "\ufffd ok \ufffd",
    "",
]


def byte_level(vocab_size=400) -> Tokenizer:
    """Byte-level BPE trained on the texts; special tokens <bos> and <eos>."""
    backend = Backend(models.BPE())
    backend.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    backend.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=vocab_size, special_tokens=["<bos>", "<eos>"], show_progress=False,
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
    )  # fmt: skip
    backend.train_from_iterator(TEXTS, trainer)
    return Tokenizer(backend, eos_token_ids=[1], bos_token_id=0)


def byte_fallback(strip=True) -> Tokenizer:
    """SentencePiece-like: a few letters, everything else as byte tokens."""
    vocab = {f"<0x{b:02X}>": b for b in range(256)}
    for token in ["<bos>", "<unk>", "\u2581", "a", "b", "\u2581a", "é", "한"]:
        vocab[token] = len(vocab)
    model = models.BPE(vocab, [("\u2581", "a")], byte_fallback=True, unk_token="<unk>")
    backend = Backend(model)
    steps = [decoders.Replace("\u2581", " "), decoders.ByteFallback(), decoders.Fuse()]
    if strip:
        steps.append(decoders.Strip(" ", 1, 0))
    backend.decoder = decoders.Sequence(steps)
    scheme = "first" if strip else "never"
    backend.pre_tokenizer = pre_tokenizers.Metaspace(prepend_scheme=scheme, split=False)
    backend.add_special_tokens(["<bos>"])
    return Tokenizer(backend, bos_token_id=256)


ALL = {"byte-level": byte_level(), "fallback": byte_fallback(), "no-strip": byte_fallback(False)}


@pytest.mark.parametrize("name", ALL)
def test_round_trip_and_agreement_with_the_library(name):
    for text in TEXTS:
        ids = ALL[name].encode(text)
        kept = text[1:] if name == "fallback" and text[:1] == " " else text
        assert ALL[name].decode(ids) == kept  # "first" counts a leading space as the prefix
        assert ALL[name].backend.decode(ids) == kept


def stream(tokenizer, ids, stop=()):
    decoder = StreamDecoder(tokenizer, stop)
    pieces = [decoder.push(i) for i in ids]
    return [*pieces, decoder.finish()], decoder


@pytest.mark.parametrize("name", ALL)
@given(data=st.data())
@settings(max_examples=150, deadline=None)
def test_pieces_equal_the_whole_for_any_tokens(name, data):
    tokenizer = ALL[name]
    ids = data.draw(st.lists(st.integers(0, tokenizer.vocab_size - 1), max_size=60))
    pieces, decoder = stream(tokenizer, ids)
    assert "".join(pieces) == tokenizer.decode(ids) == decoder.text


@pytest.mark.parametrize("name", ALL)
def test_text_in_many_scripts_streams_whole_characters_only(name):
    for text in [*TEXTS, "".join(TEXTS) * 5]:
        text = text.strip()
        pieces, _ = stream(ALL[name], ALL[name].encode(text))
        assert "".join(pieces) == text
        assert all("\ufffd" not in p for p in pieces) or "\ufffd" in text


def test_a_finished_character_is_not_held_back():
    pieces, _ = stream(ALL["fallback"], "한👍".encode())  # byte tokens: 3 + 4
    assert pieces == ["", "", "한", "", "", "", "👍", ""]


def test_finish_inside_a_character():
    pieces, decoder = stream(ALL["fallback"], "👍".encode()[:1])  # max_tokens=1 on an emoji
    assert pieces == ["", "\ufffd"] and decoder.text == "\ufffd"
    pieces, _ = stream(ALL["byte-level"], ALL["byte-level"].encode("ok👍")[:-1])
    assert "".join(pieces) == "ok\ufffd" and pieces[-1] == "\ufffd"


def text_tokens(text):
    return text.encode()  # one byte token each in the fallback tokenizer


def test_a_prefix_of_a_stop_string_is_held_back_and_flushed():
    pieces, decoder = stream(ALL["fallback"], text_tokens("xxABCDEFG"), stop="DEFGHIJ")
    assert pieces == ["x", "x", "A", "B", "C", "", "", "", "", "DEFG"]
    assert decoder.text == "xxABCDEFG" and not decoder.stopped


def test_text_ends_before_the_stop_string_and_nothing_follows():
    pieces, decoder = stream(ALL["fallback"], text_tokens("ab\nUser: hi"), stop=["\nUser:", "zz"])
    assert "".join(pieces) == "ab" == decoder.text and decoder.stopped
    assert decoder.push(97) == "" and decoder.finish() == ""


def test_false_start_of_a_stop_string():
    pieces, decoder = stream(ALL["fallback"], text_tokens("aaab!"), stop="aab")
    assert decoder.text == "a" and decoder.stopped
    _, decoder = stream(ALL["fallback"], text_tokens("abababc"), stop="ababc")
    assert decoder.text == "ab"


@given(st.text("ab", max_size=30), st.lists(st.text("ab", min_size=1, max_size=4), max_size=3))
@settings(max_examples=200, deadline=None)
def test_stop_strings_do_not_depend_on_how_text_is_cut_into_tokens(text, stops):
    _, one_by_one = stream(ALL["fallback"], text_tokens(text), stops)
    ends = [(text.find(s) + len(s), text.find(s)) for s in stops if s in text]
    assert one_by_one.text == (text[: min(ends)[1]] if ends else text)
    _, merged = stream(ALL["byte-level"], ALL["byte-level"].encode(text), stops)
    assert merged.text == one_by_one.text


@pytest.mark.parametrize("stop", [[""], [3]])
def test_empty_stop_strings_are_refused(stop):
    with pytest.raises(ValueError, match="non-empty"):
        StreamDecoder(ALL["fallback"], stop)


@pytest.mark.parametrize("ids", [[0x80] * 3000, list("한".encode()) * 1000, [256] * 3000])
def test_cost_of_a_token_does_not_grow(ids):
    """Counts the tokens given to decode: linear in the length, whatever the tokens."""
    tokenizer, seen = byte_fallback(), []
    real = tokenizer.decode
    tokenizer.decode = lambda ids, **k: (seen.append(len(ids)), real(ids, **k))[1]
    pieces, _ = stream(tokenizer, ids)
    assert "".join(pieces) == real(ids)
    assert max(seen, default=0) < 40 and sum(seen) < 60 * len(ids)


def write(folder, backend, **config):
    backend.save(str(folder / "tokenizer.json"))
    (folder / "tokenizer_config.json").write_text(json.dumps(config))


@pytest.mark.parametrize("add_bos", [True, False, None])
@pytest.mark.parametrize("in_json", [True, False])
def test_begin_of_text_comes_once(add_bos, in_json, tmp_path):
    from tokenizers.processors import TemplateProcessing

    backend = byte_level().backend
    if in_json:
        backend.post_processor = TemplateProcessing(
            single="<bos> $A", special_tokens=[("<bos>", 0)]
        )
    write(tmp_path, backend, bos_token="<bos>", add_bos_token=add_bos)
    tokenizer = load_tokenizer(tmp_path)
    plain = tokenizer.encode("cat", add_special=False)
    has = in_json if add_bos is None else add_bos
    assert tokenizer.encode("cat") == ([0] if has else []) + plain
    assert tokenizer.encode("<bos>cat") == [0, *plain]  # the text has it already
    assert tokenizer.encode("<bos>cat", add_special=False) == [0, *plain]


def test_special_token_text_inside_a_prompt():
    tokenizer = byte_level()
    assert 1 in tokenizer.encode("a<eos>b")
    plain = tokenizer.encode("a<eos>b", special_text=False)
    assert 1 not in plain and tokenizer.decode(plain) == "a<eos>b"
    assert 1 in tokenizer.encode("a<eos>b")  # the switch does not stick
    assert tokenizer.decode([1], skip_special=False) == "<eos>" and tokenizer.decode([1]) == ""


def test_tokenizer_json_with_padding_and_truncation_still_gives_all_tokens(tmp_path):
    backend = byte_level().backend
    backend.enable_padding(length=50)
    backend.enable_truncation(4)
    write(tmp_path, backend)
    tokenizer = load_tokenizer(tmp_path)
    assert tokenizer.decode(tokenizer.encode(TEXTS[0])) == TEXTS[0]


def test_missing_tokenizer_json(tmp_path):
    with pytest.raises(LoadError, match="tokenizer.json does not exist"):
        load_tokenizer(tmp_path)


CHAT = (
    "{{ bos_token }}{% for m in messages %}<{{ m['role'] }}>{{ m.content | trim }}\n{% endfor %}"
    "{% if add_generation_prompt %}<assistant>{% endif %}"
)


def test_chat_equals_transformers(tmp_path):
    import transformers

    write(tmp_path, byte_level().backend, bos_token="<bos>", eos_token="<eos>", chat_template=CHAT,
          tokenizer_class="PreTrainedTokenizerFast")  # fmt: skip
    tokenizer = load_tokenizer(tmp_path)
    theirs = transformers.AutoTokenizer.from_pretrained(tmp_path)
    messages = [{"role": "user", "content": " 안녕 "}, {"role": "assistant", "content": "<b>&"}]
    for flag in (True, False):
        expected = theirs.apply_chat_template(messages, tokenize=False, add_generation_prompt=flag)
        assert tokenizer.chat(messages, add_generation_prompt=flag) == expected
    assert tokenizer.encode(tokenizer.chat(messages)).count(0) == 1


def test_template_file_outranks_the_config_and_none_is_an_error(tmp_path):
    write(tmp_path, byte_level().backend, chat_template=[{"name": "default", "template": "A"}])
    assert load_tokenizer(tmp_path).chat([]) == "A"
    (tmp_path / "chat_template.jinja").write_text("B")
    assert load_tokenizer(tmp_path).chat([]) == "B"
    with pytest.raises(ValueError, match="no chat template"):
        byte_level().chat([])


ATTACKS = {
    "range": "{% for i in range(10**9) %}{% endfor %}",
    "nested loops": "{% for i in range(9999) %}{% for j in range(99999) %}{% endfor %}{% endfor %}",
    "recursion": "{% macro f() %}{{ f() }}{% endmacro %}{{ f() }}",
    "class": "{{ ''.__class__.__mro__[1].__subclasses__() }}",
    "globals": "{{ cycler.__init__.__globals__ }}",
    "import": "{% include '/etc/passwd' %}",
    "change": "{% set _ = messages.append(1) %}",
    "long output": "{% for i in range(99999) %}{{ 'x' * 9999 }}{% endfor %}",
    "times": "{{ 'x' * 10**11 }}",
    "list": "{{ ([0] * 10**11)|length }}",
    "power": "{{ 9 ** (9 ** (9 ** 9)) }}",
    "doubling": "{% set n = namespace(x='xxxxxxxx') %}{% for i in range(60) %}"
    "{% set n.x = n.x ~ n.x %}{% endfor %}",
    "adding": "{% set n = namespace(x='xxxxxxxx') %}{% for i in range(60) %}"
    "{% set n.x = n.x + n.x %}{% endfor %}",
    "ljust": "{{ 'x'.ljust(10**11) }}",
    "center": "{{ 'x'|center(10**11) }}",
    "indent": "{{ 'x'|indent(10**11) }}",
    "percent": "{{ '%99999999999d' % 1 }}",
    "format": "{{ '{:99999999999}'.format(1) }}",
    "format filter": "{{ '%9s'|format('a') }}",
    "replace": "{{ ('a' * 1000000)|replace('a', 'b' * 1000000) }}",
    "batch": "{{ [1]|batch(10**11, 'x')|list }}",
    "lipsum": "{{ lipsum(n=10**9) }}",
    "syntax": "{% if %}",
    "undefined": "{{ x.y.z }}",
    "brackets": "{{ " + "(" * 9999 + " }}",
    "too long": "x" * 200_000,
    "refusal": "{{ raise_exception('roles must alternate') }}",
}


@pytest.mark.parametrize("name", ATTACKS)
def test_hostile_chat_templates(name):
    start = time.monotonic()
    with pytest.raises(TemplateError):
        render(ATTACKS[name], [{"role": "user", "content": "hi"}], True, {})
    assert time.monotonic() - start < 30  # the limit is 2 s of an idle machine


@pytest.mark.parametrize("name", ["doubling", "adding", "times", "ljust", "center", "replace"])
def test_growth_is_stopped_by_the_limit_not_by_the_end_of_memory(name):
    with pytest.raises(TemplateError, match="text of more than"):
        render(ATTACKS[name], [], True, {})


def test_one_long_concatenation_is_stopped_on_the_way():
    template = "{% set x = 'x' * 1000000 %}{{ " + " ~ ".join("x" * 60) + " }}"
    tracemalloc.start()
    with pytest.raises(TemplateError, match="text of more than"):
        render(template, [], True, {})
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 30_000_000  # all 60 parts at once would be 60 MB


def test_panic_of_the_library_becomes_an_ordinary_error():
    class PanicException(BaseException):
        pass

    class Panics:
        decoder = ""

        def get_added_tokens_decoder(self):
            return {}

        def encode(self, *args, **kwargs):
            raise PanicException("index out of bounds")

    with pytest.raises(ValueError, match="cannot encode this: index"):
        Tokenizer(Panics()).encode("x")


def test_encode_of_random_text_round_trips():
    r = random.Random(0)
    for _ in range(300):
        ranges = r.choices([(32, 0x3000), (0xAC00, 0xD7A3), (0x1F300, 0x1FAFF)], k=20)
        text = "".join(chr(r.randrange(*ends)) for ends in ranges)
        for tokenizer in ALL.values():
            pieces, _ = stream(tokenizer, tokenizer.encode(text))
            assert "".join(pieces) == text
