"""The transformer's logits: every family against transformers and against the slow reference."""

from __future__ import annotations

import pytest
import reference
import torch
import zoo

from minillm import ops
from minillm.cache.simple import NoCache
from minillm.config import ModelConfig
from minillm.model import Transformer

LENGTH = 23  # more than every window, more than the original length of the scaled RoPEs


def difference(got, want) -> float:
    """Largest deviation, as a share of the largest logit."""
    assert got.shape == want.shape and bool(torch.isfinite(want).all())
    return float((got.double() - want.double()).abs().max() / want.double().abs().max())


@pytest.mark.parametrize("attention", ["eager", "sdpa"])
@pytest.mark.parametrize("name", zoo.CASES)
def test_logits_equal_transformers(name, attention):
    theirs, ours = zoo.theirs_and_ours(zoo.CASES[name], attention)
    tokens_T = zoo.random_tokens(LENGTH)
    with torch.inference_mode():
        want_TV = theirs(tokens_T[None]).logits[0]
        assert difference(ours(tokens_T), want_TV) < 1e-4


@pytest.mark.parametrize("name", zoo.CASES)
def test_logits_equal_the_slow_reference(name):
    model = zoo.random_model(name)
    tokens_T = zoo.random_tokens(LENGTH, seed=1)
    want_TV = reference.logits(model.config, model.state_dict(), tokens_T.tolist())
    assert difference(model(tokens_T), torch.from_numpy(want_TV)) < 1e-10


@pytest.mark.parametrize("name", zoo.CASES)
def test_positions_far_beyond_the_original_length(name):
    """Distances of thousands of tokens, where every stretched wavelength shows."""
    theirs, ours = zoo.theirs_and_ours(zoo.CASES[name])
    tokens_T, pos_T = zoo.random_tokens(6, seed=2), torch.tensor([0, 7, 1000, 1003, 5000, 8192])
    with torch.inference_mode():
        # A mask is given: without one, transformers takes a jump for the start of a new sequence.
        mask = torch.ones(1, 6, dtype=torch.long)
        their_V = theirs(tokens_T[None], attention_mask=mask, position_ids=pos_T[None]).logits[0]
        assert difference(ours(tokens_T, pos_T), their_V) < 1e-4
    want_TV = reference.logits(ours.config, ours.state_dict(), tokens_T.tolist(), pos_T.tolist())
    assert difference(ours.double()(tokens_T, pos_T), torch.from_numpy(want_TV)) < 1e-10


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
@pytest.mark.parametrize("name", zoo.ONE_OF_EACH)
def test_16_bit_error_is_at_most_twice_that_of_transformers(name, dtype):
    theirs, ours = zoo.theirs_and_ours(zoo.CASES[name])
    theirs, ours = theirs.to(dtype), ours.to(dtype)
    tokens_T = zoo.random_tokens(LENGTH, seed=3)
    state = ours.state_dict()  # already rounded: only the arithmetic is compared
    want_TV = torch.from_numpy(reference.logits(ours.config, state, tokens_T.tolist()))
    with torch.inference_mode():
        got_TV, their_TV = ours(tokens_T), theirs(tokens_T[None]).logits[0]
    assert got_TV.dtype == dtype
    error = lambda x: float((x.double() - want_TV).square().mean().sqrt())
    assert error(got_TV) <= 2 * error(their_TV)
    assert error(their_TV) < 0.1 * want_TV.std()  # the oracle is no nonsense either


@pytest.mark.parametrize("name", zoo.ONE_OF_EACH)
def test_rows_asks_for_some_logits_only(name):
    model, tokens_T = zoo.random_model(name), zoo.random_tokens(9)
    all_TV = model(tokens_T)
    rows = torch.tensor([8, 0, 3, 3])
    assert torch.allclose(model(tokens_T, rows=rows), all_TV[rows], rtol=0, atol=1e-12)
    assert model(tokens_T, rows=torch.tensor([], dtype=torch.long)).shape == (0, zoo.VOCAB)


@pytest.mark.parametrize("name", zoo.ONE_OF_EACH)
def test_a_token_sees_no_later_one(name):
    model, tokens_T = zoo.random_model(name), zoo.random_tokens(12)
    changed_T = tokens_T.clone()
    changed_T[7] = (changed_T[7] + 1) % zoo.VOCAB
    before_TV, after_TV = model(tokens_T), model(changed_T)
    assert torch.equal(before_TV[:7], after_TV[:7])
    assert (before_TV[7:] != after_TV[7:]).any(dim=1).all()


def test_the_scaling_of_llama3_shows_at_8192_and_not_at_0():
    data = zoo.CASES["llama 5:1"]
    scaling = {"rope_type": "llama3"} | zoo.LLAMA3
    scaled = zoo.theirs_and_ours(data | {"rope_scaling": scaling})[1]
    plain = zoo.theirs_and_ours(data)[1]
    tokens_T = zoo.random_tokens(2)
    near, far = torch.tensor([0, 0]), torch.tensor([0, 8192])
    assert torch.equal(scaled(tokens_T, near), plain(tokens_T, near))
    assert difference(scaled(tokens_T, far)[1:], plain(tokens_T, far)[1:]) > 1e-3


def test_gemma_turns_its_local_and_global_layers_by_their_own_base():
    config = zoo.config_of("gemma3")
    assert config.windows == (6, None, 6) and config.rope_of_layer == (1, 0, 1)
    assert [r.theta for r in config.ropes] == [5000.0, 70.0]
    assert [r.factor for r in config.ropes] == [3.0, 1.0]


def test_positions_follow_the_memory():
    model, tokens_T = zoo.random_model("llama 5:1"), zoo.random_tokens(5)
    memory = NoCache(model.config)
    memory.length = 3  # a memory that says it holds 3 tokens: the new ones are 3, 4, 5 ...
    want_TV = model(tokens_T, torch.arange(3, 8))
    assert torch.equal(model(tokens_T, memory=memory), want_TV)


def test_every_token_needs_its_own_position():
    model, tokens_T = zoo.random_model("llama 5:1"), zoo.random_tokens(5)
    for tokens, pos in [(tokens_T, tokens_T[:1]), (tokens_T, tokens_T[:3]), (tokens_T[None], None)]:
        with pytest.raises(AssertionError, match="both \\[T\\]"):  # one would be broadcast
            model(tokens, pos)


@pytest.mark.parametrize("tied", [True, False])
def test_parameters_and_bytes_are_counted_once(tied):
    config = ModelConfig(
        family="llama", vocab_size=111, width=8, mlp_width=12, num_layers=2, num_heads=2,
        num_kv_heads=1, head_size=4, max_len=16, tie_embeddings=tied,
    )  # fmt: skip
    model = Transformer(config)
    blocks = 2 * (8 * 8 + 2 * 8 * 4 + 8 * 8 + 3 * 8 * 12)
    norms = (2 * 2 + 1) * 8
    assert model.num_parameters() == blocks + norms + 111 * 8 * (1 if tied else 2)
    table = model.to(torch.bfloat16).weight_bytes()
    assert table["embedding"] == {"bfloat16": 2 * 111 * 8}
    assert table["head"] == ({} if tied else {"bfloat16": 2 * 111 * 8})
    assert table["linear"] == {"bfloat16": 2 * blocks} and table["other"] == {"bfloat16": 2 * norms}


def test_kept_rope_tables_follow_the_position_across_blocks_and_into_gradients():
    """Steps of one token read their tables from a kept block: every place, also after a jump."""
    from minillm.model import ROPE_BLOCK

    model = zoo.random_model(next(iter(zoo.CASES)))
    config = model.config
    freq = ops.rope_frequencies(config.ropes[0], config.head_size, torch.float64)
    x_1D = torch.zeros(1, config.width, dtype=torch.float64)
    for start in (0, 5, ROPE_BLOCK - 1, ROPE_BLOCK, 3 * ROPE_BLOCK + 7, 1):
        with torch.inference_mode():
            (got,) = model._next_tables(start, 1, x_1D)
        angle = start * freq
        assert torch.allclose(got[0][0, 0], torch.cat((angle, angle)).cos(), rtol=0, atol=1e-12)
        assert torch.allclose(got[1][0, 0], torch.cat((-angle, angle)).sin(), rtol=0, atol=1e-12)
    model.requires_grad_(True)
    model(torch.tensor([3])).sum().backward()  # tables made in inference mode would raise here
    assert model.embedding.weight.grad is not None


@pytest.mark.parametrize("kind", ["forward", "forward_pre", "backward", "backward_pre"])
def test_hooks_on_every_kind_of_module_are_called(kind):
    """Modules are called directly only while they have no hook."""
    model, seen = zoo.random_model("qwen3"), []
    model.requires_grad_(True)
    layer = model.layers[0]
    parts = [layer, layer.attention, layer.mlp, layer.attention_norm, layer.mlp.down, model.head]
    register = {"forward": "register_forward_hook", "forward_pre": "register_forward_pre_hook",
                "backward": "register_full_backward_hook",
                "backward_pre": "register_full_backward_pre_hook"}[kind]  # fmt: skip
    handles = [getattr(p, register)(lambda m, *_: seen.append(m)) for p in parts]
    model(zoo.random_tokens(3)).sum().backward()
    assert len(seen) == len(parts) and all(any(m is p for m in seen) for p in parts)
    for handle in handles:
        handle.remove()
    model(zoo.random_tokens(3))
    assert len(seen) == len(parts)
    x_TD = torch.randn(3, model.config.width, dtype=torch.float64)
    assert torch.equal(layer.mlp(x_TD=x_TD), layer.mlp(x_TD)), "arguments by name"
