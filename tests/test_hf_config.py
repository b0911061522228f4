"""hf_config.py: every config survives the way to a config.json and back; the unknown is refused."""

from __future__ import annotations

import json

import pytest
import transformers
from hf_models import LINEAR, LLAMA3, MODELS, SMALL, YARN, hf_model

from minillm.config import ConfigError
from minillm.hf_config import from_hf, to_hf


def theirs(name: str) -> dict:
    return json.loads(hf_model(name).config.to_json_string(use_diff=False))


@pytest.mark.parametrize("name", MODELS)
def test_round_trip(name):
    config = from_hf(theirs(name))
    data = json.loads(json.dumps(to_hf(config)))
    assert from_hf(data) == config
    again = transformers.AutoConfig.for_model(**data)
    assert from_hf(json.loads(again.to_json_string(use_diff=False))) == config


def llama(**fields) -> dict:
    return {"model_type": "llama", "rms_norm_eps": 1e-5} | SMALL | fields


@pytest.mark.parametrize("scaling", [LLAMA3, LINEAR, YARN], ids=["llama3", "linear", "yarn"])
def test_old_and_new_spelling_of_rope_scaling_are_the_same(scaling):
    """rope_scaling with `type` or `rope_type` beside rope_theta, and rope_parameters."""
    new = from_hf(llama(rope_parameters=scaling))
    rest = {k: v for k, v in scaling.items() if k not in ("rope_theta", "rope_type")}
    for key in ("type", "rope_type"):
        old = {key: scaling["rope_type"]} | rest
        assert from_hf(llama(rope_scaling=old, rope_theta=scaling["rope_theta"])) == new
    assert new.ropes[0].kind == scaling["rope_type"] and new.ropes[0].factor == scaling["factor"]


UNKNOWN = {
    "attn_logit_softcapping": 50.0, "partial_rotary_factor": 0.5, "num_experts": 8,
    "use_bidirectional_attention": True, "final_logit_softcapping": 30.0,
    "residual_multiplier": 0.2, "logits_scaling": 8.0,
    "rope_scaling": {"rope_type": "longrope", "factor": 4.0},
    "rope_parameters": {"rope_type": "yarn", "factor": 4.0, "mystery": 3},
}  # fmt: skip


@pytest.mark.parametrize("name", UNKNOWN)
def test_a_field_that_changes_the_result_is_refused_by_name(name):
    from_hf(llama())
    named = {"rope_scaling": "longrope", "rope_parameters": "mystery"}.get(name, name)
    with pytest.raises(ConfigError, match=named):
        from_hf(llama(**{name: UNKNOWN[name]}))


def test_fields_of_bookkeeping_are_ignored():
    extra = {"torch_dtype": "bfloat16", "transformers_version": "9", "_name_or_path": "x",
             "use_cache": True, "pad_token_id": 3}  # fmt: skip
    assert from_hf(llama(**extra)) == from_hf(llama())


def test_every_eos_counts():
    assert from_hf(llama(eos_token_id=[5, 7, 5])).eos_token_ids == (5, 7)
    assert from_hf(llama(eos_token_id=4)).eos_token_ids == (4,)
    assert from_hf(llama(eos_token_id=None)).eos_token_ids == ()


def test_a_field_with_an_endless_name_is_cut():
    with pytest.raises(ConfigError, match="unknown to this engine") as error:
        from_hf(llama(**{"a" * 10**5: "b" * 10**5}))
    assert len(str(error.value)) < 300
