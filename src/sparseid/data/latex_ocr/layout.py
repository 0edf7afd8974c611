"""Where TeX puts the characters of a formula: the rules of appendix G of The TeXbook that this grammar needs.

Matplotlib's mathtext is no shorter way: its parser takes 10 ms a formula and more, fifty times as long as all of this,
and it chooses other parentheses and shrinks scripts without end. All lengths are TeX's points (72.27 to the inch),
upwards is positive.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

from sparseid.data.latex_ocr.font_metrics import CHARACTERS, CONSTANTS, LARGE_PARENTHESES, SIZES, Character
from sparseid.data.latex_ocr.syntax import Fraction, Node, Parenthesised, Row, Scripted, Symbol

DISPLAY, TEXT, SCRIPT, SMALLEST = range(4)
"""Styles; ``metrics.SIZES`` has their sizes."""

SCRIPT_SPACE = 0.5  # plain TeX and LaTeX, as all constants below
NULL_DELIMITER_SPACE = 1.2
DELIMITER_FACTOR = 0.901
DELIMITER_SHORTFALL = 5.0
THIN, MEDIUM = 3 / 18, 4 / 18
"""Spaces around parentheses and around ``+``, in quads, where the style is no script."""


class Glyph(NamedTuple):
    """A character, the size of its font in points, and which growing parenthesis it is (0: that of the text font)."""

    character: str
    size: float
    large: int = 0


class Rule(NamedTuple):
    """The bar of a fraction, which lies on the baseline."""

    width: float
    height: float


class Mark(NamedTuple):
    """What is seen of the token at `place`, at the left end of its baseline."""

    place: int
    x: float
    y: float
    what: Glyph | Rule


@dataclass(slots=True)
class Box:
    """A box of TeX: extents around the baseline, and what lies in it."""

    width: float = 0.0
    height: float = 0.0
    depth: float = 0.0
    marks: list[Mark] = field(default_factory=list)

    def add(self, other: Box, x: float, y: float) -> None:
        """Put the content of another box into this one, moved; the extents stay as they are."""
        self.marks += [Mark(place, x + left, y + up, what) for place, left, up, what in other.marks]

    def append(self, other: Box) -> None:
        """Put another box at the right end."""
        self.add(other, self.width, 0.0)
        self.width += other.width
        self.height, self.depth = max(self.height, other.height), max(self.depth, other.depth)


def layout(tree: Node) -> Box:
    """Return the box of a formula in display style, with its marks in the order of their tokens."""
    box = _set(tree, DISPLAY, False)
    box.marks.sort()
    return box


def _set(node: Node, style: int, cramped: bool) -> Box:
    if isinstance(node, Row):
        return _row(node.parts, style, cramped)
    if isinstance(node, Symbol):
        return _symbol(node, style)
    if isinstance(node, Scripted):
        return _scripted(node, style, cramped)
    if isinstance(node, Parenthesised):
        return _parenthesised(node, style, cramped)
    return _fraction(node, style, cramped)


def _row(parts: tuple[Node, ...], style: int, cramped: bool) -> Box:
    row, before = Box(), None
    for part in parts:
        if before is not None and style <= TEXT:
            row.width += _space(before, part) * CONSTANTS[10].quad * SIZES[style]
        row.append(_set(part, style, cramped))
        before = part
    return row


def _space(left: Node, right: Node) -> float:
    """Return the space between neighbours, quads."""
    if "+" in (getattr(left, "character", ""), getattr(right, "character", "")):
        return MEDIUM
    return THIN if isinstance(left, Parenthesised) or isinstance(right, Parenthesised) else 0.0


def _symbol(symbol: Symbol, style: int, italic: bool = True) -> Box:
    """Rule 17: with the italic correction, unless a subscript follows."""
    size = SIZES[style]
    metric = CHARACTERS[size][symbol.character]
    mark = Mark(symbol.place, 0.0, 0.0, Glyph(symbol.character, size))
    width = size * (metric.width + metric.italic * italic)
    return Box(width, size * metric.height, size * metric.depth, [mark])


def _scripted(node: Scripted, style: int, cramped: bool) -> Box:
    """Rule 18."""
    size, constants = SIZES[style], CONSTANTS[SIZES[style]]
    box = _symbol(node.nucleus, style, italic=node.raised)
    script = _set(node.script, SCRIPT if style <= TEXT else SMALLEST, cramped)
    if node.raised:
        least = constants.sup3 if cramped else constants.sup1 if style == DISPLAY else constants.sup2
        up = max(size * least, script.depth + size * constants.x_height / 4)
    else:
        up = -max(size * constants.sub1, script.height - size * constants.x_height * 4 / 5)
    box.add(script, box.width, up)
    box.width += script.width + SCRIPT_SPACE
    box.height, box.depth = max(box.height, script.height + up), max(box.depth, script.depth - up)
    return box


def _parenthesised(node: Parenthesised, style: int, cramped: bool) -> Box:
    """Rule 19."""
    body = _set(node.body, style, cramped)
    axis = SIZES[style] * CONSTANTS[SIZES[style]].axis
    reach = max(body.height - axis, body.depth + axis)
    needed = max(2 * reach * DELIMITER_FACTOR, 2 * reach - DELIMITER_SHORTFALL)
    box = Box()
    box.append(_delimiter("(", node.opening, needed, style))
    box.append(body)
    box.append(_delimiter(")", node.closing, needed, style))
    return box


def _delimiter(character: str, place: int, needed: float, style: int) -> Box:
    """Return the first parenthesis that is high enough, centred on the axis: small ones first, then large ones."""
    size = SIZES[style]
    sizes = [other for other in (5, 7, 10) if other >= size]
    found: list[tuple[Character, Glyph]] = [(CHARACTERS[s][character], Glyph(character, s)) for s in sizes]
    found += [
        (metric, Glyph(character, s, number))
        for s in sizes
        for number, metric in enumerate(LARGE_PARENTHESES[s], start=1)
    ]
    enough = (pair for pair in found if pair[1].size * (pair[0].height + pair[0].depth) >= needed)
    metric, glyph = next(enough, found[-1])
    width, height, depth = (glyph.size * extent for extent in metric[:3])
    up = size * CONSTANTS[size].axis - (height - depth) / 2
    return Box(width, height + up, depth - up, [Mark(place, 0, up, glyph)])


def _fraction(node: Fraction, style: int, cramped: bool) -> Box:
    """Rule 15; the denominator is cramped."""
    size, constants = SIZES[style], CONSTANTS[SIZES[style]]
    inner = min(style + 1, SMALLEST)
    above, below = _set(node.numerator, inner, cramped), _set(node.denominator, inner, True)
    up, down = (constants.num1, constants.denom1) if style == DISPLAY else (constants.num2, constants.denom2)
    thickness, axis = size * constants.rule, size * constants.axis
    clearance = 3 * thickness if style == DISPLAY else thickness
    up = max(size * up, clearance + above.depth + axis + thickness / 2)
    down = max(size * down, clearance + below.height - axis + thickness / 2)
    width = max(above.width, below.width)
    box = Box(width + 2 * NULL_DELIMITER_SPACE, above.height + up, below.depth + down)
    box.add(above, NULL_DELIMITER_SPACE + (width - above.width) / 2, up)
    box.add(below, NULL_DELIMITER_SPACE + (width - below.width) / 2, -down)
    box.marks.append(Mark(node.place, NULL_DELIMITER_SPACE, axis - thickness / 2, Rule(width, thickness)))
    return box
