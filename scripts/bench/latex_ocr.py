"""Formulas per second of the LaTeX-OCR renderers against Matplotlib's mathtext, one after the other."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np
from matplotlib.font_manager import FontProperties
from matplotlib.mathtext import MathTextParser
from timing import report, seconds

from sparseid.data.latex_ocr import builtin, pdflatex
from sparseid.data.latex_ocr.generator import LatexOcr
from sparseid.data.latex_ocr.grammar import Formula, tex
from sparseid.data.latex_ocr.items import Items
from sparseid.streams import Streams

DPI = 200
AT_ONCE = 200
BATCH = 32


def mathtext(formulas: Sequence[Formula], dpi: int) -> list[np.ndarray]:
    """Draw formulas as one would with Matplotlib: a picture each, without boxes."""
    parser: MathTextParser = MathTextParser("agg")
    font = FontProperties(size=10, math_fontfamily="cm")
    return [np.asarray(parser.parse(f"${tex(formula)}$", dpi, font).image) for formula in formulas]


def new_formulas() -> Iterator[list[Formula]]:
    """Yield formulas that were not drawn before: all of these renderers or their parts remember what they have seen."""
    rng = np.random.default_rng(0)
    while True:
        yield LatexOcr().draw_formulas(AT_ONCE, rng)


def main() -> None:
    """Measure drawing of formulas, and batches of items whose formulas were drawn already."""
    drawn: dict[str, Callable[[Sequence[Formula], int], object]] = {"builtin": builtin.render, "mathtext": mathtext}
    if not pdflatex.missing_programs():
        drawn["pdflatex"] = pdflatex.render
    formulas = new_formulas()

    def work(render: Callable[[Sequence[Formula], int], object]) -> Callable[[], None]:
        return lambda: (render(next(formulas), DPI), None)[1]

    items, numbers = Items(LatexOcr(), Streams(0), "batches"), np.arange(BATCH)
    calls: dict[str, Callable[[], object]] = {name: work(render) for name, render in drawn.items()}
    calls["batch"] = lambda: items.batch(numbers)
    times = seconds(calls, repeats=5)
    rates = {name: (BATCH if name == "batch" else AT_ONCE) / took for name, took in times.items()}
    lines = [f"LaTeX-OCR at {DPI} dpi, formulas of 1 to 30 tokens, per second of one process"]
    for name in drawn:
        lines.append(f"  {name:34s} {rates[name]:9,.0f}   ratio to mathtext {rates[name] / rates['mathtext']:5.1f}")
    lines.append(f"  {'items of 120x360 drawn before':34s} {rates['batch']:9,.0f}")
    report("latex_ocr", lines, {f"{name}_per_s": rate for name, rate in rates.items()})


if __name__ == "__main__":
    main()
