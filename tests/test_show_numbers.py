"""Pictures of numbers: bits, ticks and shares are those that formats.py and torch compute."""

import pytest
import torch

from exercises.grading import spec
from minillm import show
from minillm.compress import formats
from minillm.show import canvas, numbers

CODES_1V = torch.arange(-8, 8, dtype=torch.int8)[None]


def row_of(count=256, seed=0):
    return torch.randn(count, generator=torch.Generator().manual_seed(seed))


@pytest.mark.parametrize("count", [1, 63, 256, 300])
def test_what_is_held_is_what_formats_computes(count):
    row_K = row_of(count)
    row_K[0] = 40.0
    want = {
        "int4": formats.symmetric(row_K[None], 4, None),
        "int4 g64": formats.symmetric(row_K[None], 4, 64),
        "NF4 g64": formats.nf4(row_K[None], 64),
    }
    for kind, coded in want.items():
        held = numbers.hold(row_K, kind)
        assert torch.equal(held.back_K, coded.dequantize()[0])
        for scale, values_V in zip(coded.scale_NG[0], held.values_RV):
            every = formats.Coded(CODES_1V, scale.view(1, 1), None, 16, coded.nf4)
            assert torch.equal(values_V, every.dequantize()[0]), "a tick for each of the 16 codes"
    scale = row_K.abs().max() / 448
    eighth = numbers.hold(row_K, "E4M3").back_K
    torch.testing.assert_close(eighth, spec.reference("8.5")(row_K / scale) * scale)
    with pytest.raises(ValueError, match="int3"):
        numbers.hold(row_K, "int3")


@pytest.mark.parametrize("kind", numbers.KINDS)
def test_every_weight_comes_back_as_the_nearest_tick_of_its_group(kind):
    row_K = row_of(300)
    held = numbers.hold(row_K, kind)
    lanes = len(held.values_RV)
    values_KV = held.values_RV.repeat_interleave(64 if lanes > 1 else 300, 0)[:300]
    nearest_K = (values_KV - row_K[:, None]).abs().amin(1)
    torch.testing.assert_close((held.back_K - row_K).abs(), nearest_K, rtol=1e-4, atol=1e-6)


def test_a_row_of_zeros_has_no_share():
    held = numbers.hold(torch.zeros(70), "E4M3")
    assert held.back_K.tolist() == [0] * 70
    assert numbers.zero_share(torch.zeros(70), held) == 0
    assert numbers.zero_share(torch.tensor([0.0, 1e-9, 1.0, 1.0]), numbers.hold(
        torch.tensor([0.0, 1e-9, 1.0, 1.0]), "int4")) == 0.25  # fmt: skip


def drawn(axis):
    """(heights of all bars, heights of the dark ones, places of the ticks) of one panel."""
    from matplotlib.colors import to_hex

    dark = show.PALETTE["vermilion"].lower()
    bars = [(to_hex(p.get_facecolor()), p.get_height()) for p in axis.patches]
    bars = [b for b in bars if b[0] in (dark, show.PALETTE["pale"].lower())]
    ticks = [s[0][0] for c in axis.collections for s in c.get_segments()]
    every, zeros = ([h for c, h in bars if (c == dark) == want] for want in (False, True))
    return every, zeros, ticks


def test_the_panels_show_every_weight_every_zero_and_every_tick():
    row_K = row_of()
    made = show.weight_row(row_K)
    for axis, kind in zip(made.figure.axes, numbers.KINDS):
        held = numbers.hold(row_K, kind)
        share = numbers.zero_share(row_K, held)
        every, zeros, ticks = drawn(axis)
        assert len(every) == len(zeros) == numbers.BINS
        assert sum(zeros) / sum(every) == pytest.approx(share, abs=1e-4)
        span = axis.get_xlim()[1]
        want = held.values_RV[held.values_RV.abs() <= span]
        assert sorted(ticks) == pytest.approx(sorted(want.tolist()))
        assert f"{share:.1%}" in [t.get_text() for t in axis.texts]
        assert f"{kind} {share:.1%}" in made.alt


def test_the_slider_moves_one_weight():
    row_K = row_of()
    made = show.microscope(row_K, (4, 16, 64), place=7)
    assert made.values == made.static == (4, 16, 64), "a twin of three frames"
    others_K = torch.cat([row_K[:7], row_K[8:]])
    shares = []
    for size in made.values:
        moved_K = row_K.clone()
        moved_K[7] = size * others_K.std()
        picture = made.picture(size)
        assert picture.alt == show.weight_row(moved_K, span=1.1 * float(others_K.abs().max())).alt
        if size > 4:  # outside of what is shown: an arrow says how large it is
            said = [t.get_text() for t in picture.figure.axes[0].texts]
            assert canvas.short(float(moved_K[7])) in said
        shares.append(numbers.zero_share(moved_K, numbers.hold(moved_K, "int4")))
    assert shares == sorted(shares) and shares[-1] > 0.95
    assert torch.equal(row_K, row_of()), "the row itself is left alone"
    assert made.twin()[1].count("Share that becomes 0") == 3


@pytest.mark.parametrize("name", numbers.FLOATS)
@pytest.mark.parametrize("value", [0.1, -6.5, 1.0, 300.0, 0.0])
def test_the_bits_say_the_number(name, value):
    dtype, exponent, mantissa = numbers.FLOATS[name]
    sign, e, m = numbers.bits_of(value, name)
    assert (len(sign), len(e), len(m)) == (1, exponent, mantissa)
    bias, fraction = 2 ** (exponent - 1) - 1, int(m, 2) / 2**mantissa
    size = (int(e, 2) > 0) + fraction  # subnormal: no leading 1
    read = (-1) ** int(sign) * size * 2.0 ** (max(int(e, 2), 1) - bias)
    assert read == float(torch.tensor(value).to(dtype))


def test_a_number_line_counts_different_values():
    made = show.number_line({"a": [0.0, -0.0, 1, 2, 3], "b": [5.0]}, span=2.5)
    assert "a has 4 values, 3 of them here; b has 1 values, 0 of them here" in made.alt
