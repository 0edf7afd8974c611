from concurrent.futures import ThreadPoolExecutor

import mathtext_layout as mathtext
import numpy as np
import pytest

from sparseid.data.latex_ocr import builtin
from sparseid.data.latex_ocr.grammar import KIND_NUMBERS, numbers, sample
from sparseid.data.latex_ocr.layout import Glyph, Rule
from sparseid.errors import InputError

DPI = 200


@pytest.fixture(scope="module")
def formulas():
    rng = np.random.default_rng(0)
    return [sample(int(length), rng) for length in rng.integers(1, 31, 50)]


def test_the_same_symbols_lie_at_nearly_the_same_places(formulas):
    """Mathtext's small parentheses and missing spaces add up: measured are 18 pixels at most, 1.5 in the median."""
    down, right = [], []
    for ours, theirs in zip(builtin.render(formulas, DPI), mathtext.render(formulas, DPI), strict=True):
        assert ours.places.tolist() == theirs.places.tolist()
        centres = [(page.boxes[:, ::2] + page.boxes[:, 1::2] - page.ink.shape) / 2 for page in (ours, theirs)]
        apart = np.abs(centres[0] - centres[1])
        down.append(apart[:, 0])
        right.append(apart[:, 1])
    down, right = np.concatenate(down), np.concatenate(right)
    assert len(down) == 442
    assert (down.max(), right.max()) <= (8, 19)
    assert (np.median(down), np.median(right)) <= (1, 2)


def test_boxes_hold_all_ink(formulas):
    for formula, page in zip(formulas, mathtext.render(formulas, DPI), strict=True):
        assert [KIND_NUMBERS[formula[place]] >= 0 for place in page.places] == [True] * len(page.places)
        left_over = page.ink.copy()
        for top, stop, left, end in page.boxes:
            assert page.ink[top:stop, left:end].any()
            left_over[top:stop, left:end] = False
        assert not left_over.any()


def test_fractions_shrink_from_the_second_on_and_keep_their_bars():
    tokens = "FRAC( FRAC( a FRACMID FRAC( b FRACMID 1 FRAC) FRAC) FRACMID FRAC( c FRACMID 2 FRAC) FRAC)"
    box = mathtext.layout(numbers(tokens))
    sizes = {mark.what.character: mark.what.size for mark in box.marks if isinstance(mark.what, Glyph)}
    assert sizes == pytest.approx({"a": 7, "b": 4.9, "1": 4.9, "c": 7, "2": 7})
    bars = {mark.place: mark for mark in box.marks if isinstance(mark.what, Rule)}
    assert list(bars) == [0, 1, 4, 11]
    widths = [bar.what.width for bar in bars.values()]
    assert widths[0] == max(widths)
    assert widths[2] == min(widths)
    assert bars[1].y > bars[4].y > bars[0].y > bars[11].y


def test_the_page_is_that_of_the_formula_at_ten_points():
    (ours,), (theirs,) = (renderer.render([numbers("x")], DPI) for renderer in (builtin, mathtext))
    assert np.abs(np.subtract(ours.ink.shape, theirs.ink.shape)).max() <= 1
    assert ours.boxes.tolist() == theirs.boxes.tolist()


def test_several_threads_draw_at_once(formulas):
    """As the streams of training and validation do; mathtext's parser is not made for it."""
    with ThreadPoolExecutor(4) as threads:
        together = list(threads.map(mathtext.layout, formulas[::-1]))
    assert together == [mathtext.layout(formula) for formula in formulas[::-1]]


def test_what_cannot_be_read_is_named():
    with pytest.raises(InputError, match=r"cannot read the formula '.*frac\{\}\{\}': .*Expected .*frac\{num\}") as e:
        mathtext.typeset(r"\frac{}{}")
    assert e.value.keys == ("data.renderer",)
    with pytest.raises(InputError, match="'x SUP\\( 2' has the end"):
        mathtext.render([numbers("x SUP( 2")], DPI)
