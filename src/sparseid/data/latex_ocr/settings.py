"""Settings of LaTeX-OCR; values of the paper are in ``configs/data/latex_ocr.yaml``."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

from sparseid.settings import Keys, MotifSettings, Run, SettingsError, setting

LONGEST = 200
"""Maximum number of tokens; longer formulas are hardly ever wanted."""
LOWEST_DPI = 50
"""Minimum resolution; below it, the smallest scripts have fewer than four rows."""
TRIED = 50
"""Number of formulas of the longest length whose size is checked."""


@dataclass
class LatexOcrSettings(MotifSettings):
    """Noisy images of formulas, labelled with their tokens."""

    name: str = "latex_ocr"
    renderer: str = setting(
        "builtin (TeX's rules and Computer Modern fonts) or pdflatex (TeX itself, which must be installed).",
        default="builtin",
        choices=("builtin", "pdflatex"),
    )
    height: int = setting(
        "Height of the canvas, in pixels; formulas are centred, and cropped if they are larger.",
        at_least=1,
        spatial=True,
    )
    width: int = setting("Width of the canvas, in pixels.", at_least=1, spatial=True)
    dpi: int = setting("Dots per inch; formulas are set at 10 points.", at_least=LOWEST_DPI, at_most=1200)
    longest: int = setting(
        "Number of tokens of the longest formula; lengths are uniform in [1, longest].", at_least=1, at_most=LONGEST
    )
    white_flip: float = setting("Probability that a white pixel becomes black.", at_least=0, at_most=1)
    loop_size: int = setting(
        "Number of training formulas before they repeat, with new noise; 0 for never.", default=0, at_least=0
    )

    loads = "sparseid.data.latex_ocr.datamodule:LatexOcrData"

    @property
    def spatial(self) -> tuple[int, int]:
        """Height and width of the images, in pixels."""
        return self.height, self.width

    def errors(self, run: Run) -> Iterator[SettingsError]:
        """Yield an error if the canvas crops all of the longest formulas (the published one crops a few)."""
        from sparseid.data.latex_ocr.grammar import sample
        from sparseid.data.latex_ocr.layout import layout
        from sparseid.data.latex_ocr.page import BORDER_POINTS, POINTS_PER_INCH
        from sparseid.data.latex_ocr.syntax import parse
        from sparseid.streams import FIXED

        rng = FIXED.numpy("latex_ocr/sizes")
        boxes = [layout(parse(sample(self.longest, rng))) for _ in range(TRIED)]
        scale = self.dpi / POINTS_PER_INCH
        heights = sorted(math.ceil((box.height + box.depth + 2 * BORDER_POINTS) * scale) for box in boxes)
        widths = sorted(math.ceil((box.width + 2 * BORDER_POINTS) * scale) for box in boxes)
        for name, canvas, extents in (("height", self.height, heights), ("width", self.width, widths)):
            if canvas < extents[0]:
                sizes = f"{extents[0]} to {extents[-1]} pixels in {name}, half of them {extents[TRIED // 2]} or more"
                text = (
                    f"every formula of data.longest={self.longest} tokens would be cropped: at data.dpi={self.dpi} "
                    f"they are {sizes}. Raise data.{name}, or lower data.dpi or data.longest"
                )
                yield SettingsError((f"data.{name}", "data.dpi", "data.longest"), text)

    def missing_files(self) -> Iterator[SettingsError]:
        """Yield an error if this machine lacks programs of the renderer."""
        if self.renderer == "pdflatex":
            from sparseid.data.latex_ocr.pdflatex import missing_programs

            if text := missing_programs():
                yield SettingsError(("data.renderer",), text)

    def row_keys(self) -> Keys:
        """Return the domain as in the paper's tables."""
        return {"domain": "latex_ocr"}
