"""Pictures of formulas: how their tokens are written, what counts as right, and panels without white between them."""

import numpy as np
import pytest

from sparseid.data.latex_ocr.grammar import TOKENS
from sparseid.papers.registry import run_figures
from sparseid.papers.rows import rows_frame
from sparseid.papers.sparling.run_pictures import image_panels, inked

NUMBER = {token: number for number, token in enumerate(TOKENS)}


def tokens(*labels):
    """Return the numbers of tokens written with blanks between, padded by -1."""
    rows = [[NUMBER[token] for token in label.split()] for label in labels]
    longest = max(map(len, rows))
    return np.array([row + [-1] * (longest - len(row)) for row in rows])


def titles_of(labels, predictions):
    """Return title and colour of each panel of a run's example picture."""
    arrays = {
        "example_images": np.zeros((len(labels), 30, 48), np.float32),
        "example_maps": np.zeros((len(labels), 3, 15, 24), np.float32),
        "example_sites": np.empty((0, 6), int),
        "example_labels": tokens(*labels),
        "example_predictions": tokens(*predictions),
        "confusion": np.diag([1, 2, 3, 0]),
        "kind_names": np.array(["(", ")", "7"]),
        "token_names": np.array(TOKENS),
    }
    figure = run_figures("sparling", rows_frame([]), arrays, "small")["motifs"]
    figure.draw_without_rendering()
    return [(axes.get_title(), axes.title.get_color()) for axes in figure.axes[: len(labels)]]


def test_formulas_are_written_as_in_tex():
    labels = ["PAREN( 7 PAREN)", "FRAC( x FRACMID y SUP( 2 SUP) FRAC)", "a SUB( 1 SUB) + b"]
    assert [title for title, _ in titles_of(labels, labels)] == [
        "(7) → (7)",
        "{x}/{y^{2}} → {x}/{y^{2}}",
        "a_{1}+b → a_{1}+b",
    ]


def test_tokens_that_are_written_alike_are_not_taken_for_the_same():
    (first, wrong), (second, right) = titles_of(["x SUP( 2 SUP)"] * 2, ["x SUP( 2 SUB)", "x SUP( 2 SUP)"])
    assert first == second
    assert wrong != right


@pytest.mark.parametrize(("size", "in_a_row"), [((40, 40), 4), ((30, 48), 4), ((120, 360), 2)])
def test_panels_are_as_high_as_their_images_and_titles(size, in_a_row):
    figure, panels = image_panels(size, [("x →", "x")] * 8, 0.4)
    figure.draw_without_rendering()
    assert len({axes.get_position().y0 for axes in panels}) == 8 // in_a_row
    used = sum(axes.get_tightbbox().height for axes in panels[::in_a_row]) / figure.dpi
    assert figure.get_figheight() - 0.4 - used < 0.4 * 8 / in_a_row


def test_a_title_that_is_too_long_for_its_panel_is_broken():
    _, panels = image_panels((30, 48), [("x →", "y"), ("x" * 20 + " →", "y" * 20, "decoded y")], 0.4)
    assert [axes.get_title().count("\n") for axes in panels] == [0, 2]


def test_ink_is_drawn_dark_whichever_value_it_has():
    ink = np.zeros((2, 4, 4))
    ink[:, 1, 1] = 1
    assert np.array_equal(inked(ink), ink)
    assert np.array_equal(inked(1 - ink), ink)


@pytest.mark.parametrize(("kinds", "named"), [(10, []), (11, ["7"])])
def test_dots_are_named_where_colours_do_not_tell_kinds_apart(kinds, named):
    maps = np.zeros((1, kinds, 15, 24), np.float32)
    maps[0, 7, 3, 3] = 1
    arrays = {
        "example_images": np.zeros((1, 30, 48), np.float32),
        "example_maps": maps,
        "example_sites": np.empty((0, 6), int),
        "example_labels": np.array([[7]]),
        "example_predictions": np.array([[7]]),
        "confusion": np.diag([*range(1, kinds + 1), 0]),
    }
    axes = run_figures("sparling", rows_frame([]), arrays, "small")["motifs"].axes[0]
    assert [text.get_text() for text in axes.texts] == named
