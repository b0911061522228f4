"""Norms with few operations equal the norms written out; numbers made once serve everybody."""

from __future__ import annotations

import threading

import pytest
import torch

from minillm import norms, ops
from minillm.model import RMSNorm
from minillm.scalars import scalar

HEADS, GROUPS, SIZE, EPS = 6, 2, 16, 1e-3


def draw(*shape: int, seed: int = 0, dtype=torch.float64) -> torch.Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed)).to(dtype)


def written_out(x, weight, eps: float, plus_one: bool) -> torch.Tensor:
    x, weight = x.double(), weight.double()
    return x / (x.square().mean(-1, keepdim=True) + eps).sqrt() * (weight + plus_one)


def norm_of(plus_one: bool, seed: int, dtype=torch.float64) -> RMSNorm:
    norm = RMSNorm(SIZE, EPS, plus_one).to(dtype)
    norm.weight.data.copy_(draw(SIZE, seed=seed))
    return norm


def two_norms(plus_one: bool, dtype=torch.float64) -> tuple[RMSNorm, RMSNorm]:
    return norm_of(plus_one, 1, dtype), norm_of(plus_one, 2, dtype)


def apart(qk_THK, q_norm, k_norm):
    """Each part by itself, written out, then side by side."""
    parts = (qk_THK[:, :HEADS], q_norm), (qk_THK[:, HEADS:], k_norm)
    return torch.cat([written_out(x, n.weight, n.eps, n.plus_one) for x, n in parts], dim=1)


@pytest.fixture
def calls(count_calls):
    """How often ops.norm_heads took the joint way."""
    return count_calls(ops, "plain_norm_heads")


@pytest.mark.parametrize("plus_one", [False, True])
@pytest.mark.parametrize("tokens", [0, 1, 5, 70])
def test_both_norms_in_one_pass(tokens, plus_one, calls):
    q_norm, k_norm = two_norms(plus_one)
    qk_THK = draw(tokens, HEADS + GROUPS, SIZE) * 5
    before = qk_THK.clone()
    with torch.no_grad():
        got = ops.norm_heads(qk_THK, q_norm, k_norm, HEADS)
    assert calls and torch.equal(qk_THK, before)
    assert torch.allclose(got, apart(qk_THK, q_norm, k_norm), rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("plus_one", [False, True])
def test_a_part_of_a_wider_product_is_normalised_and_left_as_it_was(plus_one):
    """As the model calls it: q and k are views of [q; k; v]."""
    q_norm, k_norm = two_norms(plus_one)
    qkv = draw(7, HEADS + 2 * GROUPS, SIZE)
    before, (qk_THK, _) = qkv.clone(), qkv.split_with_sizes((HEADS + GROUPS, GROUPS), dim=1)
    with torch.inference_mode():
        got = ops.norm_heads(qk_THK, q_norm, k_norm, HEADS)
    assert torch.equal(qkv, before)
    assert torch.allclose(got, apart(qk_THK, q_norm, k_norm), rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("which", [0, 1])
@pytest.mark.parametrize("kind", ["register_forward_hook", "register_forward_pre_hook"])
def test_hooks_of_both_norms_are_called(kind, which, calls):
    both, seen = two_norms(False), []
    handle = getattr(both[which], kind)(lambda _, x, *y: seen.append(x[0].shape))
    qk_THK = draw(3, HEADS + GROUPS, SIZE)
    with torch.no_grad():
        got = ops.norm_heads(qk_THK, *both, HEADS)
        assert seen == [(3, (HEADS, GROUPS)[which], SIZE)] and not calls
        assert torch.allclose(got, apart(qk_THK, *both), rtol=1e-12, atol=1e-12)
        handle.remove()
        ops.norm_heads(qk_THK, *both, HEADS)
    assert calls


@pytest.mark.parametrize("plus_one", [False, True])
def test_gradients_flow_through_both_norms(plus_one, calls):
    both, qk_THK = two_norms(plus_one), draw(4, HEADS + GROUPS, SIZE).requires_grad_()
    wanted = (qk_THK, both[0].weight, both[1].weight)
    side = draw(4, HEADS + GROUPS, SIZE, seed=9)
    got = torch.autograd.grad((ops.norm_heads(qk_THK, *both, HEADS) * side).sum(), wanted)
    want = torch.autograd.grad((apart(qk_THK, *both) * side).sum(), wanted)
    assert not calls
    assert all(torch.allclose(a, b, rtol=1e-10, atol=1e-12) for a, b in zip(got, want))


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_16_bits_go_the_other_way(dtype, calls):
    """There the weight comes after rounding, as transformers does it."""
    both, qk_THK = two_norms(False, dtype), draw(4, HEADS + GROUPS, SIZE, dtype=dtype)
    with torch.no_grad():
        got = ops.norm_heads(qk_THK, *both, HEADS)
    assert got.dtype == dtype and not calls
    off = (got.double() - apart(qk_THK, *both)).abs()
    assert (off <= 2 * torch.finfo(dtype).eps * apart(qk_THK, *both).abs().max()).all()


@pytest.mark.parametrize("change", ["another module", "another eps", "another gain"])
def test_norms_that_somebody_changed_are_obeyed(change):
    q_norm, k_norm = two_norms(False)
    qk_THK = draw(4, HEADS + GROUPS, SIZE)
    if change == "another eps":
        k_norm.eps = 0.5
        want = apart(qk_THK, q_norm, k_norm)
    elif change == "another gain":
        k_norm.plus_one = True
        want = apart(qk_THK, q_norm, k_norm)
    else:
        want = torch.cat((apart(qk_THK, q_norm, k_norm)[:, :HEADS], qk_THK[:, HEADS:]), dim=1)
        k_norm = torch.nn.Identity()
    with torch.no_grad():
        got = ops.norm_heads(qk_THK, q_norm, k_norm, HEADS)
    assert torch.allclose(got, want, rtol=1e-12, atol=1e-12)


class Doubled(RMSNorm):
    """Somebody's norm, of both q and k."""

    def forward(self, x_TD):
        return 2 * super().forward(x_TD)


def test_two_norms_of_another_class_are_called():
    both, other = two_norms(False), []
    for norm in both:
        other.append(Doubled(SIZE, norm.eps, norm.plus_one))
        other[-1].weight.data = norm.weight.data
    qk_THK = draw(4, HEADS + GROUPS, SIZE)
    with torch.no_grad():
        got = ops.norm_heads(qk_THK, *other, HEADS)
    assert torch.allclose(got, 2 * apart(qk_THK, *both), rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("plus_one", [False, True])
@pytest.mark.parametrize("dtype", [torch.float64, torch.float32])
def test_one_row_equals_many_and_the_norm_written_out(dtype, plus_one, monkeypatch):
    x_TD, weight_D = draw(3, 40, dtype=dtype), draw(40, seed=5, dtype=dtype)
    taken, real = [], norms.rms_norm_row
    monkeypatch.setattr(ops, "rms_norm_row", lambda *given: taken.append(1) or real(*given))
    step = 1e-12 if dtype == torch.float64 else 1e-6
    want = written_out(x_TD, weight_D, EPS, plus_one)
    many = norms.plain_rms_norm(x_TD, weight_D, EPS, plus_one)
    assert torch.allclose(many.double(), want, rtol=step, atol=step)
    for row in range(3):
        one = x_TD[row : row + 1].clone()
        with torch.no_grad():
            got = ops.rms_norm(one, weight_D, EPS, plus_one)
        assert got.dtype == dtype and torch.equal(one[0], x_TD[row])
        assert torch.allclose(got[0].double(), want[row], rtol=step, atol=step)
    assert len(taken) == 3
    ops.rms_norm(x_TD[:1], weight_D, EPS, plus_one)  # with gradients
    assert len(taken) == 3


@pytest.mark.parametrize("plus_one", [False, True])
def test_gradients_of_a_norm_are_right_also_at_zero(plus_one):
    x_TD, weight_D = draw(3, 8), draw(8, seed=5).requires_grad_()
    x_TD[1] = 0
    x_TD.requires_grad_()
    norm = lambda x, weight: norms.plain_rms_norm(x, weight, EPS, plus_one)
    assert torch.autograd.gradcheck(norm, (x_TD[::2].detach().requires_grad_(), weight_D))
    side = draw(3, 8, seed=7)
    got = torch.autograd.grad((norm(x_TD, weight_D) * side).sum(), (x_TD, weight_D))
    plain = written_out(x_TD, weight_D, EPS, plus_one)
    want = torch.autograd.grad((plain * side).sum(), (x_TD, weight_D))
    assert all(torch.allclose(a, b, rtol=1e-10, atol=1e-10) for a, b in zip(got, want))


def test_numbers_made_once_serve_inference_and_training():
    scalar.cache_clear()
    with torch.inference_mode():
        number = scalar(0.25)
        assert (number * torch.ones(2)).tolist() == [0.25, 0.25]
    assert not number.is_inference() and not number.requires_grad
    x = torch.ones(2, requires_grad=True)
    (x * scalar(0.25)).sum().backward()
    assert scalar(0.25) is number and x.grad.tolist() == [0.25, 0.25]


def test_numbers_have_the_dtype_and_place_that_is_asked_for():
    assert scalar(0.1).dtype == torch.float32 and scalar(0.1).shape == ()
    wide = scalar(0.1, torch.float64)
    assert wide.dtype == torch.float64 and wide.item() == 0.1
    with torch.device("meta"):
        assert scalar(0.375).item() == 0.375
    assert scalar(0.1, torch.float32, "meta").is_meta


def test_no_function_writes_to_a_shared_number():
    """Every number that is kept still has its value after all that use them have run."""
    from minillm import fbgemm_ops, int8_ops

    scalar.cache_clear()
    kept, made = {}, scalar

    def remember(value, *more):
        kept[(value, *more)] = made(value, *more)
        return kept[(value, *more)]

    with pytest.MonkeyPatch.context() as patch, torch.no_grad():
        for module in (norms, int8_ops, fbgemm_ops):
            patch.setattr(module, "scalar", remember)
        for plus_one in (False, True):
            norms.rms_norm_row(draw(1, 16), draw(16), EPS, plus_one)
            norms.plain_rms_norm(draw(3, 16), draw(16), EPS, plus_one)
            norms.plain_norm_heads(draw(3, 8, SIZE), *two_norms(plus_one), HEADS)
        codes_NK = torch.ones(3, 32, dtype=torch.int8)
        for rows in (1, 3):
            int8_ops.two_bytes(draw(rows, 32))
            if int8_ops.usable():
                layout = int8_ops.int8_layout(codes_NK, torch.ones(3, 1))
                int8_ops.w8a8(draw(rows, 32), layout)
            if fbgemm_ops.usable():
                packed = fbgemm_ops.pack(codes_NK, torch.ones(3))
                fbgemm_ops.w8a8(draw(rows, 32), packed)
                fbgemm_ops.w8a16(draw(rows, 32), packed)
    assert len(kept) >= 4
    for (value, *more), number in kept.items():
        assert torch.equal(number, torch.tensor(value, dtype=number.dtype)), (value, more)


def test_threads_find_the_same_number():
    scalar.cache_clear()
    found = []
    threads = [threading.Thread(target=lambda: found.append(scalar(7.5))) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [number.item() for number in found] == [7.5] * 8
