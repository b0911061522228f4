"""weights.py: headers, names, conversion; the faults it must name before it reads anything."""

from __future__ import annotations

import json
import struct

import pytest
import torch
from hf_models import MODELS, hf_model
from safetensors.torch import load_file, save_file

from minillm.files import LoadError, read_json
from minillm.hf_config import from_hf
from minillm.safetensors_file import scan_file, scan_folder
from minillm.save import write_safetensors
from minillm.weights import convert, empty_model, hf_tensors


def test_header_says_what_the_library_says(tmp_path):
    tensors = {
        "a": torch.randn(3, 5), "b": torch.randn(7).to(torch.bfloat16), "c": torch.zeros(0, 4),
        "d": torch.tensor(2.5, dtype=torch.float64), "e": torch.ones(2, 2, 2, dtype=torch.float16),
    }  # fmt: skip
    save_file(tensors, tmp_path / "x.safetensors")
    stored = scan_file(tmp_path / "x.safetensors")
    assert {n: (s.shape, s.dtype) for n, s in stored.items()} == {
        n: (tuple(t.shape), t.dtype) for n, t in tensors.items()
    }


def test_what_we_write_the_library_reads(tmp_path):
    tensors = {f"t{i}": torch.randn(i + 1, 3).to(dtype) for i, dtype in enumerate(
        [torch.float64, torch.float32, torch.bfloat16, torch.float16])}  # fmt: skip
    tensors["transposed"] = torch.randn(4, 6).to(torch.float16).T
    write_safetensors(
        tmp_path / "x.safetensors", {n: tuple(t.shape) for n, t in tensors.items()},
        tensors.items(), {n: t.dtype for n, t in tensors.items()},
    )  # fmt: skip
    length = struct.unpack("<Q", (tmp_path / "x.safetensors").read_bytes()[:8])[0]
    assert length % 8 == 0  # so that mapped tensors lie on whole words
    back = load_file(tmp_path / "x.safetensors")
    assert back.keys() == tensors.keys()
    assert all(torch.equal(back[n], t) and back[n].dtype == t.dtype for n, t in tensors.items())


@pytest.mark.parametrize("name", MODELS)
def test_names_are_those_of_transformers(name):
    """Both ways: every parameter of theirs is one of ours, with the same shape."""
    reference = hf_model(name)
    config = from_hf(json.loads(reference.config.to_json_string(use_diff=False)))
    ours = {n: tuple(t.shape) for n, t in hf_tensors(empty_model(config)).items()}
    assert ours == {n: tuple(p.shape) for n, p in reference.named_parameters()}


def test_the_empty_model_holds_no_memory():
    config = from_hf(json.loads(hf_model("gemma3").config.to_json_string(use_diff=False)))
    assert all(p.is_meta for p in empty_model(config).parameters())


@pytest.mark.parametrize("source", [torch.float64, torch.float32, torch.bfloat16])
def test_fp16_overflow_is_named_and_nothing_else_is(source):
    fits = torch.tensor([65_504.0, -65_504.0, 1e-30], dtype=torch.float64)
    if source != torch.bfloat16:  # bf16 rounds it up to 65,536
        assert convert(fits.to(source), "w", torch.float16).isfinite().all()
    with pytest.raises(LoadError, match="layer.w holds 7.*65,504.*bf16"):
        convert(torch.tensor([1.0, -70_000.0], dtype=source), "layer.w", torch.float16)
    assert convert(torch.tensor([-70_000.0], dtype=source), "w", torch.bfloat16).isfinite()


def test_a_header_whose_length_looks_like_a_pickle_is_none(tmp_path):
    """0x80 0x02 begins a pickle, and also every header of 640 bytes."""
    text = json.dumps({"a": {"dtype": "F32", "shape": [1], "data_offsets": [0, 4]}}).encode()
    path = tmp_path / "x.safetensors"
    path.write_bytes(struct.pack("<Q", 0x280) + text.ljust(0x280) + b"\0" * 4)
    assert scan_file(path)["a"].shape == (1,)
    path.write_bytes(b"\x80\x02}q\x00(X\x01" + b"\0" * 999)
    with pytest.raises(LoadError, match="pickle"):
        scan_file(path)


def entries(**changes):
    a = {"dtype": "F32", "shape": [2], "data_offsets": [0, 8]}
    b = {"dtype": "F32", "shape": [1], "data_offsets": [8, 12]}
    return {"a": a, "b": b | changes}


WRONG = {
    "overlap": entries(data_offsets=[4, 8]), "gap": entries(data_offsets=[12, 16]),
    "short": entries(shape=[2]), "beyond": entries(shape=[9], data_offsets=[8, 44]),
    "negative": entries(shape=[-1]), "true": entries(shape=[True]),
    "backwards": entries(data_offsets=[12, 8]), "dtype": entries(dtype="F8_E4M3"),
    "dtype list": entries(dtype=["F32"]), "three": entries(data_offsets=[8, 12, 16]),
    "float": entries(shape=[1.0]), "text": entries(shape="1"),
}  # fmt: skip


@pytest.mark.parametrize("size", [0, 8, 11, 13, 100])
def test_a_file_cut_off_or_with_something_behind(size, tmp_path):
    text = json.dumps(entries()).encode()
    path = tmp_path / "x.safetensors"
    path.write_bytes(struct.pack("<Q", len(text)) + text + b"\0" * size)
    with pytest.raises(LoadError, match=f"need 12 bytes, the file holds {size}"):
        scan_file(path)


def test_overlap_in_the_middle(tmp_path):
    """The end is right, so only the places themselves tell."""
    inside = {"c": {"dtype": "F32", "shape": [1], "data_offsets": [4, 8]}}
    text = json.dumps(entries() | inside).encode()
    (tmp_path / "x.safetensors").write_bytes(struct.pack("<Q", len(text)) + text + b"\0" * 12)
    with pytest.raises(LoadError, match="overlap"):
        scan_file(tmp_path / "x.safetensors")


@pytest.mark.parametrize("name", WRONG)
def test_places_that_lie(name, tmp_path):
    text = json.dumps(WRONG[name]).encode()
    path = tmp_path / "x.safetensors"
    path.write_bytes(struct.pack("<Q", len(text)) + text + b"\0" * 12)
    with pytest.raises(LoadError, match="x.safetensors"):
        scan_file(path)


def test_a_tensor_in_two_shards(tmp_path):
    for name in ("a", "b"):
        save_file({"w": torch.zeros(1)}, tmp_path / f"{name}.safetensors")
    with pytest.raises(LoadError, match="w is both in"):
        scan_folder(tmp_path)


def test_index_and_shard_disagree(tmp_path):
    save_file({"w": torch.zeros(1)}, tmp_path / "a.safetensors")
    index = tmp_path / "model.safetensors.index.json"
    index.write_text('{"weight_map": {"w": "a.safetensors", "v": "a.safetensors"}}')
    with pytest.raises(LoadError, match="disagree about v"):
        scan_folder(tmp_path)


def test_a_file_longer_than_its_limit_is_not_read(tmp_path):
    (tmp_path / "config.json").write_text("{" + " " * 2000 + "}")
    assert read_json(tmp_path / "config.json") == {}
    with pytest.raises(LoadError, match="2002 bytes"):
        read_json(tmp_path / "config.json", limit=1000)
