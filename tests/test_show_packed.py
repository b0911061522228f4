"""Eight codes in a word, and the bar of seats: what is drawn is what the package would hold."""

import pytest
import torch
from matplotlib.colors import to_hex

from minillm import show
from minillm.compress.packing import pack

CODES = [0, -8, 7, 3, -1, 5, -4, 2]
TILE = 2 * 80 * 8 * 128 * 2 * 4096  # K and V of 4,096 tokens of a 70B model, bytes


def written(picture) -> list[tuple[str, float]]:
    return [(t.get_text(), t.get_position()[0]) for t in picture.figure.axes[0].texts]


def bars(picture, color: str) -> list[tuple[float, float]]:
    """(left end, right end) of all bars of a colour, GB."""
    found = [
        p for p in picture.figure.axes[0].patches if to_hex(p.get_facecolor()) == color.lower()
    ]
    return [(p.get_x(), p.get_x() + p.get_width()) for p in found]


def test_the_word_in_the_picture_is_that_of_the_package():
    fields = sorted((x, text) for text, x in written(show.nibbles(CODES)) if len(text) == 4)
    assert len(fields) == 8
    word = int("".join(text for _, text in fields), 2)
    packed = pack(torch.tensor([CODES], dtype=torch.int8), 4).item()
    assert word == packed % 2**32
    assert "1010 0100 1101 0111 1011 1111 0000 1000" in show.nibbles(CODES).alt


@pytest.mark.parametrize("codes", [[0] * 7, [0] * 9, [8] + [0] * 7, [-9] + [0] * 7])
def test_a_word_takes_eight_codes_of_four_bits(codes):
    with pytest.raises(ValueError, match="eight codes from -8 to 7"):
        show.nibbles(codes)


@pytest.mark.parametrize("each, seats", [(2, 0), (1 + 2 / 8192, 1), (0.5 + 2 / 32, 24)])
def test_tiles_begin_after_the_slack_and_end_on_the_gpu(each, seats):
    """All weights coded: fp16 does not fit, int8 leaves one tile, int4 (groups of 32) 24."""
    made = show.seat_bar(80e9, show.Load("", 70.55e9 * each, 8e9, TILE))
    tiles = bars(made, show.SERIES[0])
    assert len(tiles) == seats and (str(seats), f"{seats} requests" in made.alt) in [
        (text, True) for text, _ in written(made)
    ]
    for number, (left, right) in enumerate(tiles):
        assert left == pytest.approx(70.55 * each + 8 + number * TILE / 1e9)
        assert right <= 80 and right - left == pytest.approx(TILE / 1e9)
    over = bars(made, show.PALETTE["vermilion"])
    assert over == ([] if seats else [(80, pytest.approx(149.1))])
    (grey,) = bars(made, show.PALETTE["grey"])
    assert grey == (0, pytest.approx(min(80, 70.55 * each)))


def test_all_frames_of_the_slider_have_one_scale():
    held = {"fp16": 141e9, "int8": 70.6e9, "int4": 39.7e9}
    slider = show.seats_filling(80e9, held, 8e9, TILE)
    assert slider.values == slider.static == tuple(held)
    ends = {slider.picture(name).figure.axes[0].get_xlim() for name in held}
    assert len(ends) == 1
    assert [slider.picture(name).alt.split()[-2] for name in held] == ["0", "1", "24"]
