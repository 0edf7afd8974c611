import numpy as np
import pytest

from sparseid.data.latex_ocr.generator import BOX_MARGIN, LatexOcr, noisy
from sparseid.data.latex_ocr.grammar import KIND_NUMBERS, KINDS, numbers


@pytest.fixture(scope="module")
def clean():
    return LatexOcr().draw_clean(400, np.random.default_rng(0))


def test_lengths_are_uniform(clean):
    lengths = (clean.labels >= 0).sum(axis=1)
    assert (lengths.min(), lengths.max()) == (1, 30)
    assert np.mean(lengths) == pytest.approx(15.5, abs=4 * 8.66 / 20)


def test_mean_number_of_symbols(clean):
    """The authors' minimum density counts 9.64 symbols in 200 formulas; the standard error of ours is about 0.27."""
    assert len(clean.sites) / 400 == pytest.approx(9.64, abs=1)


def test_sites_are_in_the_order_of_tokens_and_on_the_canvas(clean):
    assert (np.diff(clean.sites[:, 0]) >= 0).all()
    assert clean.sites[:, 2:].min() >= 0
    assert clean.sites[:, [2, 3]].max() <= 120
    assert clean.sites[:, [4, 5]].max() <= 360
    for item in range(400):
        expected = [KIND_NUMBERS[token] for token in clean.labels[item] if token >= 0 and KIND_NUMBERS[token] >= 0]
        kinds = clean.sites[clean.sites[:, 0] == item, 1].tolist()
        if len(kinds) == len(expected):  # nothing was cut off
            assert kinds == expected
    assert len(set(clean.sites[:, 1].tolist())) == 20


def test_all_ink_lies_in_a_box(clean):
    pixels = LatexOcr().pixels(clean.ink)
    for item, _, top, stop, left, end in clean.sites:
        pixels[item, top:stop, left:end] = False
    assert not pixels.any()


def test_boxes_reach_two_pixels_beyond_the_symbol():
    """Grey too light to become ink may make the symbol a pixel larger."""
    one = LatexOcr(longest=1).draw_clean(1, np.random.default_rng(0))
    rows, columns = np.nonzero(LatexOcr().pixels(one.ink)[0])
    ink = [rows.min(), rows.max() + 1, columns.min(), columns.max() + 1]
    beyond = (one.sites[0, 2:] - ink) * [-1, 1, -1, 1]
    assert ((beyond == BOX_MARGIN) | (beyond == BOX_MARGIN + 1)).all()


def test_a_formula_larger_than_the_canvas_is_cut_off_and_what_is_gone_has_no_box():
    formula = numbers(" + ".join("12345678901"))
    whole, cut = (LatexOcr(width=width).pages([formula])[0] for width in (600, 100))
    assert len(whole.places) == 21
    assert 0 < len(cut.places) < 21
    middle = cut.places.tolist()
    assert middle == list(range(middle[0], middle[-1] + 1))
    assert (cut.boxes[:, 3] <= 100).all()


def test_noise_turns_white_black_and_leaves_ink():
    ink = np.zeros((300, 300), bool)
    ink[:100] = True
    image = noisy(ink, 0.25, np.random.default_rng(1))
    assert image.dtype == np.float32
    assert set(np.unique(image).tolist()) == {0.0, 1.0}
    assert not image[:100].any()
    assert image[100:].mean() == pytest.approx(0.75, abs=0.01)
    assert (noisy(ink, 0.0, np.random.default_rng(1)) == ~ink).all()


def test_smaller_dots_per_inch_give_smaller_formulas():
    sizes = [np.ptp(np.nonzero(LatexOcr(dpi=dpi).pages([numbers("x + y")])[0].ink)[1]) for dpi in (100, 200)]
    assert sizes[1] == pytest.approx(2 * sizes[0], abs=4)


def test_kinds_are_shared_as_in_the_paper():
    """Fig. 8: ( 12 %, ) 12 %, + 9 %, bar 5.5 to 6 %, every letter and digit 3.4 to 4.5 %."""
    rng = np.random.default_rng(2)
    formulas = LatexOcr().draw_formulas(4000, rng)
    kinds = [KIND_NUMBERS[token] for formula in formulas for token in formula if KIND_NUMBERS[token] >= 0]
    shares = dict(zip(KINDS, 100 * np.bincount(kinds, minlength=20) / len(kinds), strict=True))
    assert shares["("] == shares[")"] == pytest.approx(11.5, abs=0.8)
    assert shares["+"] == pytest.approx(9.2, abs=0.8)
    assert shares["bar"] == pytest.approx(5.8, abs=0.7)
    assert all(3.3 < shares[symbol] < 4.6 for symbol in "0123456789abcxyz")
