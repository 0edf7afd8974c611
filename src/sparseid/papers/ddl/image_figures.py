"""DDL's figures of images: what becomes of images when units of their code are moved or swapped."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from sparseid.papers.artefact import Arrays
from sparseid.papers.ddl import figures
from sparseid.papers.ddl.figures import traversals, unit_names
from sparseid.papers.ddl.image_claims import DEPENDENCY
from sparseid.papers.drawing import INK, new_figure
from sparseid.papers.labels import label
from sparseid.papers.rows import select

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

INCH = 0.55
"""Side of an image in inches."""
SWAPPED_OF = ("none", DEPENDENCY)
"""Regularisers whose swaps are shown side by side."""


def run_figures(rows: pd.DataFrame, arrays: Mapping[str, np.ndarray], scale: str) -> dict[str, Figure]:
    """Draw the figures of one run by file name: those of `figures.run_figures`, ``swaps`` and ``reconstructions``."""
    drawn = figures.run_figures(rows, arrays, scale)
    if "swaps" in arrays:
        drawn["swaps"] = swaps({"": arrays})
    elif "reconstructions" in arrays and not drawn:
        drawn["reconstructions"] = reconstructions(arrays)
    return drawn


def traversals_of_newest(rows: pd.DataFrame, arrays: Arrays, scale: str) -> Figure | None:
    """Draw the traversals of the newest run with dependency sparsity; None without its arrays."""
    saved = _newest(rows, arrays, DEPENDENCY)
    return traversals(saved) if "traversals" in saved else None


def swaps_of_newest(rows: pd.DataFrame, arrays: Arrays, scale: str) -> Figure | None:
    """Draw the swaps of the newest run without a penalty and with dependency sparsity; None without their arrays."""
    found = {label(name): _newest(rows, arrays, name) for name in SWAPPED_OF}
    found = {name: saved for name, saved in found.items() if "swaps" in saved}
    return swaps(found) if found else None


def _newest(rows: pd.DataFrame, arrays: Arrays, regulariser: str) -> Mapping[str, np.ndarray]:
    """Return the arrays of the newest run with a regulariser, of the lowest seed; empty without one."""
    mine = select(rows, {"regulariser": (regulariser,), "backbone": ("encdiff",)})
    if mine.empty:
        return {}
    mine = mine[mine["seed"] == mine["seed"].min()].sort_values("written", kind="stable")
    return arrays(mine["run"].iloc[-1])


def swaps(runs: Mapping[str, Mapping[str, np.ndarray]]) -> Figure:
    """Draw swaps: a line per unit, which has the value of the first image's in all images of the line.

    Above are the images and their decodings. A unit is named by the factors for which it stands, if there are any.

    Parameters
    ----------
    runs
        Arrays of runs by the title of their part.
    """
    images, side = next(iter(runs.values()))["swap_examples"].shape[:2]
    lines = max(len(arrays["swaps"]) for arrays in runs.values()) + 2.5
    width = len(runs) * (INCH * images + 1.4)
    figure, grid = new_figure(width, INCH * lines + 0.4, columns=len(runs))
    for (title, arrays), axes in zip(runs.items(), grid[0], strict=True):
        swapped = arrays["swaps"]
        units, gap = len(swapped), side // 2
        sheet = np.full(((units + 2) * side + gap, images * side, swapped.shape[-1]), 255, np.uint8)
        sheet[:side] = _line(arrays["swap_examples"])
        sheet[side : 2 * side] = _line(arrays["swap_decoded"])
        sheet[2 * side + gap :] = np.concatenate([_line(of_unit) for of_unit in swapped])
        _show(axes, sheet)
        places = [side / 2, 1.5 * side, *(2 * side + gap + (unit + 0.5) * side for unit in range(units))]
        axes.set_yticks(places, ["image", "decoded", *unit_names(arrays, arrays["active"])])
        axes.set_xticks([side / 2], ["gives\nits unit"])
        axes.set_title(title, fontsize=10, color=INK)
    return figure


def reconstructions(arrays: Mapping[str, np.ndarray]) -> Figure:
    """Draw images and what becomes of them."""
    shown, side = arrays["examples"].shape[:2]
    figure, grid = new_figure(INCH * shown + 1.0, 2 * INCH + 0.3)
    axes = grid[0, 0]
    _show(axes, np.concatenate([_line(arrays[name]) for name in ("examples", "reconstructions")]))
    axes.set_yticks([side / 2, 1.5 * side], ["image", "decoded"])
    axes.set_xticks([])
    return figure


def _show(axes: Axes, sheet: np.ndarray) -> None:
    axes.imshow(sheet.squeeze(), cmap="gray", interpolation="nearest")
    axes.tick_params(labelsize=7, length=0)
    axes.spines[:].set_visible(False)


def _line(images: np.ndarray) -> np.ndarray:
    """Return images (images, height, width, channels) side by side."""
    return np.concatenate(list(images), axis=1)
