"""Colours and markers of kinds: what an eye can tell apart, by the distance of colours in OKLab."""

import re
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest

from sparseid.papers import drawing
from sparseid.papers.drawing import (
    COLOURS,
    FAINT,
    INK,
    KIND_COLOURS,
    draw_kinds,
    kind_colour,
    kind_marker,
    new_figure,
)

CONES = np.array(
    [[0.4122214708, 0.5363325363, 0.0514459929], [0.2119034982, 0.6806995451, 0.1073969566],
     [0.0883024619, 0.2817188376, 0.6299787005]]
)  # fmt: skip
OPPONENTS = np.array(
    [[0.2104542553, 0.7936177850, -0.0040720468], [1.9779984951, -2.4285922050, 0.4505937099],
     [0.0259040371, 0.7827717662, -0.8086757660]]
)  # fmt: skip
INK_OF_IMAGES = "#949494"
"""The darkest grey of an image below dots."""
DIFFERENT = 0.13
"""Distance at which small dots differ at a glance: that of black and white is 1, a difference just seen about 0.02."""


def oklab(colour):
    """Lightness, green to red and blue to yellow of an sRGB colour, by Ottosson's published matrices."""
    srgb = np.array([int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)])
    linear = np.where(srgb <= 0.04045, srgb / 12.92, ((srgb + 0.055) / 1.055) ** 2.4)
    return OPPONENTS @ np.cbrt(CONES @ linear)


def distance(first, second):
    return float(np.linalg.norm(oklab(first) - oklab(second)))


def test_oklab_has_its_published_values():
    assert oklab("#ffffff") == pytest.approx([1, 0, 0], abs=1e-6)
    assert oklab("#ff0000") == pytest.approx([0.62796, 0.22486, 0.12585], abs=1e-5)


def test_any_two_colours_of_kinds_differ_and_none_is_lost_on_a_page_or_an_image():
    assert min(distance(*pair) for pair in combinations(KIND_COLOURS, 2)) >= DIFFERENT
    assert min(distance(of, on) for of in KIND_COLOURS for on in ("#ffffff", INK, FAINT, INK_OF_IMAGES)) >= DIFFERENT
    assert KIND_COLOURS[: len(COLOURS)] == COLOURS


def test_no_two_of_forty_kinds_look_alike():
    kinds = [(kind_colour(number), kind_marker(number)) for number in range(40)]
    assert len(set(kinds)) == 40
    assert {marker for _, marker in kinds[: len(COLOURS)]} == {"o"}


def test_each_point_has_the_colour_and_the_marker_of_its_kind():
    _, grid = new_figure(2, 2)
    points, kinds = np.arange(8.0).reshape(4, 2), np.array([9, 0, 9, 1])
    draw_kinds(grid[0, 0], points, kinds, size=2.0)
    squares, dots = grid[0, 0].collections
    assert squares.get_offsets().tolist() == points[[0, 2]].tolist()
    assert dots.get_offsets().tolist() == points[[1, 3]].tolist()
    assert len(squares.get_paths()[0]) != len(dots.get_paths()[0])
    assert len(np.unique(squares.get_facecolors(), axis=0)) == 1
    assert len(np.unique(dots.get_facecolors(), axis=0)) == 2


def test_figures_take_their_colours_from_the_shared_palette():
    folder = Path(drawing.__file__).parent
    found = {path.name: re.findall(r'"#[0-9a-f]{6}"', path.read_text()) for path in folder.glob("*/*.py")}
    assert {name: colours for name, colours in found.items() if colours} == {}
