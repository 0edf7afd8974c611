import pytest

from sparseid.data.latex_ocr.grammar import numbers
from sparseid.data.latex_ocr.layout import Glyph, Rule, layout
from sparseid.data.latex_ocr.syntax import parse

WITH_BORDER = 6.0

DEEP = (
    "FRAC( FRAC( a + b FRACMID PAREN( z PAREN) 7 FRAC) FRACMID "
    "FRAC( 1 FRACMID FRAC( x SUP( 2 SUP) + 3 FRACMID PAREN( y SUP( a SUP) PAREN) FRAC) FRAC) FRAC)"
)
PAGES = {  # width and height in points, borders included, of the pages that pdflatex 1.40 makes
    "x": (11.716, 10.306),
    "z": (11.090, 10.306),
    "y SUB( z SUB)": (15.511, 12.250),
    "x SUP( 2 SUP)": (16.202, 14.640),
    "z SUP( z SUP) + 4": (32.920, 13.976),
    "PAREN( 1 PAREN)": (18.778, 16.000),
    "PAREN( x SUP( 2 SUP) PAREN) 3": (32.035, 18.140),
    "PAREN( PAREN( x SUB( y SUB) PAREN) PAREN) + PAREN( 0 PAREN)": (57.077, 16.361),
    "FRAC( 1 FRACMID 2 FRAC)": (13.400, 26.069),
    "FRAC( x SUP( 2 SUP) + 1 FRACMID PAREN( y SUB( 5 SUB) PAREN) FRAC)": (35.824, 30.265),
    DEEP: (29.603, 40.893),
}


def box(tokens):
    return layout(parse(numbers(tokens)))


@pytest.mark.parametrize("tokens", PAGES)
def test_boxes_have_the_size_that_tex_gives_them(tokens):
    made = box(tokens)
    assert (made.width + WITH_BORDER, made.height + made.depth + WITH_BORDER) == pytest.approx(PAGES[tokens], abs=0.004)


def test_marks_are_those_of_the_tokens_that_are_seen_in_their_order():
    marks = box("FRAC( x SUP( 2 SUP) FRACMID PAREN( y PAREN) FRAC)").marks
    assert [mark.place for mark in marks] == [0, 1, 3, 6, 7, 8]
    assert isinstance(marks[0].what, Rule)
    assert [mark.what for mark in marks[1:]] == [
        Glyph("x", 10), Glyph("2", 7), Glyph("(", 10), Glyph("y", 10), Glyph(")", 10)
    ]  # fmt: skip
    heights = [mark.y for mark in marks]
    assert heights[2] > heights[1] > heights[0] > heights[4] == heights[3] == heights[5]


def test_sizes_are_10_7_and_5_however_deep_fractions_are_nested():
    def sizes(depth):
        tokens = "x SUP( 2 SUP)"
        for _ in range(depth):
            tokens = f"FRAC( {tokens} FRACMID 1 FRAC)"
        marks = box(tokens).marks
        return [mark.what.size for mark in marks if isinstance(mark.what, Glyph) and mark.what.character in "x2"]

    assert [sizes(depth) for depth in range(6)] == [[10, 7], [10, 7], [7, 5], [5, 5], [5, 5], [5, 5]]


def test_parentheses_grow_with_what_they_hold():
    assert [mark.what for mark in box("PAREN( x PAREN)").marks][::2] == [Glyph("(", 10), Glyph(")", 10)]
    assert [mark.what for mark in box("PAREN( x SUP( 2 SUP) PAREN)").marks][::3] == [
        Glyph("(", 10, 1),
        Glyph(")", 10, 1),
    ]


def test_plus_and_parentheses_have_space_around_them_but_not_in_scripts():
    width = {tokens: box(tokens).width for tokens in ("1", "PAREN( 1 PAREN)")}
    assert box("1 1").width == pytest.approx(2 * width["1"])
    assert box("1 + 1").width == pytest.approx(2 * width["1"] + 7.77781 + 2 * 10 * 4 / 18, abs=1e-4)
    assert box("1 PAREN( 1 PAREN)").width == pytest.approx(
        width["1"] + width["PAREN( 1 PAREN)"] + 10 * 3 / 18, abs=1e-4
    )
    small = box("FRAC( FRAC( 1 + 1 FRACMID 2 FRAC) FRACMID 2 FRAC)").marks
    ones = [mark.x for mark in small if mark.what in (Glyph("1", 7), Glyph("+", 7))]
    assert ones[1] - ones[0] == pytest.approx(7 * 0.5694475)
