"""Damaged and lying files: always one clear error or a right load; never a crash, hang or flood."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
import torch
from hf_models import hf_model
from test_gguf import write as write_gguf
from test_load import TOKENIZER

import minillm
from minillm.files import LoadError

CASES = {
    "safetensors": 150,
    "gguf": 150,
    "config": 150,
    "tokenizer": 120,
    "index": 60,
    "settings": 60,
}
LIMIT_S = 120  # of a whole batch, on a busy machine; a hang is far beyond it
posix = pytest.mark.skipif(sys.platform == "win32", reason="pipes, links and limits of POSIX")


@pytest.fixture(scope="module")
def good(tmp_path_factory):
    """A folder with undamaged models: m (one file, tokenizer), sharded, m.gguf."""
    folder = tmp_path_factory.mktemp("good")
    model = hf_model("llama")
    model.save_pretrained(folder / "m")
    (folder / "m" / "tokenizer.json").write_text(json.dumps(TOKENIZER))
    settings = {"bos_token": "<bos>", "eos_token": "<eos>", "add_bos_token": True}
    (folder / "m" / "tokenizer_config.json").write_text(json.dumps(settings))
    (folder / "m" / "generation_config.json").write_text('{"eos_token_id": [1, 2]}')
    model.save_pretrained(folder / "sharded", max_shard_size="60KB")
    write_gguf(folder / "m.gguf", "llama", hf_model("llama"))
    return folder


def run_batch(kind: str, count: int, good: Path, tmp_path: Path):
    command = [sys.executable, str(Path(__file__).with_name("hostile_files.py")), kind, "0",
               str(count), str(good), str(tmp_path / "work")]  # fmt: skip
    environment = os.environ | {"MINILLM_CACHE": str(tmp_path / "cache"), "OMP_NUM_THREADS": "1",
                                "PYTHONPATH": str(Path(__file__).parents[1])}  # fmt: skip
    done = subprocess.run(
        command, capture_output=True, text=True, timeout=LIMIT_S, env=environment, cwd=tmp_path
    )
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    assert done.returncode == 0 and len(lines) == count, (
        f"case {len(lines)} of {kind} ended the process: {done.returncode} {done.stderr[-600:]}"
    )
    return lines


@posix
@pytest.mark.parametrize("kind", CASES)
def test_damaged_files(kind, good, tmp_path):
    lines = run_batch(kind, CASES[kind], good, tmp_path)
    assert not [line for line in lines if line["result"] == "crashed"]
    assert not [line for line in lines if line["length"] > 2500]  # one message, not a dump
    assert max(line["seconds"] for line in lines) < 20
    refused = [line for line in lines if line["result"] == "refused"]
    assert len(refused) > CASES[kind] / 5, "the damage hardly ever mattered: not a test"
    print(f"\n{kind}: {len(lines)} cases, {len(refused)} refused, the rest harmless")


@pytest.fixture
def folder(good, tmp_path):
    import shutil

    shutil.copytree(good / "m", tmp_path / "m")
    return tmp_path / "m"


FILES = ["config.json", "model.safetensors", "tokenizer.json", "tokenizer_config.json"]


@posix
@pytest.mark.parametrize("file", FILES)
@pytest.mark.parametrize("thing", ["empty", "directory", "loop", "pipe", "forbidden", "nowhere"])
def test_things_that_are_no_files(thing, file, folder):
    path = folder / file
    path.unlink()
    if thing == "empty":
        path.touch()
    elif thing == "directory":
        path.mkdir()
    elif thing == "loop":
        path.symlink_to(path.name)
    elif thing == "nowhere":
        path.symlink_to("gone")
    elif thing == "pipe":
        os.mkfifo(path)
    elif thing == "forbidden":
        path.write_text("{}")
        path.chmod(0)
        if os.access(path, os.R_OK):
            path.chmod(0o600)  # root reads everything: then the content is what is wrong
            path.write_text("[]")
    with pytest.raises(LoadError, match=file.split(".")[0]):
        minillm.load(folder)


CONFIGS = {
    "deep": '{"a":' * 100_000 + "1" + "}" * 100_000, "deep list": "[" * 100_000 + "]" * 100_000,
    "nan": '{"rms_norm_eps": NaN}', "infinity": '{"rope_theta": Infinity}', "list": "[1, 2]",
    "half": '{"model_type": "lla', "bytes": "\udcff\udcfe", "number": "9" * 10_000, "null": "null",
}  # fmt: skip


@pytest.mark.parametrize("name", CONFIGS)
def test_json_that_is_none_or_too_much(name, folder):
    for file in ("config.json", "tokenizer_config.json"):
        before = (folder / file).read_bytes()
        (folder / file).write_text(CONFIGS[name], errors="surrogateescape")
        with pytest.raises(LoadError, match=file):
            minillm.load(folder)
        (folder / file).write_bytes(before)


FIELDS = {
    "vocab_size": 10**12, "hidden_size": 2**40, "num_hidden_layers": 10**9, "head_dim": 10**6,
    "intermediate_size": 10**15, "num_attention_heads": -8, "num_key_value_heads": 0,
    "max_position_embeddings": 10**18, "rms_norm_eps": 1e400, "sliding_window": -3,
    "rope_theta": 0, "rope_parameters": {"rope_type": "default", "rope_theta": 1e400},
    "tie_word_embeddings": "yes", "hidden_act": "relu9", "model_type": ["llama"],
    "vocab_size ": {"x": 1}, "eos_token_id": [10**30, "x"], "quantization_config": {"bits": 4},
}  # fmt: skip


@pytest.mark.parametrize("name", FIELDS)
def test_config_fields_that_lie(name, folder):
    data = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps(data | {name: FIELDS[name]}))
    with pytest.raises(LoadError) as error:
        minillm.load(folder)
    assert len(str(error.value)) < 1000


def test_huge_announcements_allocate_nothing(folder):
    """A header of 2^60 bytes, a tensor of 2^50 numbers: refused from the file's size alone."""
    path = folder / "model.safetensors"
    for data in (
        (1 << 60).to_bytes(8, "little") + b"{}",
        header({"a": {"dtype": "F32", "shape": [1 << 50], "data_offsets": [0, 1 << 52]}}),
        header({"a": {"dtype": "F32", "shape": [], "data_offsets": [0, 4]}}) + b"1234" * 3,
        header({"a": {"dtype": "I4", "shape": [2], "data_offsets": [0, 1]}}) + b"1",
        header({"a": {"dtype": "F32", "shape": [-1, -1], "data_offsets": [0, 4]}}) + b"1234",
        header({"a": 3}), header({"a": {"dtype": "F32"}}), b"", b"\0" * 8,
    ):  # fmt: skip
        path.write_bytes(data)
        with pytest.raises(LoadError, match="model.safetensors|missing"):
            minillm.load(folder)


def header(data: dict) -> bytes:
    text = json.dumps(data).encode()
    return len(text).to_bytes(8, "little") + text


@pytest.mark.parametrize("kind", ["strings", "numbers", "nested", "pairs", "tensors", "version"])
def test_gguf_counts_that_lie(kind, tmp_path):
    """The array count that makes the reference reader hang is refused at once."""
    u64 = lambda n: n.to_bytes(8, "little")  # noqa: E731
    u32 = lambda n: n.to_bytes(4, "little")  # noqa: E731
    start = b"GGUF" + u32(99 if kind == "version" else 3)
    counts = u64(1 << 61 if kind == "tensors" else 0) + u64(1 << 61 if kind == "pairs" else 1)
    item = {"strings": 8, "numbers": 4, "nested": 9}.get(kind, 4)
    pair = u64(1) + b"k" + u32(9) + u32(item) + u64(1 << 60)
    (tmp_path / "m.gguf").write_bytes(start + counts + pair + bytes(1000))
    with pytest.raises(LoadError, match="m.gguf is not a GGUF file we can read"):
        minillm.load(tmp_path / "m.gguf")


def test_overlapping_gguf_tensors_cannot_multiply_memory(tmp_path, good):
    from minillm.gguf_file import GGUFFile

    file = GGUFFile(good / "m.gguf")
    with pytest.raises(LoadError, match="overlaps"):
        file._place([("a", (8, 8), 0, 0), ("b", (8, 8), 0, 32)])


def test_weights_are_checked_before_anything_is_read(folder, monkeypatch):
    """A wrong shape is refused from the header: no tensor is read or allocated."""
    import minillm.weights  # noqa: F401

    weights = sys.modules["minillm.weights"]
    monkeypatch.setattr(weights, "read", lambda *a: pytest.fail("read a tensor"))
    data = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps(data | {"vocab_size": 4_000_000}))
    with pytest.raises(LoadError, match="of wrong shape"):
        minillm.load(folder)


def test_the_good_files_load(good):
    for name in ("m", "sharded"):
        model, _ = minillm.load(good / name)
        assert model(torch.tensor([1, 2])).isfinite().all()
