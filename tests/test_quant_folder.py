"""Quantised folders: back in ours, equal in transformers, theirs in ours, lies refused."""

import json
import shutil
import struct
import warnings

import pytest
import torch
import zoo

import minillm
from minillm.compress.linear import QuantLinear
from minillm.compress.quant import quantize
from minillm.files import LoadError, SaveError

KINDS = {
    "int8": dict(scheme="int8"),
    "int8-g64": dict(scheme="int8", group_size=64),
    "int4-g32": dict(scheme="int4", group_size=32),
    "int4-g128": dict(scheme="int4", group_size=128),
    "int4-rows": dict(scheme="int4", group_size=None),
    "int4-asymmetric": dict(scheme="int4", symmetric=False),
    "w8a8": dict(scheme="w8a8"),
    "int4-head8": dict(scheme="int4", head="int8"),
    "w8a8-head4": dict(scheme="w8a8", head="int4"),
    "int4-fast": dict(scheme="int4", compute="fast"),
}


@pytest.fixture(scope="module")
def tiny():
    return minillm.load("tiny")


@pytest.fixture(scope="module")
def folders(tiny, tmp_path_factory):
    """{kind: (model, its folder)}"""
    place, made = tmp_path_factory.mktemp("quantised"), {}
    for kind, options in KINDS.items():
        model = quantize(tiny[0], **options)
        minillm.save(model, tiny[1], place / kind)
        made[kind] = model, place / kind
    return made


TOKENS = [1, 17, 300, 5, 940, 77, 12]


@pytest.mark.parametrize("kind", KINDS)
def test_a_folder_comes_back_as_it_was(folders, kind):
    model, folder = folders[kind]
    again, tokenizer = minillm.load(folder)
    assert tokenizer is not None
    tokens = torch.tensor(TOKENS)
    for layer in model.modules():  # compute is not stored: compare the oracle
        if isinstance(layer, QuantLinear):
            layer.restore().compute = "exact"
    assert torch.equal(model(tokens), again(tokens))
    assert model.weight_bytes() == again.weight_bytes()
    assert model.num_parameters() == again.num_parameters()


@pytest.mark.parametrize("kind, limit", [("int8", 0.26), ("int4-g32", 0.165), ("int4-g128", 0.145),
                                         ("w8a8", 0.26)])  # fmt: skip
def test_the_file_is_as_small_as_promised(folders, tiny, kind, limit):
    dense = sum(tiny[0].weight_bytes()["linear"].values())
    rest = sum(sum(tiny[0].weight_bytes()[p].values()) for p in ("embedding", "other"))
    size = (folders[kind][1] / "model.safetensors").stat().st_size
    assert size - rest - 30_000 <= limit * dense  # 30 kB: the header


@pytest.mark.parametrize("kind", [k for k in KINDS if "w8a8" not in k and "asymmetric" not in k])
def test_transformers_gives_the_same_logits(folders, kind):
    model, folder = folders[kind]
    assert relative(folder, minillm.load(folder)[0]) < 1e-5


def test_transformers_reads_w8a8_and_asymmetric_int4(folders):
    from transformers import CompressedTensorsConfig

    model, folder = folders["w8a8"]
    assert relative(folder, model) < 0.1  # it does not round activations as we do
    model, folder = folders["int4-asymmetric"]
    options = {"quantization_config": CompressedTensorsConfig(dequantize=True)}
    assert relative(folder, model, **options) < 1e-5


def relative(folder, model, **options) -> float:
    from transformers import AutoModelForCausalLM

    theirs = AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32, **options)
    with torch.no_grad():
        want = theirs(torch.tensor([TOKENS])).logits[0]
    got = model(torch.tensor(TOKENS))
    return float((got - want).norm() / want.norm())


def test_a_folder_of_their_packer_loads_here(tiny, tmp_path):
    """Scales, codes and zeros made by compressed-tensors itself; only the names are ours."""
    from compressed_tensors.compressors.pack_quantized.helpers import pack_to_int32
    from compressed_tensors.quantization import QuantizationArgs
    from compressed_tensors.quantization.lifecycle.forward import dequantize
    from compressed_tensors.quantization.lifecycle.forward import quantize as their_quantize
    from compressed_tensors.quantization.utils import calculate_qparams

    model, tokenizer = tiny
    args = QuantizationArgs(num_bits=4, type="int", symmetric=True, strategy="group", group_size=64)
    minillm.save(quantize(model, "int4", 64), tokenizer, tmp_path / "m")
    weight = model.layers[2].mlp.down.weight.detach().contiguous()
    grouped = weight.unflatten(1, (-1, 64))
    scale, zero = calculate_qparams(grouped.amin(-1), grouped.amax(-1), args)
    codes = their_quantize(weight, scale, zero, args, dtype=torch.int8)
    replace_tensors(tmp_path / "m" / "model.safetensors", {
        "model.layers.2.mlp.down_proj.weight_packed": pack_to_int32(codes, 4),
        "model.layers.2.mlp.down_proj.weight_scale": scale,
    })  # fmt: skip
    layer = minillm.load(tmp_path / "m")[0].layers[2].mlp.down
    assert torch.equal(layer.dequantize(), dequantize(codes, scale, zero, args))


def replace_tensors(path, new) -> None:
    from safetensors.torch import load_file, save_file

    save_file(load_file(path) | new, path, {"format": "pt"})


@pytest.mark.parametrize("case", list(zoo.CASES))
@pytest.mark.parametrize("scheme", ["int4", "int8", "w8a8"])
def test_every_family_comes_back(case, scheme, tmp_path):
    model = zoo.random_model(case)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # widths that 32 does not divide
        packed = quantize(model, scheme, None)
        minillm.save(packed, None, tmp_path / "m")
    again, _ = minillm.load(tmp_path / "m", dtype="fp64")
    want, got = packed(zoo.random_tokens(7)), again(zoo.random_tokens(7))
    assert (got - want).norm() <= 1e-9 * want.norm()  # the same numbers at other addresses


def test_a_group_that_does_not_divide_is_saved_by_rows_and_said(tmp_path):
    model = zoo.random_model("qwen3")
    packed = quantize(model, "int4", 24)
    ragged = [m for m in packed.modules()
              if isinstance(m, QuantLinear) and m.in_features % m.group]  # fmt: skip
    assert ragged
    with pytest.warns(UserWarning, match="one scale a row"):
        minillm.save(packed, None, tmp_path / "m")
    again, _ = minillm.load(tmp_path / "m", dtype="fp64")
    tokens = zoo.random_tokens(7)
    assert (again(tokens) - packed(tokens)).norm() < 0.5 * packed(tokens).norm()


@pytest.mark.parametrize("options, nearest", [
    (dict(scheme="nf4"), "int4 with group_size=64"),
    (dict(scheme="w8a8", outlier=6.0), "w8a8 without outlier"),
])  # fmt: skip
def test_what_the_format_cannot_say_is_refused(tiny, tmp_path, options, nearest):
    with pytest.raises(SaveError, match=nearest):
        minillm.save(quantize(tiny[0], **options), tiny[1], tmp_path / "m")
    assert not (tmp_path / "m").exists()


@pytest.fixture
def edited(folders, tmp_path):
    """A function that copies a folder and edits its quantization_config."""

    def make(kind, edit):
        shutil.copytree(folders[kind][1], tmp_path / "m")
        path = tmp_path / "m" / "config.json"
        data = json.loads(path.read_text())
        edit(data["quantization_config"])
        path.write_text(json.dumps(data))
        return tmp_path / "m"

    return make


def weights(config) -> dict:
    return config["config_groups"]["group_0"]["weights"]


@pytest.mark.parametrize("edit, message", [
    (lambda c: c.update(quant_method="gptq"), "'gptq' is not supported"),
    (lambda c: c.update(config_groups={}), "config_groups is missing"),
    (lambda c: c.update(ignore="lm_head"), "ignore must be a list"),
    (lambda c: c.update(kv_cache_scheme={"num_bits": 8}), "kv_cache_scheme"),
    (lambda c: c["config_groups"]["group_0"].update(targets=7), "no list of targets"),
    (lambda c: c["config_groups"]["group_0"].update(format="marlin"), "'marlin' is not one of"),
    (lambda c: c["config_groups"]["group_0"].update(input_activations={"num_bits": 8}),
     "quantised activations"),
    (lambda c: weights(c).update(num_bits=3), "4 or 8 bits"),
    (lambda c: weights(c).update(num_bits=4.0), "4 or 8 bits"),
    (lambda c: weights(c).update(num_bits=True), "4 or 8 bits"),
    (lambda c: c.update(ignore=["re:([a-z0-9._]+)+!"]), "pattern .* is not supported"),
    (lambda c: c.update(ignore=["re:.*.*.*.*x"]), "pattern .* is not supported"),
    (lambda c: c.update(ignore=["re:" + "(" * 5000 + ")" * 5000]), "is not supported"),
    (lambda c: c["config_groups"]["group_0"].update(targets=["re:a{99999999999999999999}"]),
     "group_0: the pattern"),
    (lambda c: weights(c).update(type="float"), "int of 4 or 8"),
    (lambda c: weights(c).update(actorder="group"), "actorder 'group'"),
    (lambda c: weights(c).update(strategy="tensor"), "strategy 'tensor'"),
    (lambda c: weights(c).update(group_size=10**9), "group_size must be"),
    (lambda c: weights(c).update(group_size=96), "do not divide"),
    (lambda c: weights(c).update(group_size=64), "is needed"),
    (lambda c: weights(c).update(num_bits=8), "is needed"),
    (lambda c: weights(c).update(symmetric=False), "weight_zero_point is missing"),
    (lambda c: weights(c).update(symmetric=1), "symmetric must be true or false"),
    (lambda c: weights(c).update(symmetric=None), "symmetric must be true or false"),
    (lambda c: weights(c).update(symmetric="true"), "symmetric must be true or false"),
    (lambda c: c.update(format="marlin-24"), "'marlin-24' is not one of"),
    (lambda c: c.update(ignore=[f"re:x{i}" for i in range(501)]), "more than 500 patterns"),
    (lambda c: weights(c).update(rotation="x"), "rotation is not known"),
    (lambda c: c.update(ignore=["lm_head", "re:.*q_proj"]), "one matrix here"),
    (lambda c: c.update(ignore=["lm_head", "re:.*down_proj"]), "down_proj.weight"),
])  # fmt: skip
def test_a_config_that_lies_is_refused_by_name(edited, edit, message):
    with pytest.raises(LoadError, match=message):
        minillm.load(edited("int4-g128", edit))


@pytest.mark.parametrize("ignore", ["re:lm_head", "re:.*lm_head$", r"re:^lm_head", "lm_head"])
def test_plain_patterns_are_understood(edited, ignore):
    folder = edited("int4-g128", lambda c: c.update(ignore=[ignore]))
    assert not isinstance(minillm.load(folder)[0].head, QuantLinear)


def test_a_group_is_found_by_patterns_of_its_layers(edited):
    targets = [r"re:model\.layers\.\d+\.mlp\..*", *(f"re:.*{x}_proj" for x in "qkvo")]
    edit = lambda c: c["config_groups"]["group_0"].update(targets=targets)
    assert isinstance(minillm.load(edited("int4-g128", edit))[0].layers[0].mlp.down, QuantLinear)


def test_a_name_goes_before_a_pattern(edited):
    edit = lambda c: c["config_groups"]["group_0"].update(targets=["re:.*"])
    assert minillm.load(edited("int4-head8", edit))[0].head.scheme == "int8"


@pytest.mark.parametrize("value", [0.0, -0.01, 1e38])
def test_a_scale_that_no_weight_can_have_is_refused(folders, tmp_path, value):
    from safetensors.torch import load_file

    shutil.copytree(folders["int4-g32"][1], tmp_path / "m")
    path, name = tmp_path / "m" / "model.safetensors", "model.layers.0.mlp.down_proj.weight_scale"
    scale = load_file(path)[name]
    replace_tensors(path, {name: scale[:, :1].contiguous()})
    with pytest.raises(LoadError, match="of a float type is needed"):
        minillm.load(tmp_path / "m")
    scale[3, 1] = value
    replace_tensors(path, {name: scale})
    with pytest.raises(LoadError, match="not above 0|not fit float32"):
        minillm.load(tmp_path / "m")


def test_quantization_config_of_another_type_is_refused(folders, tmp_path):
    shutil.copytree(folders["int8"][1], tmp_path / "m")
    path = tmp_path / "m" / "config.json"
    for value in ("yes", [1], {"quant_method": {}}, 7):
        path.write_text(json.dumps(json.loads(path.read_text()) | {"quantization_config": value}))
        with pytest.raises(LoadError, match="quant_method"):
            minillm.load(tmp_path / "m")


def test_a_scale_of_inf_and_a_wrong_shape_tensor_are_refused(folders, tmp_path):
    from safetensors.torch import load_file

    shutil.copytree(folders["int4-g32"][1], tmp_path / "m")
    path, name = tmp_path / "m" / "model.safetensors", "model.layers.0.mlp.down_proj"
    scale = load_file(path)[f"{name}.weight_scale"]
    scale[0, 0] = float("inf")
    replace_tensors(path, {f"{name}.weight_scale": scale})
    with pytest.raises(LoadError, match="inf or NaN"):
        minillm.load(tmp_path / "m")
    scale[0, 0] = 1.0
    replace_tensors(path, {f"{name}.weight_scale": scale,
                           f"{name}.weight_shape": torch.tensor([3, 4])})  # fmt: skip
    with pytest.raises(LoadError, match=r"says \[3, 4\]"):
        minillm.load(tmp_path / "m")
    replace_tensors(path, {f"{name}.weight_packed": torch.zeros(3, 3, dtype=torch.int32)})
    with pytest.raises(LoadError, match=r"int32 \[3, 3\]"):
        minillm.load(tmp_path / "m")


def test_hundreds_of_damaged_quantised_files_give_one_clear_error(folders, tmp_path):
    """Bits flipped in the header or the config, and files cut off: LoadError, or it loads."""
    shutil.copytree(folders["int4-g128"][1], tmp_path / "m")
    path, config = tmp_path / "m" / "model.safetensors", tmp_path / "m" / "config.json"
    whole, text = path.read_bytes(), config.read_bytes()
    length = struct.unpack("<Q", whole[:8])[0]
    generator = torch.Generator().manual_seed(5)
    draw = lambda high: int(torch.randint(0, high, (1,), generator=generator))
    refused = 0
    for number in range(120):
        damaged, settings = bytearray(whole), bytearray(text)
        if number % 3 == 0:
            del damaged[draw(len(damaged)) :]
        elif number % 3 == 1:
            damaged[draw(length + 8)] ^= 1 << draw(8)
        else:
            settings[draw(len(settings))] ^= 1 << draw(8)
        path.write_bytes(damaged)
        config.write_bytes(settings)
        try:
            minillm.load(tmp_path / "m")
        except LoadError:
            refused += 1
    assert refused > 80
