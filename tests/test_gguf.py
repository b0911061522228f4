"""GGUF: files written by the gguf library, read by our bounded reader, against their model."""

from __future__ import annotations

import json
import os

import gguf
import numpy as np
import pytest
import torch
import transformers
from gguf import GGMLQuantizationType as Kind
from hf_models import LLAMA3, hf_model, logits, relative_error, tokens, transformers_gguf

import minillm
from minillm.files import LoadError, SaveError
from minillm.gguf_file import TENSOR_TYPES, GGUFFile
from minillm.gguf_tokenizer import build_tokenizer

NAMES = {
    "model.embed_tokens": "token_embd", "model.norm": "output_norm", "lm_head": "output",
    "self_attn.q_proj": "attn_q", "self_attn.k_proj": "attn_k", "self_attn.v_proj": "attn_v",
    "self_attn.o_proj": "attn_output", "self_attn.q_norm": "attn_q_norm",
    "self_attn.k_norm": "attn_k_norm", "input_layernorm": "attn_norm", "mlp.gate_proj": "ffn_gate",
    "mlp.up_proj": "ffn_up", "mlp.down_proj": "ffn_down",
    "pre_feedforward_layernorm": "ffn_norm", "post_feedforward_layernorm": "post_ffw_norm",
    "post_attention_layernorm": "ffn_norm",
}  # fmt: skip
SIZES = dict(hidden_size=256, intermediate_size=512, head_dim=64, num_attention_heads=8)
MODELS = {  # name: (architecture, name in hf_models, fields)
    "llama": ("llama", "llama", {}),
    "llama-llama3": ("llama", "llama-llama3", dict(rope_parameters=dict(
        LLAMA3, original_max_position_embeddings=8192, rope_theta=500_000.0))),
    "llama-linear": ("llama", "llama-linear", {}),
    "llama-yarn": ("llama", "llama-yarn", {}),
    "qwen2": ("qwen2", "qwen2", dict(num_attention_heads=4)),  # has no head_size of its own
    "qwen3": ("qwen3", "qwen3", dict(head_dim=128)),  # all transformers reads, whatever the key
    "gemma3": ("gemma3", "gemma3", dict(query_pre_attn_scalar=64)),
}  # fmt: skip


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("MINILLM_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


def big_model(name, monkeypatch):
    """As hf_models makes it, with widths that 256 divides (K-quants) and the fields above."""
    import hf_models

    _, base, fields = MODELS[name]
    prefix, own = hf_models.MODELS[base]
    monkeypatch.setitem(hf_models.MODELS, base, (prefix, SIZES | own | fields))
    return hf_model(base)


def write(path, name, model, kind_of=lambda name: Kind.F32, vocabulary=True):
    """A GGUF as llama.cpp's converter writes it, each tensor in the type kind_of chooses."""
    arch, config = MODELS[name][0], model.config
    writer = gguf.GGUFWriter(path, arch)
    writer.add_context_length(config.max_position_embeddings)
    writer.add_embedding_length(config.hidden_size)
    writer.add_block_count(config.num_hidden_layers)
    writer.add_feed_forward_length(config.intermediate_size)
    writer.add_head_count(config.num_attention_heads)
    writer.add_head_count_kv(config.num_key_value_heads)
    if arch != "qwen2":
        writer.add_key_length(config.head_dim)
        writer.add_value_length(config.head_dim)
    if arch == "llama":
        writer.add_rope_dimension_count(config.head_dim)
    writer.add_layer_norm_rms_eps(config.rms_norm_eps)
    rope = config.rope_parameters
    rope = rope.get("full_attention", rope)
    writer.add_rope_freq_base(rope["rope_theta"])
    if rope["rope_type"] in ("linear", "yarn"):
        writer.add_rope_scaling_type(gguf.RopeScalingType(rope["rope_type"]))
        writer.add_rope_scaling_factor(rope["factor"])
    if rope["rope_type"] == "yarn":
        writer.add_rope_scaling_orig_ctx_len(rope["original_max_position_embeddings"])
    if rope["rope_type"] == "llama3":
        inv = model.model.rotary_emb.inv_freq
        plain = rope["rope_theta"] ** -(torch.arange(0, 64, 2) / 64)
        writer.add_tensor("rope_freqs.weight", (plain / inv).float().numpy())
    if arch == "gemma3":
        writer.add_sliding_window(config.sliding_window)
    if vocabulary:
        add_sentencepiece(writer, config.vocab_size)
    stored = write_tensors(writer, arch, model, kind_of)
    for step in ("header", "kv_data", "tensors"):
        getattr(writer, f"write_{step}_to_file")()
    writer.close()
    return stored


def write_tensors(writer, arch, model, kind_of):
    """Rename, permute and shift as the converter does -> what dequantising gives, by HF name."""
    config, stored = model.config, {}
    for hf, tensor in model.state_dict().items():
        if hf == "lm_head.weight" and config.tie_word_embeddings:
            continue
        stem, _, suffix = hf.rpartition(".")
        prefix = ""
        if stem.startswith("model.layers."):
            _, _, layer, stem = stem.split(".", 3)
            prefix = f"blk.{layer}."
        ours = NAMES[stem]
        if arch == "gemma3" and stem == "post_attention_layernorm":
            ours = "post_attention_norm"
        array = tensor.numpy().astype(np.float32)
        if arch == "gemma3" and "norm" in ours:
            array = array + np.float32(1)
        if arch == "llama" and ours in ("attn_q", "attn_k"):
            heads = config.num_attention_heads if ours == "attn_q" else config.num_key_value_heads
            half = array.shape[0] // heads // 2
            array = array.reshape(heads, 2, half, -1).swapaxes(1, 2).reshape(array.shape)
        kind = kind_of(f"{ours}.{suffix}") if array.ndim == 2 else Kind.F32
        data = encode(array, kind)
        writer.add_tensor(f"{prefix}{ours}.{suffix}", data, raw_dtype=kind)
        stored[f"{prefix}{ours}.{suffix}"] = gguf.quants.dequantize(data, kind)
    return stored


def encode(array, kind):
    """Through the library where it can write the type; else random blocks with sane scales."""
    try:
        return gguf.quants.quantize(array, kind)
    except NotImplementedError:
        block, size = gguf.GGML_QUANT_SIZES[kind]
        blocks = np.random.default_rng(array.size).integers(
            0, 256, (array.shape[0], array.shape[1] // block, size), np.uint8
        )
        scale = np.float16(0.002).tobytes()  # K-quants keep d (and dmin) as float16
        at = {"Q6_K": [208], "Q3_K": [108], "Q2_K": [80, 82]}.get(kind.name, [0, 2])
        for start in at:
            blocks[..., start : start + 2] = np.frombuffer(scale, np.uint8)
        return blocks.reshape(array.shape[0], -1)


def add_sentencepiece(writer, size):
    pieces = [
        "<unk>",
        "<bos>",
        "<eos>",
        "\u2581",
        "a",
        "b",
        "ab",
        "\u2581a",
        "\u2581ab",
        "<end_of_turn>",
    ]
    pieces += [f"t{i}" for i in range(size - len(pieces))]
    types = [3, 3, 3, *[1] * 6, 3, *[1] * (size - 10)]
    writer.add_tokenizer_model("llama")
    writer.add_token_list(pieces)
    writer.add_token_scores([-float(i) for i in range(size)])
    writer.add_token_types(types)
    writer.add_bos_token_id(1)
    writer.add_eos_token_id(2)
    writer.add_unk_token_id(0)


@pytest.mark.parametrize("name", MODELS)
def test_float32_gives_the_source_model(name, tmp_path, monkeypatch):
    reference = big_model(name, monkeypatch)
    write(tmp_path / "m.gguf", name, reference)
    model, tokenizer = minillm.load(tmp_path / "m.gguf")
    assert relative_error(logits(model, tokens()), logits(reference, tokens())) < 1e-4
    assert set(model.config.eos_token_ids) == {2, 9}  # eos, and <end_of_turn> by its name
    assert tokenizer.bos_token_id == 1 and tokenizer.encode("ab")[0] == 1


KINDS = [Kind[name] for name, _, _ in TENSOR_TYPES.values() if name != "F64"]


@pytest.mark.parametrize("kind", KINDS, ids=[k.name for k in KINDS])
def test_every_block_type_has_the_values_of_the_library(kind, tmp_path, monkeypatch):
    reference = big_model("llama", monkeypatch)
    stored = write(tmp_path / "m.gguf", "llama", reference, lambda name: kind)
    file = GGUFFile(tmp_path / "m.gguf")
    assert stored.keys() == file.tensors.keys()
    for name, expected in stored.items():
        assert np.array_equal(file.array(name), expected), name


@pytest.mark.parametrize("name", ["llama", "qwen2", "qwen3", "gemma3"])
def test_quantised_files_agree_with_transformers_reading_them(name, tmp_path, monkeypatch):
    """Mixed as real files are: Q8_0 embedding, Q6_K down, Q5_0 and Q4_K elsewhere."""
    reference = big_model(name, monkeypatch)
    mix = {"token_embd": Kind.Q8_0, "ffn_down": Kind.Q6_K, "attn_q": Kind.Q4_K, "output": Kind.F16}
    write(tmp_path / "m.gguf", name, reference, lambda n: mix.get(n.split(".")[0], Kind.Q5_0))
    theirs = transformers_gguf(tmp_path / "m.gguf")
    if name == "gemma3":  # the file does not hold the scale: llama.cpp uses head_size, they 256
        for layer in theirs.model.layers:
            layer.self_attn.scaling = 64**-0.5
    model, _ = minillm.load(tmp_path / "m.gguf")
    assert relative_error(logits(model, tokens()), logits(theirs, tokens())) < 1e-4


def test_second_load_uses_the_cache_and_a_damaged_cache_is_made_again(
    tmp_path, monkeypatch, cache, capsys
):
    reference = big_model("qwen3", monkeypatch)
    write(tmp_path / "m.gguf", "qwen3", reference)
    expected = logits(minillm.load(tmp_path / "m.gguf")[0], tokens())
    (folder,) = (cache / "gguf").iterdir()
    assert "converting" in capsys.readouterr().err
    stamp = folder.stat().st_mtime_ns
    minillm.load(tmp_path / "m.gguf")
    assert folder.stat().st_mtime_ns == stamp and capsys.readouterr().err == ""
    weights = folder / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[:-1000])
    again, _ = minillm.load(tmp_path / "m.gguf")
    assert "converting" in capsys.readouterr().err
    assert torch.equal(logits(again, tokens()), expected)
    assert [p.name for p in (cache / "gguf").iterdir()] == [folder.name]  # nothing half left


def test_a_changed_file_is_not_mistaken_for_the_old_one(tmp_path, monkeypatch):
    for name in ("qwen3", "llama"):
        reference = big_model(name, monkeypatch)
        write(tmp_path / "m.gguf", name, reference)
        model, _ = minillm.load(tmp_path / "m.gguf")
        assert model.config.family == name


def test_a_changed_file_of_the_same_size_is_not_mistaken_either(tmp_path, monkeypatch):
    first, second = big_model("llama", monkeypatch), hf_model("llama", seed=5)
    found = []
    for reference in (first, second):
        write(tmp_path / "m.gguf", "llama", reference)
        model, _ = minillm.load(tmp_path / "m.gguf")
        found.append((tmp_path / "m.gguf").stat().st_size)
        assert relative_error(logits(model, tokens()), logits(reference, tokens())) < 1e-4
    assert found[0] == found[1]


@pytest.mark.parametrize("place", ["file", ""])
def test_a_cache_that_cannot_be_is_a_save_error(place, tmp_path, monkeypatch):
    write(tmp_path / "m.gguf", "qwen3", big_model("qwen3", monkeypatch))
    (tmp_path / "file").write_text("in the way")

    def nobody():
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.setattr("pathlib.Path.home", nobody)
    monkeypatch.setenv("MINILLM_CACHE", str(tmp_path / place) if place else "")
    with pytest.raises(SaveError, match="MINILLM_CACHE"):
        minillm.load(tmp_path / "m.gguf")


def test_what_a_killed_conversion_left_is_swept_away(tmp_path, monkeypatch, cache):
    write(tmp_path / "m.gguf", "qwen3", big_model("qwen3", monkeypatch))
    minillm.load(tmp_path / "m.gguf")
    (folder,) = (cache / "gguf").iterdir()
    left = {age: folder.with_name(f".{folder.name}.{age}.part") for age in ("old", "young")}
    for age, part in left.items():
        part.mkdir()
        (part / "model.safetensors").write_bytes(b"half")
        time = 1e9 if age == "old" else None
        for path in (part / "model.safetensors", part):
            os.utime(path, time and (time, time))
    (folder / "config.json").unlink()  # damaged: it is made again
    minillm.load(tmp_path / "m.gguf")
    assert {p.name for p in (cache / "gguf").iterdir()} == {folder.name, left["young"].name}


def test_interrupted_conversion_leaves_nothing(tmp_path, monkeypatch, cache):
    import minillm.gguf_model as module

    write(tmp_path / "m.gguf", "qwen3", big_model("qwen3", monkeypatch))

    def breaks(*args):
        raise KeyboardInterrupt

    monkeypatch.setattr(module, "hf_tensors", breaks)
    with pytest.raises(KeyboardInterrupt):
        minillm.load(tmp_path / "m.gguf")
    assert list((cache / "gguf").iterdir()) == []


def test_fp16_would_lose_digits_of_a_q8_block():
    """Why the cache is float32: scale (11 bits) times code (7 bits) needs more than 11 bits."""
    data = gguf.quants.quantize(np.random.default_rng(0).normal(size=(8, 256)), Kind.Q8_0)
    values = gguf.quants.dequantize(data, Kind.Q8_0)
    assert not np.array_equal(values, values.astype(np.float16).astype(np.float32))


SPOIL = {
    "general.architecture": "mamba", "llama.attention.head_count": 0,
    "llama.rope.dimension_count": 32, "llama.expert_count": 8, "llama.logit_scale": 2.0,
    "llama.rope.scaling.type": "longrope", "llama.embedding_length": 128,
    "llama.block_count": 4, "llama.context_length": 0,
}  # fmt: skip


@pytest.mark.parametrize("key", SPOIL)
def test_what_is_not_computed_is_refused_by_its_key(key, tmp_path, monkeypatch):
    write(tmp_path / "m.gguf", "llama", big_model("llama", monkeypatch))
    real = GGUFFile._header

    def header(self):
        real(self)
        self.metadata[key] = SPOIL[key]

    monkeypatch.setattr(GGUFFile, "_header", header)
    with pytest.raises(LoadError):
        minillm.load(tmp_path / "m.gguf")


def test_harmless_zero_keys_are_read(tmp_path, monkeypatch):
    write(tmp_path / "m.gguf", "llama", big_model("llama", monkeypatch))
    file = GGUFFile(tmp_path / "m.gguf")
    file.metadata["llama.expert_count"] = 0
    from minillm.gguf_model import hf_config

    assert hf_config(file)["model_type"] == "llama"


def spm_metadata(prefix: bool | None):
    pieces = ["<unk>", "<s>", "</s>", *[f"<0x{b:02X}>" for b in range(256)]]
    words = ["\u2581", *"abcdefghijklmnopqrstuvwxyz", "th", "\u2581th", "he", "the"]
    words += ["\u2581the", "in", "ing", "\u2581a", "an", "and", "er", "é", "한", "\u2581\u2581"]
    pieces += words
    types = [2, 3, 3, *[6] * 256, *[1] * len(words)]
    metadata = {
        "general.architecture": "llama", "tokenizer.ggml.model": "llama",
        "tokenizer.ggml.tokens": pieces, "tokenizer.ggml.token_type": types,
        "tokenizer.ggml.scores": [0.0] * 259 + [-float(i) for i in range(len(words))],
        "tokenizer.ggml.bos_token_id": 1, "tokenizer.ggml.eos_token_id": 2,
        "tokenizer.ggml.unknown_token_id": 0,
    }  # fmt: skip
    return metadata if prefix is None else metadata | {"tokenizer.ggml.add_space_prefix": prefix}


def bpe_metadata(pre: str, add_bos: bool):
    from tokenizers import Tokenizer, models, pre_tokenizers, trainers

    backend = Tokenizer(models.BPE())
    backend.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    trainer = trainers.BpeTrainer(vocab_size=600, show_progress=False,
                                  initial_alphabet=pre_tokenizers.ByteLevel.alphabet())  # fmt: skip
    backend.train_from_iterator(TEXTS * 3, trainer)
    data = json.loads(backend.to_str())["model"]
    pieces = sorted(data["vocab"], key=data["vocab"].get) + ["<|begin|>", "<|end|>", "<think>"]
    return {
        "general.architecture": "qwen2", "tokenizer.ggml.model": "gpt2",
        "tokenizer.ggml.pre": pre, "tokenizer.ggml.tokens": pieces,
        "tokenizer.ggml.token_type": [1] * (len(pieces) - 3) + [3, 3, 4],
        "tokenizer.ggml.merges": [" ".join(m) for m in data["merges"]],
        "tokenizer.ggml.bos_token_id": len(pieces) - 3,
        "tokenizer.ggml.eos_token_id": len(pieces) - 2,
        "tokenizer.ggml.add_bos_token": add_bos,
    }  # fmt: skip


TEXTS = [
    "The cat and the thing in there.",
    "안녕 한국어 é",
    "こんにちは",
    "مرحبا",
    "नमस्ते क्षत्रिय",
    "สวัสดี",
    "👨‍👩‍👧‍👦🏳️‍🌈",
    "def f(x):\n\treturn 12345 + 3.14\r\n\n  # it's We'LL",
    "a  b   c    d",
    "\x00\x7f𐍈",
    "",
    "x<|end|>y <think> z</s>",
    "\t\t\n \n  ",
]
VOCABULARIES = {
    "spm": spm_metadata(None),
    "llama-bpe": bpe_metadata("llama-bpe", True), "qwen2": bpe_metadata("qwen2", False),
}  # fmt: skip


def write_vocabulary(path, metadata):
    writer = gguf.GGUFWriter(path, metadata["general.architecture"])
    for key, value in metadata.items():
        if key == "general.architecture":
            continue
        if isinstance(value, bool):
            writer.add_bool(key, value)
        elif isinstance(value, int):
            writer.add_uint32(key, value)
        elif isinstance(value, str):
            writer.add_string(key, value)
        else:
            writer.add_array(key, value)
    arch = metadata["general.architecture"]
    for key in ("context_length", "embedding_length", "block_count", "feed_forward_length",
                "attention.head_count"):  # fmt: skip
        writer.add_uint32(f"{arch}.{key}", 4)
    for step in ("header", "kv_data", "tensors"):
        getattr(writer, f"write_{step}_to_file")()
    writer.close()


@pytest.mark.parametrize("name", VOCABULARIES)
def test_token_ids_equal_transformers(name, tmp_path):
    write_vocabulary(tmp_path / "m.gguf", VOCABULARIES[name])
    theirs = transformers.AutoTokenizer.from_pretrained(tmp_path, gguf_file="m.gguf")
    ours = build_tokenizer(GGUFFile(tmp_path / "m.gguf").metadata)
    for text in TEXTS:
        expected = theirs(text)["input_ids"]
        assert ours.encode(text).ids == expected, text
        assert ours.decode(expected) == theirs.decode(expected, skip_special_tokens=True)


def test_no_space_prefix_is_honoured():
    """As llama.cpp does; transformers ignores this key outside Gemma."""
    ours = build_tokenizer(spm_metadata(False))
    assert ours.encode("the").tokens == ["<s>", "the"]
    assert build_tokenizer(VOCABULARIES["spm"]).encode("the").tokens == ["<s>", "\u2581the"]
    assert ours.decode(ours.encode(" a").ids) == " a"


def test_merges_follow_the_scores():
    """Scores rank 'th' before 'he', 'the' before 'an' before 'and'."""
    tokens_of = lambda text: build_tokenizer(VOCABULARIES["spm"]).encode(text).tokens[1:]
    assert tokens_of("sand") == ["\u2581", "s", "and"]
    assert tokens_of("xthe") == ["\u2581", "x", "the"]
    assert tokens_of("the") == ["\u2581the"]


BROKEN = {
    "tokenizer.ggml.tokens": None, "tokenizer.ggml.scores": [0.0], "tokenizer.ggml.model": "bert",
    "tokenizer.ggml.token_type": [1],
}  # fmt: skip


@pytest.mark.parametrize("key", BROKEN)
def test_incomplete_vocabularies_are_refused(key):
    with pytest.raises(LoadError):
        build_tokenizer(VOCABULARIES["spm"] | {key: BROKEN[key]})


def test_header_is_read_without_the_tensors(tmp_path, monkeypatch):
    write(tmp_path / "m.gguf", "llama", big_model("llama", monkeypatch))
    file = GGUFFile(tmp_path / "m.gguf")
    reference = gguf.GGUFReader(tmp_path / "m.gguf")
    assert {t.name: (tuple(map(int, t.shape[::-1])), t.data_offset, t.n_bytes)
            for t in reference.tensors} == {
        t.name: (t.shape, t.start, t.size) for t in file.tensors.values()
    }  # fmt: skip
    for key, field in reference.fields.items():
        if not key.startswith("GGUF."):
            assert file.metadata[key] == field.contents(), key
