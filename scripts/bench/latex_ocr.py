"""Formulas per second of the LaTeX-OCR renderers, one after the other, and of cached images."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Sequence
from tempfile import TemporaryDirectory

import numpy as np
from timing import report, seconds

from sparseid.data.latex_ocr import builtin, pdflatex
from sparseid.data.latex_ocr.generator import LatexOcr
from sparseid.data.latex_ocr.grammar import Formula
from sparseid.data.latex_ocr.items import BLOCK, Items
from sparseid.data.latex_ocr.page import Page
from sparseid.printing import protect_output
from sparseid.streams import Streams

DPI = 200
AT_ONCE = 200
BATCH = 32

Render = Callable[[Sequence[Formula], int], list[Page]]


def new_formulas() -> Iterator[list[Formula]]:
    """Yield formulas that were not drawn before, since the renderers or their parts cache results."""
    rng = np.random.default_rng(0)
    while True:
        yield LatexOcr().draw_formulas(AT_ONCE, rng)


def kept_block() -> None:
    """Read a block that pdflatex has drawn from the data folder, and give its first items noise."""
    Items(LatexOcr(renderer="pdflatex"), Streams(0), "bench", end=BLOCK).batch(np.arange(BATCH))


def main() -> None:
    """Measure drawing of formulas, and batches of items whose formulas are cached in memory or on disk."""
    drawn: dict[str, Render] = {"builtin": builtin.render}
    if not pdflatex.missing_programs():
        drawn["pdflatex"] = pdflatex.render
    formulas = new_formulas()

    def work(render: Render) -> Callable[[], object]:
        return lambda: render(next(formulas), DPI)

    items, numbers = Items(LatexOcr(), Streams(0), "batches"), np.arange(BATCH)
    calls: dict[str, Callable[[], object]] = {name: work(render) for name, render in drawn.items()}
    calls |= {"batch": lambda: items.batch(numbers)}
    if "pdflatex" in drawn:
        calls["kept"] = kept_block
    of_one_call = {"batch": BATCH, "kept": BLOCK}
    rates = {}
    with TemporaryDirectory() as folder:
        os.environ["SPARSEID_DATA"] = folder
        for clock in (time.perf_counter, time.process_time):
            if clock is time.process_time:
                calls.pop("pdflatex", None)  # works in separate processes
            for name, took in seconds(calls, repeats=5, clock=clock).items():
                rates[f"{name}_per_{'cpu_' if clock is time.process_time else ''}s"] = (
                    of_one_call.get(name, AT_ONCE) / took
                )
    titles = {"batch": "items of 120x360 drawn before", "kept": "pdflatex, kept before, a block"}
    lines = [f"LaTeX-OCR at {DPI} dpi, formulas of 1 to 30 tokens, per second of one process, and of its own time"]
    for name in [*drawn, *(other for other in ("batch", "kept") if other in calls)]:
        own = rates.get(f"{name}_per_cpu_s")
        lines.append(f"  {titles.get(name, name):34s} {rates[f'{name}_per_s']:9,.0f} {f'{own:9,.0f}' if own else ''}")
    report("latex_ocr", lines, rates)


if __name__ == "__main__":
    protect_output()
    main()
