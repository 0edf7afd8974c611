"""What settings of LaTeX-OCR cannot be, and which programs are not there."""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from sparseid.data.latex_ocr.generator import RENDERERS
from sparseid.data.latex_ocr.grammar import sample
from sparseid.data.latex_ocr.layout import layout
from sparseid.data.latex_ocr.page import BORDER_POINTS, POINTS_PER_INCH
from sparseid.data.latex_ocr.syntax import parse
from sparseid.streams import FIXED

if TYPE_CHECKING:
    from sparseid.config.latex_ocr import LatexOcrConfig

LONGEST = 200
"""Tokens: beyond, the least probable lengths are hardly ever what anyone wants to read."""
LOWEST_DPI = 50
"""Below, the smallest scripts have less than four rows."""
TRIED = 50
"""Formulas of the longest length whose size is looked at."""

Fault = tuple[tuple[str, ...], str]
"""Dotted keys that clash, and why, with what to do."""


def faults(config: LatexOcrConfig) -> Iterator[Fault]:
    """Yield what makes the settings impossible."""
    if config.renderer not in RENDERERS:
        yield ("data.renderer",), f"data.renderer must be one of {', '.join(RENDERERS)}"
    sound = True
    for name, least, most in (
        ("height", 1, math.inf),
        ("width", 1, math.inf),
        ("dpi", LOWEST_DPI, 1200),
        ("longest", 1, LONGEST),
        ("white_flip", 0, 1),
        ("loop_size", 0, math.inf),
    ):
        if not least <= getattr(config, name) <= most:
            sound = False
            upper = "" if most == math.inf else f" and at most {most}"
            yield (f"data.{name}",), f"data.{name} must be at least {least}{upper}"
    if sound:
        yield from _too_small(config)


def absent_files(config: LatexOcrConfig) -> Iterator[Fault]:
    """Yield which programs the renderer needs and this machine does not have."""
    if config.renderer == "pdflatex":
        from sparseid.data.latex_ocr.pdflatex import missing_programs

        if text := missing_programs():
            yield ("data.renderer",), text


def placed_files(config: LatexOcrConfig) -> dict[str, Path]:
    """Return no file."""
    return {}


def _too_small(config: LatexOcrConfig) -> Iterator[Fault]:
    """Yield a canvas that holds none of the longest formulas whole; a few are cut off on the published one, too."""
    rng = FIXED.numpy("latex_ocr/sizes")
    boxes = [layout(parse(sample(config.longest, rng))) for _ in range(TRIED)]
    scale = config.dpi / POINTS_PER_INCH
    heights = sorted(math.ceil((box.height + box.depth + 2 * BORDER_POINTS) * scale) for box in boxes)
    widths = sorted(math.ceil((box.width + 2 * BORDER_POINTS) * scale) for box in boxes)
    for name, canvas, extents in (("height", config.height, heights), ("width", config.width, widths)):
        if canvas < extents[0]:
            sizes = f"{extents[0]} to {extents[-1]} pixels in {name}, half of them {extents[TRIED // 2]} or more"
            text = (
                f"every formula of data.longest={config.longest} tokens would be cut off: at data.dpi={config.dpi} "
                f"they are {sizes}. Raise data.{name}, or lower data.dpi or data.longest"
            )
            yield (f"data.{name}", "data.dpi", "data.longest"), text
