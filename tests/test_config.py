"""config.json to ModelConfig and back: what is read, what is refused, and by which name."""

from __future__ import annotations

import copy
import dataclasses
import json
import math

import pytest
import zoo
from hypothesis import given, settings
from hypothesis import strategies as st

from minillm.config import LIMITS, ConfigError, ModelConfig, RopeConfig
from minillm.hf_config import ONLY, from_hf, to_hf

LLAMA = zoo.CASES["llama 5:1"]


def refusal(data: dict) -> str:
    with pytest.raises(ConfigError) as error:
        from_hf(copy.deepcopy(data))
    message = str(error.value)
    assert "\n" not in message and len(message) < 400
    return message


def test_every_field_lands_where_it_belongs():
    data = zoo.CASES["llama all biases"] | {"eos_token_id": [7, 3, 7], "bos_token_id": 2}
    config = from_hf(data)
    assert (config.width, config.mlp_width, config.num_layers, config.vocab_size) == (
        36,
        56,
        2,
        111,
    )
    assert (config.num_heads, config.num_kv_heads, config.head_size) == (6, 3, 14)
    assert config.qkv_bias and config.output_bias and config.mlp_bias and not config.qk_norm
    assert (config.max_len, config.norm_eps, config.tie_embeddings) == (64, 1e-5, False)
    assert config.eos_token_ids == (7, 3) and config.bos_token_id == 2
    assert config.attention_scale == 14**-0.5 and config.embedding_scale == 1.0


@pytest.mark.parametrize("value", [None, False, [], {}, "", 0])
def test_an_unknown_field_without_a_value_is_accepted(value):
    assert from_hf(LLAMA | {"brand_new_feature": value}) == from_hf(LLAMA)


@pytest.mark.parametrize("value", [True, 1, 0.5, "on", [1], {"a": 1}, math.nan])
def test_an_unknown_field_with_a_value_is_refused_by_name(value):
    assert "brand_new_feature" in refusal(LLAMA | {"brand_new_feature": value})


ONLY_VALUES = {
    "pretraining_tp": [2, "x", [1]],
    "partial_rotary_factor": [0.5, 0, "1"],
    "rope_interleaved": [True],
    "attn_logit_softcapping": [50.0],
    "final_logit_softcapping": [30.0],
    "use_bidirectional_attention": [True, "all"],
}


def test_the_table_of_refused_values_is_complete():
    assert set(ONLY_VALUES) == set(ONLY)


@pytest.mark.parametrize("name", ONLY)
def test_a_field_that_changes_the_result_is_computed_or_refused(name):
    for value in ONLY_VALUES[name]:
        assert name in refusal(zoo.CASES["gemma3"] | {name: value})
    for value in ONLY[name]:
        assert from_hf(zoo.CASES["gemma3"] | {name: value}) == zoo.config_of("gemma3")


@pytest.mark.parametrize("family", zoo.ONE_OF_EACH)
@pytest.mark.parametrize("name", [
    "model_type", "vocab_size", "hidden_size", "intermediate_size", "num_hidden_layers",
    "num_attention_heads", "max_position_embeddings",
])  # fmt: skip
def test_a_missing_field_is_named(family, name):
    without = {k: v for k, v in zoo.CASES[family].items() if k != name}
    assert f"lacks {name}" in refusal(without)
    assert f"lacks {name}" in refusal(without | {name: None})


SIZES = {
    "vocab_size": "vocab_size", "hidden_size": "width", "intermediate_size": "mlp_width",
    "num_hidden_layers": "num_layers", "num_attention_heads": "num_heads",
    "num_key_value_heads": "num_kv_heads", "head_dim": "head_size",
    "max_position_embeddings": "max_len",
}  # fmt: skip


@pytest.mark.parametrize("family", zoo.ONE_OF_EACH)
@pytest.mark.parametrize("name", SIZES)
def test_sizes_outside_their_limits_are_refused_by_the_name_in_the_file(family, name):
    for value in (0, -1, LIMITS[SIZES[name]] + 1, 10**400, "8", 8.0, True, [8], math.nan):
        assert name in refusal(zoo.CASES[family] | {name: value}), value


REALS = {
    "rms_norm_eps": ("llama 5:1", [-1e-5, 2.0]), "rope_theta": ("llama 5:1", [0, -5, 1.0]),
    "query_pre_attn_scalar": ("gemma3", [0, -4]), "rope_local_base_freq": ("gemma3", [0, -1]),
}  # fmt: skip


@pytest.mark.parametrize("name", REALS)
def test_numbers_that_are_none_are_refused(name):
    family, bad = REALS[name]
    for value in (*bad, math.nan, math.inf, -math.inf, 10**400, "1", True, [1.0], {}):
        assert name in refusal(zoo.CASES[family] | {name: value}), value


@pytest.mark.parametrize("name", [
    "tie_word_embeddings", "attention_bias", "mlp_bias", "use_sliding_window"
])  # fmt: skip
def test_switches_must_be_true_or_false(name):
    for value in ("false", 1, 0, [], 0.0):
        family = "qwen3" if name == "use_sliding_window" else "llama 5:1"
        assert name in refusal(zoo.CASES[family] | {name: value}), value


@pytest.mark.parametrize("change, named", [
    ({"model_type": "gpt2"}, "model_type"),
    ({"model_type": ["llama"]}, "model_type"),
    ({"num_key_value_heads": 2}, "num_kv_heads"),
    ({"head_dim": 7}, "even"),
    ({"head_dim": None, "hidden_size": 41}, "head_dim"),
    ({"hidden_act": "relu"}, "hidden_act"),
    ({"hidden_act": 3}, "hidden_act"),
    ({"sliding_window": 8}, "sliding_window"),
    ({"layer_types": ["full_attention", "sliding_attention"]}, "sliding_window"),
    ({"layer_types": ["full_attention"]}, "layer_types"),
    ({"layer_types": ["full_attention", 3]}, "layer_types"),
    ({"layer_types": "full_attention"}, "layer_types"),
    ({"eos_token_id": -1}, "eos_token_id"),
    ({"eos_token_id": [1, "2"]}, "eos_token_id"),
    ({"eos_token_id": True}, "eos_token_id"),
    ({"bos_token_id": "x"}, "bos_token_id"),
])  # fmt: skip
def test_wrong_values_of_llama(change, named):
    assert named in refusal(LLAMA | change)


@pytest.mark.parametrize("family, change, named", [
    ("mistral window", {"sliding_window": 0}, "sliding_window"),
    ("mistral window", {"sliding_window": 2.5}, "sliding_window"),
    ("mistral window", {"attention_bias": True}, "attention_bias"),
    ("qwen2", {"mlp_bias": True}, "mlp_bias"),
    ("qwen3", {"layer_types": ["sliding_attention"] * 2}, "use_sliding_window"),
    ("gemma3", {"sliding_window": None}, "sliding_window"),
    ("gemma3", {"sliding_window": -3}, "sliding_window"),
    ("gemma3 old names", {"sliding_window_pattern": 0}, "sliding_window_pattern"),
    ("gemma3 old names", {"sliding_window_pattern": "2"}, "sliding_window_pattern"),
])  # fmt: skip
def test_wrong_values_of_the_other_families(family, change, named):
    assert named in refusal(zoo.CASES[family] | change)


ROPE = {
    "linear": {"rope_type": "linear", "factor": 2.0},
    "llama3": {"rope_type": "llama3"} | zoo.LLAMA3,
    "yarn": {"rope_type": "yarn", "factor": 2.0},
}


@pytest.mark.parametrize("kind, change, named", [
    ("linear", {"rope_type": "dynamic"}, "dynamic"),
    ("linear", {"rope_type": "longrope"}, "longrope"),
    ("linear", {"rope_type": ["linear"]}, "linear"),
    ("linear", {"rope_type": {"a": 1}}, "RoPE"),
    ("linear", {"factor": None}, "factor"),
    ("linear", {"factor": 0.5}, "factor"),
    ("linear", {"factor": math.nan}, "factor"),
    ("linear", {"factor": "2"}, "factor"),
    ("linear", {"factor": True}, "factor"),
    ("linear", {"beta_fast": 32}, "beta_fast"),
    ("linear", {"partial_rotary_factor": 0.5}, "partial_rotary_factor"),
    ("linear", {"mrope_section": [1, 2]}, "mrope_section"),
    ("linear", {"rope_theta": 1}, "rope_theta"),
    ("linear", {"rope_theta": math.inf}, "rope_theta"),
    ("linear", {"rope_theta": 10**400}, "rope_theta"),
    ("llama3", {"low_freq_factor": None}, "low_freq_factor"),
    ("llama3", {"low_freq_factor": 4.0}, "low_freq_factor"),
    ("llama3", {"low_freq_factor": 0}, "low_freq_factor"),
    ("llama3", {"original_max_position_embeddings": 0}, "original_max_position_embeddings"),
    ("llama3", {"original_max_position_embeddings": 1e29}, "original_max_position_embeddings"),
    ("yarn", {"beta_fast": 0}, "beta_fast"),
    ("yarn", {"beta_slow": -1}, "beta_slow"),
    ("yarn", {"attention_factor": 0}, "attention_factor"),
    ("yarn", {"mscale": 1.0, "mscale_all_dim": -1e3}, "mscale_all_dim"),
    ("yarn", {"truncate": "no"}, "truncate"),
])  # fmt: skip
def test_wrong_rope_values_in_both_spellings(kind, change, named):
    for name in ("rope_parameters", "rope_scaling"):
        assert named in refusal(LLAMA | {name: ROPE[kind] | change})


def test_rope_objects_must_be_objects_and_agree():
    for name in ("rope_parameters", "rope_scaling"):
        assert name in refusal(LLAMA | {name: ["linear", 2.0]})
        assert from_hf(LLAMA | {name: None}) == from_hf(LLAMA)
    both = {"rope_parameters": ROPE["linear"], "rope_scaling": ROPE["yarn"]}
    assert "differ" in refusal(LLAMA | both)
    nested = {"full_attention": ["linear"], "sliding_attention": {}}
    assert "rope_parameters" in refusal(zoo.CASES["gemma3"] | {"rope_parameters": nested})


@pytest.mark.parametrize("data", [None, [], "x", 3, [{"model_type": "llama"}]])
def test_a_config_that_is_no_object(data):
    assert "object" in refusal(data)


@pytest.mark.parametrize("name", ["num_key_value_heads", "sliding_window", "head_dim"])
@pytest.mark.parametrize("family", ["llama 5:1", "mistral window", "qwen2", "qwen3", "gemma3"])
def test_what_a_file_leaves_out_is_what_transformers_takes(family, name):
    from transformers import CONFIG_MAPPING

    data = {k: v for k, v in zoo.CASES[family].items() if k != name}
    data |= {"num_attention_heads": 32, "hidden_size": 64}
    if family == "qwen2" and name == "sliding_window":
        data |= {"use_sliding_window": True, "max_window_layers": 1}
    theirs = CONFIG_MAPPING[data["model_type"]].from_dict(copy.deepcopy(data))
    ours = from_hf(data)
    assert ours.num_kv_heads == theirs.num_key_value_heads
    assert ours.head_size == getattr(theirs, "head_dim", 64 // 32)
    types = getattr(theirs, "layer_types", None)
    window = getattr(theirs, "sliding_window", None)
    sliding = [t == "sliding_attention" for t in types] if types else [family[:2] == "mi"] * 2
    assert ours.windows == tuple(window if s else None for s in sliding)


@pytest.mark.parametrize("name", zoo.CASES)
def test_to_hf_gives_back_the_same_config_here_and_in_transformers(name):
    from transformers import CONFIG_MAPPING

    config = zoo.config_of(name)
    text = json.dumps(to_hf(config))
    assert from_hf(json.loads(text)) == config
    theirs = CONFIG_MAPPING[to_hf(config)["model_type"]].from_dict(json.loads(text))
    assert from_hf(theirs.to_dict()) == config


@pytest.mark.parametrize("name", zoo.CASES)
def test_a_model_rebuilt_from_to_hf_computes_the_same_in_transformers(name):
    """The written config.json, read by transformers, with the same weights: the same logits."""
    tokens_T = zoo.random_tokens(11)
    ours = zoo.theirs_and_ours(zoo.CASES[name])[1]
    theirs = zoo.theirs_and_ours(to_hf(ours.config))[0]
    want_TV = theirs(tokens_T[None]).logits[0]
    assert (ours(tokens_T) - want_TV).abs().max() < 1e-4 * want_TV.abs().max()


thetas = st.floats(2, 1e7)
factors = st.floats(1, 64)
ropes = st.one_of(
    st.builds(RopeConfig, theta=thetas, original_len=st.just(512)),
    st.builds(RopeConfig, theta=thetas, kind=st.just("linear"), factor=factors,
              original_len=st.just(512)),
    st.builds(RopeConfig, theta=thetas, kind=st.just("llama3"), factor=factors,
              original_len=st.integers(1, 10_000), low_freq_factor=st.floats(0.1, 2),
              high_freq_factor=st.floats(2.1, 9)),
    st.builds(RopeConfig, theta=thetas, kind=st.just("yarn"), factor=factors,
              original_len=st.integers(1, 10_000), beta_fast=st.floats(1, 64),
              beta_slow=st.floats(0.1, 1), attention_factor=st.floats(0.1, 3),
              truncate=st.booleans()),
)  # fmt: skip


@st.composite
def configs(draw) -> ModelConfig:
    family = draw(st.sampled_from(["llama", "mistral", "qwen2", "qwen3", "gemma3"]))
    layers, kv = draw(st.integers(1, 9)), draw(st.integers(1, 4))
    window = draw(st.none() | st.integers(1, 99))
    windows = {"llama": (None,) * layers, "mistral": (window,) * layers}.get(family) or tuple(
        window if draw(st.booleans()) else None for _ in range(layers)
    )
    gemma, bias, width = family == "gemma3", draw(st.booleans()), draw(st.integers(1, 300))
    head_size = 2 * draw(st.integers(1, 80))
    return ModelConfig(
        family=family, vocab_size=draw(st.integers(1, 300_000)), width=width,
        mlp_width=draw(st.integers(1, 999)), num_layers=layers, num_kv_heads=kv,
        num_heads=kv * draw(st.integers(1, 7)), head_size=head_size, max_len=512,
        ropes=(draw(ropes), draw(ropes)) if gemma else (draw(ropes),),
        rope_of_layer=tuple(int(w is not None) for w in windows) if gemma else (),
        windows=windows, norm_eps=draw(st.floats(0, 1e-3)), tie_embeddings=draw(st.booleans()),
        qkv_bias=family == "qwen2" or (bias and family != "mistral"),
        output_bias=bias and family not in ("qwen2", "mistral"),
        mlp_bias=family == "llama" and draw(st.booleans()),
        qk_norm=family in ("qwen3", "gemma3"), norm_plus_one=gemma, post_norms=gemma,
        embedding_scale=width**0.5 if gemma else 1.0,
        attention_scale=float(draw(st.integers(1, 999)) if gemma else head_size) ** -0.5,
        activation=draw(st.sampled_from(["silu", "gelu", "gelu_tanh"])),
        bos_token_id=draw(st.none() | st.integers(0, 99)),
        eos_token_ids=tuple(draw(st.lists(st.integers(0, 99), max_size=3, unique=True))),
    )  # fmt: skip


@settings(max_examples=100, deadline=None, derandomize=True)
@given(configs())
def test_any_config_survives_config_json(config):
    back = from_hf(json.loads(json.dumps(to_hf(config))))
    if back.family != config.family:  # the same arithmetic under the name that transformers takes
        assert (config.family, back.family) == (
            "llama",
            "mistral",
        ) and config.width % config.num_heads
        config = dataclasses.replace(config, family="mistral")
    assert back == config


@settings(max_examples=120, deadline=None, derandomize=True)
@given(st.data())
def test_any_json_in_any_field_is_read_or_refused_with_a_config_error(data):
    numbers = st.integers() | st.floats() | st.sampled_from([10**400, -(10**400), 1e308, 2**63])
    leaves = st.none() | st.booleans() | numbers | st.text(max_size=5)
    junk = st.recursive(
        leaves,
        lambda x: (
            st.lists(x, max_size=3)
            | st.dictionaries(
                st.sampled_from(["rope_type", "type", "factor", "full_attention", "truncate"]), x
            )
        ),
    )
    case = copy.deepcopy(zoo.CASES[data.draw(st.sampled_from(sorted(zoo.CASES)))])
    for name in data.draw(st.lists(st.sampled_from(sorted(case)), min_size=1, max_size=2)):
        case[name] = data.draw(junk)
    try:
        config = from_hf(case)
    except ConfigError:
        return
    assert config.vocab_size >= 1 and all(math.isfinite(r.theta) for r in config.ropes)


def test_model_config_refuses_sizes_and_tables_that_do_not_fit():
    config = zoo.config_of("llama 5:1")
    for change, named in (
        ({"num_kv_heads": 2}, "num_kv_heads"), ({"head_size": 3}, "head_size"),
        ({"windows": (None,)}, "windows"), ({"rope_of_layer": (0,) * 5}, "rope_of_layer"),
        ({"width": 0}, "width"), ({"num_layers": 2.0}, "num_layers"),
    ):  # fmt: skip
        with pytest.raises(ConfigError, match=named):
            dataclasses.replace(config, **change)


def test_bytes_of_the_cache_by_hand():
    config = zoo.config_of("llama all biases")  # 2 layers, 3 kv heads of 14 numbers, K and V
    assert config.kv_bytes_per_token(2) == 2 * 2 * 3 * 14 * 2 and config.queries_per_kv == 2
