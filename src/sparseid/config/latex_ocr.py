"""Settings of LaTeX-OCR; numbers of the paper stand in ``configs/data/latex_ocr.yaml``."""

from __future__ import annotations

from dataclasses import dataclass, field

from omegaconf import MISSING


@dataclass
class LatexOcrConfig:
    """Noisy images of formulas, labelled with their tokens."""

    name: str = "latex_ocr"
    renderer: str = "builtin"
    """builtin (TeX's rules and Computer Modern, drawn here) or pdflatex (TeX itself, which has to be installed)."""
    height: int = field(default=MISSING, metadata={"spatial": True})  # its size says how large the motif map is
    width: int = field(default=MISSING, metadata={"spatial": True})
    """Canvas, pixels; formulas lie in its middle and are cut off where they are larger."""
    dpi: int = MISSING
    """Dots per inch; formulas are set at 10 points."""
    longest: int = MISSING
    """Tokens of the longest formula; lengths are uniform in [1, longest]."""
    white_flip: float = MISSING
    """Probability that a white pixel becomes black."""
    loop_size: int = 0
    """Training formulas after which they come again, under new noise; 0 is never."""

    @property
    def spatial(self) -> tuple[int, int]:
        """Height and width of the images, pixels."""
        return self.height, self.width
