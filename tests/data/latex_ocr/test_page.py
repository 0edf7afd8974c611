import numpy as np
import pytest

from sparseid.data.latex_ocr.page import Page, black, centred, dilated, in_the_middle


@pytest.mark.parametrize("rows", [1, 4, 5, 9])
@pytest.mark.parametrize("columns", [2, 6, 7, 12])
def test_pages_lie_in_the_middle_and_their_boxes_with_them(rows, columns):
    """Each pixel is a symbol of its own: what is left of the page is where its boxes say."""
    grey = np.zeros((rows, columns), np.uint8)
    row, column = np.indices(grey.shape).reshape(2, -1)
    page = centred(Page(grey, np.arange(grey.size), np.column_stack([row, row + 1, column, column + 1])), 5, 7)
    assert page.ink.shape == (5, 7)
    assert page.ink.sum() == len(page.boxes) == min(rows, 5) * min(columns, 7)
    assert all(page.ink[top:stop, left:end].all() for top, stop, left, end in page.boxes)
    assert page.ink.any(axis=0).tolist() == page.ink.any(axis=0)[::-1].tolist() or (7 - columns) % 2
    assert page.ink.any(axis=1).tolist() == page.ink.any(axis=1)[::-1].tolist() or (5 - rows) % 2


def test_what_is_larger_is_cut_off_on_both_sides():
    grey = np.full((3, 9), 255, np.uint8)
    grey[:, [0, 4, 8]] = 0
    page = Page(grey, np.array([0, 3, 4]), np.array([[0, 3, 0, 1], [0, 3, 1, 5], [0, 3, 8, 9]]))
    cut = centred(page, 3, 5)
    assert cut.ink.tolist() == [[False, False, True, False, False]] * 3
    assert cut.places.tolist() == [3]
    assert cut.boxes.tolist() == [[0, 3, 0, 3]]


def test_in_the_middle_of_odd_and_even():
    assert in_the_middle(np.zeros((1, 1), np.uint8), 1, 4)[0].tolist() == [255, 0, 255, 255]


@pytest.mark.parametrize(("size", "kept"), [(4, [0, 1, 2]), (5, [1, 2, 3]), (6, [1, 2, 3]), (7, [2, 3, 4])])
def test_of_an_odd_rest_one_more_pixel_is_cut_off_below_and_right(size, kept):
    """As in the authors' code: half the rest, rounded down, is cut off above and on the left."""
    numbered = np.arange(size, dtype=np.uint8)
    boxes = np.column_stack([np.zeros(size, int), np.ones(size, int), numbered, numbered + 1])
    wide, high = numbered[None], numbered[:, None]
    assert in_the_middle(wide, 1, 3)[0].tolist() == in_the_middle(high, 3, 1)[:, 0].tolist() == kept
    cut = centred(Page(wide, np.arange(size), boxes), 1, 3)
    assert cut.places.tolist() == kept
    assert cut.boxes[:, 2].tolist() == [0, 1, 2]


def test_greys_above_three_quarters_are_white():
    assert black(np.array([0, 191, 192, 255], np.uint8)).tolist() == [True, True, False, False]


def test_dilated_boxes_stay_on_the_canvas():
    assert dilated(np.array([[1, 4, 5, 9]]), 2, 5, 20).tolist() == [[0, 5, 3, 11]]
