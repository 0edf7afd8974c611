"""What TeX's font files say of the characters that formulas need (Computer Modern, read with ``tftopl``).

Lengths are in units of the font's size. TeX has drawings of their own for sizes 7 and 5, wider than those of size 10.
"""

from __future__ import annotations

from typing import NamedTuple

SIZES = (10, 10, 7, 5)
"""Size in points of each style: display, text, script, script of a script."""


class Character(NamedTuple):
    """Width, height above and depth below the baseline, and the italic correction."""

    width: float
    height: float
    depth: float
    italic: float = 0.0


class Constants(NamedTuple):
    """What the rules of TeX take from the symbol font (cmsy) and the extension font (cmex) of a size."""

    x_height: float
    quad: float
    num1: float
    num2: float
    denom1: float
    denom2: float
    sup1: float
    sup2: float
    sup3: float
    sub1: float
    axis: float
    rule: float


CONSTANTS = {
    10: Constants(
        0.430555, 1.0, 0.676508, 0.393732, 0.685951, 0.344841, 0.412892, 0.362892, 0.288889, 0.15, 0.25, 0.04
    ),
    7: Constants(
        *(0.430555, 1.170641, 0.732313, 0.383903, 0.75215, 0.344214),
        *(0.502543, 0.431115, 0.285714, 0.142858, 0.25, 0.048571),
    ),
    5: Constants(
        *(0.430554, 1.472241, 0.925241, 0.387464, 1.025241, 0.531909),
        *(0.503555, 0.403555, 0.294446, 0.2, 0.25, 0.048571),
    ),
}


def _characters(
    letters: tuple[float, ...], italic_z: float, digit: float, parenthesis: float, plus: Character
) -> dict[str, Character]:
    """Return the characters of a size: widths of the letters a b c x y z, of a digit and of a parenthesis, and plus."""
    a, b, c, x, y, z = letters
    return {
        "a": Character(a, 0.430555, 0.0),
        "b": Character(b, 0.694445, 0.0),
        "c": Character(c, 0.430555, 0.0),
        "x": Character(x, 0.430555, 0.0),
        "y": Character(y, 0.430555, 0.194445, 0.035879),
        "z": Character(z, 0.430555, 0.0, italic_z),
        "+": plus,
        **dict.fromkeys("()", Character(parenthesis, 0.75, 0.25)),
        **dict.fromkeys("0123456789", Character(digit, 0.644444, 0.0)),
    }


CHARACTERS = {
    10: _characters(
        letters=(0.52859, 0.429167, 0.432756, 0.571528, 0.490282, 0.46505),
        italic_z=0.043981,
        digit=0.500002,
        parenthesis=0.38889,
        plus=Character(0.777781, 0.583334, 0.083334),
    ),
    7: _characters(
        letters=(0.619664, 0.502382, 0.510535, 0.64782, 0.579371, 0.545807),
        italic_z=0.041005,
        digit=0.5694475,
        parenthesis=0.446431,
        plus=Character(0.876988, 0.619049, 0.119049),
    ),
    5: _characters(
        letters=(0.774429, 0.633337, 0.649426, 0.791675, 0.730566, 0.688665),
        italic_z=0.037036,
        digit=0.680567,
        parenthesis=0.541675,
        plus=Character(1.027796, 0.666675, 0.166675),
    ),
}
"""By size and character: letters from cmmi, the others from cmr."""

LARGE_PARENTHESES: dict[int, tuple[Character, ...]] = {
    10: (Character(0.458336, 0.04, 1.160013), Character(0.597224, 0.04, 1.760019), Character(0.736115, 0.04, 2.360025)),
    7: (Character(0.539191, 0.048571, 1.151442), Character(0.692961, 0.048571, 1.751448)),
}
LARGE_PARENTHESES[5] = LARGE_PARENTHESES[7]
"""Parentheses of cmex10 and cmex7 (which amsmath takes at size 5, too), growing."""
