from itertools import pairwise

import numpy as np
import pytest

from sparseid.data.latex_ocr.builtin import render
from sparseid.data.latex_ocr.font_metrics import CHARACTERS
from sparseid.data.latex_ocr.glyphs import LARGE, PHASES, draw
from sparseid.data.latex_ocr.grammar import KIND_NUMBERS, numbers, sample
from sparseid.data.latex_ocr.layout import Glyph
from sparseid.data.latex_ocr.page import black
from sparseid.errors import InputError


def test_pages_hold_the_formula_and_its_border():
    (page,) = render([numbers("FRAC( x SUP( 2 SUP) + 1 FRACMID PAREN( y PAREN) FRAC)")], 200)
    rows, columns = np.flatnonzero(page.ink.any(axis=1)), np.flatnonzero(page.ink.any(axis=0))
    border = 3 * 200 / 72.27
    assert rows[0] >= border - 2
    assert columns[0] >= border - 2
    assert page.ink.shape[0] - rows[-1] >= border - 2
    assert page.ink.shape[1] - columns[-1] >= border - 2
    assert page.places.tolist() == [0, 1, 3, 5, 6, 8, 9, 10]


@pytest.mark.parametrize("dpi", [60, 100, 200])
def test_boxes_hold_all_ink_and_touch_it(dpi):
    rng = np.random.default_rng(dpi)
    formulas = [sample(int(length), rng) for length in rng.integers(1, 31, 50)]
    for formula, page in zip(formulas, render(formulas, dpi), strict=True):
        assert page.places.tolist() == [place for place, token in enumerate(formula) if KIND_NUMBERS[token] >= 0]
        left_over = page.ink.copy()
        for top, stop, left, end in page.boxes:
            assert 0 <= top < stop <= page.ink.shape[0]
            assert 0 <= left < end <= page.ink.shape[1]
            assert page.ink[top:stop, left:end].any()
            left_over[top:stop, left:end] = False
        assert not left_over.any()


def test_digit_heights():
    """Digits of size 10, 7 and 5 are about 18, 12 and 9 pixels high at 200 dpi (the authors' pictures)."""
    heights = [draw(Glyph("5", size), 200, 0).grey.shape[0] for size in (10, 7, 5)]
    assert np.abs(np.array(heights) - [19, 14, 10]).max() <= 1


def test_drawings_move_within_a_pixel():
    drawn = [draw(Glyph("x", 10), 200, phase) for phase in range(PHASES)]
    assert len({black(drawing.grey).tobytes() for drawing in drawn}) > 1
    centres = [drawing.right + np.nonzero(black(drawing.grey))[1].mean() for drawing in drawn]
    assert all(0 < second - first < 0.6 for first, second in pairwise(centres))


def test_all_characters_differ():
    for size in CHARACTERS:
        drawings = {character: black(draw(Glyph(character, size), 200, 0).grey) for character in CHARACTERS[size]}
        assert len({(ink.shape, ink.tobytes()) for ink in drawings.values()}) == len(drawings) == 19


def test_large_parentheses_grow():
    for character, ladder in LARGE.items():
        heights = [draw(Glyph(character, 10, number), 200, 0).grey.shape[0] for number in range(len(ladder) + 1)]
        assert heights == sorted(heights)
        assert heights[-1] == pytest.approx(24 * 200 / 72.27, abs=2)


def test_what_is_no_formula_is_named():
    with pytest.raises(InputError, match="'x SUP\\( 2' has the end"):
        render([numbers("x"), numbers("x SUP( 2")], 200)
