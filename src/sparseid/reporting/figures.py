"""Saving figures."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from sparseid.files import replace_file

if TYPE_CHECKING:
    from matplotlib.figure import Figure

PNG_DPI = 160


def save_figure(figure: Figure, folder: Path, name: str) -> list[Path]:
    """Save a figure as ``<name>.png`` and ``<name>.svg`` in `folder` (created if needed), each replaced atomically.

    The same figure gives the same bytes: no dates, no random ids.
    """
    from matplotlib import rc_context

    folder.mkdir(parents=True, exist_ok=True)
    png, svg = folder / f"{name}.png", folder / f"{name}.svg"
    figure.set_dpi(PNG_DPI)
    if engine := figure.get_layout_engine():  # once, here: with one, each saving would draw everything twice
        engine.execute(figure)
        figure.set_layout_engine(None)
    replace_file(png, lambda file: figure.savefig(file, format="png", dpi=PNG_DPI))
    with rc_context({"svg.hashsalt": "sparseid"}):
        replace_file(svg, lambda file: figure.savefig(file, format="svg", metadata={"Date": None}))
    return [png, svg]
