"""Chapter 12: references agree with the package, and with least squares done from scratch."""

import itertools
import random

import pytest
import torch

from exercises.grading import spec
from exercises.grading.judge import Wrong, normal
from minillm.compress.gptq import inverse_factor
from minillm.compress.masks import count_pruned, lowest, lowest_of_groups, lowest_of_rows
from minillm.compress.prune import prune
from minillm.compress.sparse import pack_24, pack_bits, sparse_bytes, unpack_24
from minillm.compress.sparsegpt import sparsegpt
from minillm.load import load
from tools import record_fragility as record


@pytest.fixture(scope="module")
def tiny():
    return load("tiny", dtype="fp32")


def inputs(rng, tokens: int, columns: int):
    """Inputs that move together, float64 [T, K]."""
    x_TK = normal(rng, tokens, columns, dtype=torch.float64)
    return x_TK @ normal(rng, columns, columns, dtype=torch.float64)


def loss_of_row(x_TK, change_K) -> float:
    """Sum over tokens of (change of the output)^2."""
    return float((x_TK @ change_K).square().sum())


@pytest.mark.parametrize("sparsity", [0.0, 0.3, 0.5, 1.0])
def test_the_magnitude_mask_is_the_packages(tiny, sparsity):
    """12.1 against prune(), and with ties against its rule."""
    mask_of = spec.reference("12.1")
    weight_NK = tiny[0].layers[1].attention.o.weight.detach()
    pruned_NK = prune(tiny[0], "magnitude", sparsity).layers[1].attention.o.weight
    mask_NK = mask_of(weight_NK, sparsity)
    assert torch.equal(weight_NK.masked_fill(~mask_NK, 0.0), pruned_NK)
    assert int((~mask_NK).sum()) == int(sparsity * weight_NK.numel() + 0.5)
    coarse_NK = (weight_NK[:33, :31] / weight_NK.std() * 2).round()  # -0.0 too
    assert len(coarse_NK.abs().unique()) < 12 and bool(
        torch.signbit(coarse_NK[coarse_NK == 0]).any()
    )
    want_NK = lowest(coarse_NK.abs(), count_pruned(sparsity, coarse_NK.numel()))
    assert torch.equal(mask_of(coarse_NK, sparsity), want_NK)


@pytest.mark.parametrize("sparsity", [0.25, 0.5])
def test_the_wanda_mask_is_the_packages(tiny, sparsity):
    """12.2 with the inputs of the first layer, whose q, k and v are matrices of their own."""
    model, tokenizer = tiny
    texts = record.tales(model, tokenizer)[:4]
    first = model.layers[0]
    with torch.inference_mode():
        x_TK = torch.cat([first.attention_norm(model.embedding(torch.tensor(t))) for t in texts])
    rows = model.config.num_heads * model.config.head_size
    weight_NK = first.attention.qkv.weight.detach()[:rows]
    mask_NK = spec.reference("12.2")(weight_NK.double(), x_TK.double(), sparsity)
    new = prune(model, "wanda", sparsity, calibration=texts)
    pruned_NK = new.layers[0].attention.qkv.weight[:rows]
    assert torch.equal(weight_NK.masked_fill(~mask_NK, 0.0), pruned_NK)
    by_size_NK = lowest_of_rows(weight_NK.abs(), count_pruned(sparsity, weight_NK.shape[1]))
    assert not torch.equal(mask_NK, by_size_NK)  # the inputs count


def test_dead_inputs_and_twins_as_the_package_orders_them():
    for seed in range(5):
        for case in spec.cases("12.2", seed):
            scores_NK = case["weight_NK"].abs() * case["x_TK"].square().sum(0).sqrt()
            want_NK = lowest_of_rows(scores_NK, count_pruned(case["sparsity"], scores_NK.shape[1]))
            assert torch.equal(spec.reference("12.2")(**case), want_NK)


def questions() -> list[dict]:
    check = spec.check_of("12.3")
    return [dict(zip(check.NAMES, one)) for one in check.QUESTIONS]


@pytest.mark.parametrize("case", questions(), ids=str)
def test_ratios_of_bytes_are_the_packages(case):
    """12.3 against sparse_bytes, at 50% and where CSR is as large as dense."""
    N, K, value = case["N"], case["K"], case["bits"] / 8
    want = spec.reference("12.3")(**case)
    dense = sparse_bytes(N, K, 0.5, "dense", value)
    for form in ("csr", "bitmask", "2:4"):
        assert want[form] == pytest.approx(sparse_bytes(N, K, 0.5, form, value) / dense, rel=1e-12)
    assert sparse_bytes(N, K, want["even"], "csr", value) == pytest.approx(dense, rel=1e-12)


def test_ratios_of_bytes_are_those_of_real_tensors():
    rng = random.Random(3)
    weight_NK = normal(rng, 96, 512)
    weight_NK *= spec.reference("12.4")().keep(weight_NK)
    weight_NK = weight_NK.half()
    want = spec.reference("12.3")(96, 512, 16)
    csr = weight_NK.float().to_sparse_csr()
    indices = csr.crow_indices().int(), csr.col_indices().int()
    size = {
        "csr": csr.values().half().nbytes + sum(i.nbytes for i in indices),
        "bitmask": sum(t.nbytes for t in _tensors(pack_bits(weight_NK))),
        "2:4": sum(t.nbytes for t in _tensors(pack_24(weight_NK))),
    }
    for form, count in size.items():
        assert count == round(want[form] * weight_NK.nbytes), form


def _tensors(packed) -> list:
    return [v for v in vars(packed).values() if torch.is_tensor(v)]


@pytest.mark.parametrize("case", questions(), ids=str)
def test_no_misconception_lies_within_the_band(case):
    """12.3: every number that a wrong answer changes is refused by itself."""
    check, want = spec.check_of("12.3"), spec.reference("12.3")(**case)
    check.judge(case, want)
    for answer in spec.variants("12.3", "wrong").values():
        changed = {k: v for k, v in answer(**case).items() if abs(v - want[k]) > 0.01 * want[k]}
        assert changed
        for key, value in changed.items():
            with pytest.raises(Wrong, match=key):
                check.judge(case, want | {key: value})


def test_the_tracked_file_asks_the_first_question():
    text = spec.fresh_text("12.3", "")
    assert "{{" not in text and text.endswith("answer = None\n")
    kept = spec.learner_file("12.3").read_text("utf-8")
    if kept.endswith("answer = None\n"):  # nobody has answered it here
        assert kept == text


def test_two_of_four_is_the_packages():
    """12.4: the same mask, the same bytes, and each unpacks what the other packed."""
    form = spec.reference("12.4")()
    for seed, (rows, columns) in enumerate([(1, 4), (3, 12), (5, 64), (7, 100)]):
        weight_NK = normal(random.Random(seed), rows, columns)
        weight_NK[:, 1] = -weight_NK[:, 0]  # a tie
        keep_NK = form.keep(weight_NK)
        assert torch.equal(keep_NK, lowest_of_groups(weight_NK.abs(), (2, 4)))
        assert not bool((keep_NK[:, 0] & ~keep_NK[:, 1]).any())
        pruned_NK = weight_NK * keep_NK
        packed, (value_NV, bytes_NB) = pack_24(pruned_NK), form.pack(weight_NK)
        assert torch.equal(packed.values_NK2, value_NV) and torch.equal(packed.places, bytes_NB)
        assert torch.equal(form.unpack(value_NV, bytes_NB), unpack_24(packed))
        assert torch.equal(unpack_24(packed), pruned_NK)
    for method in (form.keep, form.pack, pack_24):
        with pytest.raises(ValueError, match="10"):
            method(torch.ones(2, 10))


@pytest.mark.parametrize("rows, columns", [(1, 2), (6, 19)])
def test_column_after_column_is_the_packages_sparsegpt(rows, columns):
    """12.5 with the package's choice gives its matrix; the costs add up to the whole loss."""
    rng = random.Random(columns)
    x_TK = inputs(rng, 3 * columns, columns)
    hessian_KK = x_TK.T @ x_TK
    weight_NK = normal(rng, rows, columns, dtype=torch.float64)
    upper_KK = inverse_factor(hessian_KK, damp=0.0)
    want_NK = sparsegpt(weight_NK, hessian_KK, 0.5, upper_KK=upper_KK)
    work_NK, total_N = weight_NK, torch.zeros(rows, dtype=torch.float64)
    for k in range(columns):
        drop_N = want_NK[:, k] == 0
        work_NK, cost_N = spec.reference("12.5")(work_NK, upper_KK, k, drop_N)
        total_N += cost_N * drop_N
    torch.testing.assert_close(work_NK, want_NK)
    assert 0 < int((want_NK == 0).sum()) == count_pruned(0.5, rows * columns)
    for n in range(rows):
        assert loss_of_row(x_TK, want_NK[n] - weight_NK[n]) == pytest.approx(float(total_N[n]))


def least_loss(x_TK, w_K, k: int) -> float:
    """What dropping weight k costs if all others mend it, by least squares."""
    rest = [j for j in range(len(w_K)) if j != k]
    target_T1 = (w_K[k] * x_TK[:, k])[:, None]
    if not rest:
        return float(target_T1.square().sum())
    made = torch.linalg.lstsq(x_TK[:, rest], target_T1, driver="gelsd").solution
    return float((target_T1 - x_TK[:, rest] @ made).square().sum())


@pytest.mark.parametrize("dead", [0, 2, 5])
def test_the_cheapest_weights_are_those_that_cost_least(dead):
    """12.6 against least squares, weight by weight, with and without dead inputs."""
    rng = random.Random(dead)
    x_TK, weight_NK = inputs(rng, 40, 9), normal(rng, 3, 9, dtype=torch.float64)
    x_TK[:, rng.sample(range(9), dead)] = 0
    for count in range(10):
        mask_NK = spec.reference("12.6")(weight_NK, x_TK.T @ x_TK, count / 9)
        for w_K, keep_K in zip(weight_NK, mask_NK.tolist()):
            order = sorted(range(9), key=lambda k, w_K=w_K: (least_loss(x_TK, w_K, k), k))
            assert {k for k in range(9) if not keep_K[k]} == set(order[:count])


def variants() -> dict:
    """The four faults of 12.6, and the reference."""
    files = sorted(spec.file_of("12.6", "fresh").parent.glob("ex6*.py"))
    found = {f.stem: spec.load_module(f).cheapest_mask for f in files}
    return found | {"right": spec.reference("12.6")}


def test_every_fault_shows_what_its_users_say():
    """12.6: right where inputs are alive and alike; wrong as the text of each variant tells."""
    rng, answers = random.Random(1), variants()
    x_TK, weight_NK = inputs(rng, 60, 20), normal(rng, 8, 20, dtype=torch.float64)
    masks = lambda x_TK, share: {
        name: answer(weight_NK, x_TK.T @ x_TK, share) for name, answer in answers.items()
    }
    alive = masks(x_TK, 0.5)
    assert len(alive) == 5 and all(torch.equal(m, alive["right"]) for m in alive.values())
    x_TK[:, :8] = 0  # 40%
    some = masks(x_TK, 0.25)
    assert not bool(some["right"][:, :8].all(1).any())
    assert bool(some["ex6"][:, :8].all())  # dead weights all stay
    assert ((~some["ex6_b"]).double().mean(1) == 0.4).all()  # 25% were asked for
    assert bool(some["ex6_c"][:, :8].any(1).all())
    assert int(some["ex6_c"][:, :8].sum()) > int(some["right"][:, :8].sum())
    assert torch.equal(some["ex6_d"], some["right"])
    x_TK[:, 19] *= 100
    loud = masks(x_TK, 0.5)
    assert bool((loud["ex6_d"] != loud["right"]).any())


@pytest.mark.parametrize("one, other", [*itertools.combinations(sorted(variants()), 2)])
def test_no_two_faults_are_the_same(one, other):
    answers = variants()
    cases = spec.cases("12.6", "x")
    assert any(not torch.equal(answers[one](**c), answers[other](**c)) for c in cases)
