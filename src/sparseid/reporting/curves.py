"""Training curves of the user's own runs, those of all runs of a table in one picture."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from sparseid.papers.drawing import kind_colour, legend_line, new_plots
from sparseid.training.run_folder import RunFolder

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MOST_PANELS = 6
"""More curves than these are left out: first the loss, then those of validations, then the others."""
MOST_LABELS = 12
_COLUMNS = 3
_SEED = r"/seed(\d+)$"
"""End of the names of curves of members."""
_WIDE = 50.0
"""Ratio of the largest and the smallest value from which an axis is logarithmic."""


def read_curves(folder: Path) -> pd.DataFrame:
    """Return the curves of a run: ``samples``, ``name``, ``seed`` (of a member of a stack; else empty) and ``value``.

    Empty if the run has none, or the file cannot be read; values that are not finite are left out.
    """
    columns = ["samples", "name", "value"]
    try:
        found = pd.read_csv(RunFolder(folder).metrics, on_bad_lines="skip")[columns]
    except (OSError, ValueError, KeyError):  # also of pandas' parser
        found = pd.DataFrame(columns=columns)
    names = found["name"].astype(str)
    numbers = found[["samples", "value"]].apply(pd.to_numeric, errors="coerce")
    curves = numbers.assign(name=names.str.replace(_SEED, "", regex=True), seed=names.str.extract(_SEED, expand=False))
    curves["seed"] = curves["seed"].fillna("")
    return curves[np.isfinite(numbers.to_numpy(float)).all(axis=1)]


def draw_curves(runs: Mapping[str, Sequence[Path]]) -> Figure | None:
    """Draw the curves of runs, a panel for each name, a colour for each label; None if no run has any.

    Parameters
    ----------
    runs
        Label of the legend -> folders of runs.
    """
    curves = {label: [read_curves(folder) for folder in folders] for label, folders in runs.items()}
    names = dict.fromkeys(name for of_label in curves.values() for run in of_label for name in run["name"])
    shown = sorted(names, key=lambda name: (name != "loss", not name.startswith("val_")))[:MOST_PANELS]
    if not shown:
        return None
    columns = min(len(shown), _COLUMNS)
    lines = -(-len(shown) // columns)
    figure, grid = new_plots(3.2 * columns + 0.4, 2.3 * lines + 0.5, lines, columns)
    for axes, name in zip(grid.flat, shown, strict=False):
        values = []
        for number, of_label in enumerate(curves.values()):
            for run in of_label:
                for _, curve in run[run["name"] == name].groupby("seed"):
                    axes.plot(curve["samples"], curve["value"], color=kind_colour(number), linewidth=1, alpha=0.7)
                    values.append(curve["value"].to_numpy())
        every = np.concatenate(values)
        if every.min() > 0 and every.max() > _WIDE * every.min():
            axes.set_yscale("log")
        axes.set_title(name.replace("val_", "validation ", 1).replace("_", " "), fontsize=9)
        axes.set_xlabel("training samples", fontsize=8)
    for axes in grid.flat[len(shown) :]:
        axes.set_axis_off()
    if 1 < len(curves) <= MOST_LABELS:
        lines_of = [legend_line(kind_colour(number), 1.5) for number in range(len(curves))]
        figure.legend(lines_of, list(curves), loc="outside lower center", ncols=columns, frameon=False, fontsize=8)
    return figure
