"""Renderer by TeX itself: pdflatex sets many formulas at once, poppler's pdftoppm draws them."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from sparseid.data.latex_ocr.grammar import KIND_NUMBERS, TEX, TOKENS, Formula, tex
from sparseid.data.latex_ocr.page import BORDER_POINTS, SEEN_ABOVE, Page
from sparseid.data.latex_ocr.syntax import parse
from sparseid.errors import InputError

PROGRAMS = ("pdflatex", "pdftoppm")
PACKAGES = "texlive-latex-base texlive-latex-recommended preview-latex-style poppler-utils"
"""Packages of Debian and its derivatives with the programs, and with amsmath, xcolor and preview for LaTeX."""

HUES = 18
"""Number of symbols distinguished on one page, 20 degrees apart (authors' code)."""
HUE_STEP = 360 // HUES
ROUNDED_TO = 10
"""Multiple of degrees to which the hue of a pixel is rounded (authors' code)."""

_HEAD = rf"""\documentclass{{article}}
\usepackage{{amsmath,xcolor}}
\usepackage[active,tightpage]{{preview}}
\setlength\PreviewBorder{{{BORDER_POINTS}pt}}
""" + "".join(rf"\definecolor{{h{k}}}{{Hsb}}{{{HUE_STEP * k},1,1}}" "\n" for k in range(HUES))


_PIXMAP = re.compile(rb"P6\s+(\d+)\s+(\d+)\s+255\s")


def missing_programs() -> str:
    """Return the missing programs of this renderer and how to install them; empty if all are installed."""
    missing = [program for program in PROGRAMS if shutil.which(program) is None]
    if not missing:
        return ""
    return (
        f"data.renderer=pdflatex needs {' and '.join(missing)}, not installed here: apt-get install {PACKAGES} on "
        "Debian, or use data.renderer=builtin, which needs no TeX"
    )


def render(formulas: Sequence[Formula], dpi: int) -> list[Page]:
    """Draw formulas, each on its own page, at 10 points and `dpi` dots per inch.

    The boxes come from further pages on which every symbol has its own hue (authors' code). If two symbols touch, their
    hues may mix into that of a third, whose box is then too large: one in thousands. A symbol whose hue occurs nowhere
    has no box (authors' code).

    Raises
    ------
    InputError
        If a formula is not in the grammar, or a program is missing or fails.
    """
    for formula in formulas:
        parse(formula)
    if text := missing_programs():
        raise InputError(text, ("data.renderer",))
    symbols = [[place for place, token in enumerate(formula) if KIND_NUMBERS[token] >= 0] for formula in formulas]
    bodies = []
    for formula, places in zip(formulas, symbols, strict=True):
        bodies.append(tex(formula))
        bodies += [_tinted(formula, places[start : start + HUES]) for start in range(0, len(places), HUES)]
    images = _images(bodies, dpi)
    pages = []
    for places in symbols:
        plain = next(images)[..., 0]
        found: dict[int, tuple[int, int, int, int]] = {}
        for start in range(0, len(places), HUES):
            coloured = places[start : start + HUES]
            boxes = _boxes_by_hue(next(images), len(coloured))
            found |= {coloured[hue]: box for hue, box in boxes.items()}
        boxes_found = np.array([found[place] for place in sorted(found)], np.int64).reshape(-1, 4)
        pages.append(Page(plain, np.array(sorted(found), np.int64), boxes_found))
    return pages


def _tinted(formula: Formula, coloured: Sequence[int]) -> str:
    """Return a formula in TeX's language with the symbols at some places in their hues, the others black.

    A colour is set before every symbol without a group, which would change the spaces.
    """
    written = []
    for place, token in enumerate(formula):
        if KIND_NUMBERS[token] >= 0:
            written.append(rf"\color{{{f'h{coloured.index(place)}' if place in coloured else 'black'}}}")
        written.append(TEX[TOKENS[token]])
    return "".join(written)


def _images(bodies: Sequence[str], dpi: int) -> Iterator[np.ndarray]:
    """Yield the page of each formula, (rows, columns, 3) uint8."""
    pages = "\n".join(rf"\begin{{preview}}$\displaystyle {body}$\end{{preview}}" for body in bodies)
    with TemporaryDirectory(prefix="sparseid-") as folder:
        source = Path(folder) / "formulas.tex"
        source.write_text(f"{_HEAD}\\begin{{document}}\n{pages}\n\\end{{document}}\n", encoding="ascii")
        _run(["pdflatex", "-interaction=nonstopmode", "-halt-on-error", source.name], folder)
        drawn = _run(["pdftoppm", "-r", str(dpi), "formulas.pdf"], folder)
    yield from _pixmaps(drawn)


def _run(command: list[str], folder: str) -> bytes:
    done = subprocess.run(command, cwd=folder, capture_output=True, stdin=subprocess.DEVNULL, check=False)
    if done.returncode:
        lines = (done.stdout + done.stderr).decode(errors="replace").splitlines()
        said = next((line for line in lines if line.startswith("!")), lines[-1] if lines else "nothing")
        text = f"{command[0]} failed: {said}. Are these installed: {PACKAGES} (Debian)?"
        raise InputError(f"{text} data.renderer=builtin needs no TeX", ("data.renderer",))
    return done.stdout


def _pixmaps(stream: bytes) -> Iterator[np.ndarray]:
    """Yield the binary pixmaps (P6) in a stream, (rows, columns, 3) uint8."""
    start = 0
    while start < len(stream):
        header = _PIXMAP.match(stream, start)
        assert header is not None, "pdftoppm writes binary pixmaps"
        columns, rows = int(header[1]), int(header[2])
        yield np.frombuffer(stream, np.uint8, rows * columns * 3, header.end()).reshape(rows, columns, 3)
        start = header.end() + rows * columns * 3


def _boxes_by_hue(image: np.ndarray, hues: int) -> dict[int, tuple[int, int, int, int]]:
    """Return the half-open box of the pixels of each hue of the first `hues` that occurs, by the hue's number."""
    largest, smallest = image.max(axis=2), image.min(axis=2)
    rows, columns = np.nonzero(largest - smallest > SEEN_ABOVE * largest)
    red, green, blue = image[rows, columns].astype(float).T
    chroma = (largest - smallest)[rows, columns]
    hue = np.select(
        [largest[rows, columns] == red, largest[rows, columns] == green],
        [(green - blue) / chroma, 2 + (blue - red) / chroma],
        4 + (red - green) / chroma,
    )
    degrees = np.round(60 * hue / ROUNDED_TO).astype(int) * ROUNDED_TO % 360
    boxes = {}
    for number in range(hues):
        of_this = degrees == HUE_STEP * number
        if of_this.any():
            down, right = rows[of_this], columns[of_this]
            boxes[number] = int(down.min()), int(down.max()) + 1, int(right.min()), int(right.max()) + 1
    return boxes
