import numpy as np
import pytest

from sparseid.data.latex_ocr.page import Page, centred, dilated, in_the_middle


@pytest.mark.parametrize("rows", [1, 4, 5, 9])
@pytest.mark.parametrize("columns", [2, 6, 7, 12])
def test_pages_lie_in_the_middle_and_their_boxes_with_them(rows, columns):
    """Each pixel is a symbol of its own: what is left of the page is where its boxes say."""
    ink = np.ones((rows, columns), bool)
    row, column = np.indices(ink.shape).reshape(2, -1)
    page = centred(Page(ink, np.arange(ink.size), np.column_stack([row, row + 1, column, column + 1])), 5, 7)
    assert page.ink.shape == (5, 7)
    assert page.ink.sum() == len(page.boxes) == min(rows, 5) * min(columns, 7)
    assert all(page.ink[top:stop, left:end].all() for top, stop, left, end in page.boxes)
    assert page.ink.any(axis=0).tolist() == page.ink.any(axis=0)[::-1].tolist() or (7 - columns) % 2
    assert page.ink.any(axis=1).tolist() == page.ink.any(axis=1)[::-1].tolist() or (5 - rows) % 2


def test_what_is_larger_is_cut_off_on_both_sides():
    ink = np.zeros((3, 9), bool)
    ink[:, [0, 4, 8]] = True
    page = Page(ink, np.array([0, 3, 4]), np.array([[0, 3, 0, 1], [0, 3, 1, 5], [0, 3, 8, 9]]))
    cut = centred(page, 3, 5)
    assert cut.ink.tolist() == [[False, False, True, False, False]] * 3
    assert cut.places.tolist() == [3]
    assert cut.boxes.tolist() == [[0, 3, 0, 3]]


def test_in_the_middle_of_odd_and_even():
    assert in_the_middle(np.ones((1, 1), bool), 1, 4)[0].tolist() == [False, True, False, False]


def test_dilated_boxes_stay_on_the_canvas():
    assert dilated(np.array([[1, 4, 5, 9]]), 2, 5, 20).tolist() == [[0, 5, 3, 11]]
