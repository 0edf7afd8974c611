"""RegCL's figure 2, drawn from result rows, and the attribution maps of one run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from sparseid.papers.drawing import (
    AMBER,
    BLUE,
    INK,
    ORANGE,
    PINK,
    PURPLE,
    TEAL,
    draw_summaries,
    legend_below,
    legend_line,
    new_figure,
    new_plots,
)
from sparseid.papers.labels import label
from sparseid.papers.regcl.claims import ATTRIBUTIONS, LATENTS, REGCL, REGULARISATIONS, auc
from sparseid.papers.rows import values_of
from sparseid.papers.targets import Target, load_targets

if TYPE_CHECKING:
    from matplotlib.figure import Figure

COLOURS = dict(zip(ATTRIBUTIONS, (BLUE, TEAL, ORANGE, PURPLE, AMBER, PINK), strict=True))
MEMBERS_SHOWN = 3
"""Members of a run whose maps are drawn."""


def auc_against_latents(rows: pd.DataFrame, targets: Sequence[Target], scale: str) -> Figure:
    """Draw figure 2: AUC against the number of latents, RegCL in black, the supervised baselines in colours."""
    figure, grid = new_plots(9.5, 4.0, columns=len(REGULARISATIONS), sharey=True)
    aggregation = load_targets("regcl").aggregation
    latents = [d for d in LATENTS if d in set(values_of(rows, "dim"))]
    side_by_side = np.linspace(-0.2, 0.2, len(ATTRIBUTIONS) + 1)  # equal AUCs would hide each other
    for axes, regularisation in zip(grid[0], REGULARISATIONS, strict=True):
        baselines = [((name, "supervised", regularisation), COLOURS[name], 1.5) for name in ATTRIBUTIONS]
        for (name, colour, width), aside in zip([(REGCL, "black", 2.5), *baselines], side_by_side, strict=True):
            found = {d + aside: auc(rows, *name, dim=d) for d in latents}
            draw_summaries(axes, found, aggregation, colour, linewidth=width, markersize=4)
        title = "supervised baselines" + (", regularised" if regularisation == "regularised" else "")
        axes.set_title(title, fontsize=10, color=INK)
        axes.set_xlabel("latents", fontsize=9)
        axes.set_xticks(latents)
    grid[0, 0].set_ylabel("AUC, % (chance: 50)", fontsize=9)
    handles = [legend_line("black", 2.5), *(legend_line(COLOURS[name], 1.5) for name in ATTRIBUTIONS)]
    names = [f"RegCL, scale={scale}", *(label(name) for name in ATTRIBUTIONS)]
    title = f"points: data sets; bar: {aggregation.interval_words} of their mean"
    legend_below(figure, handles, names, title, columns=4)
    return figure


def run_figures(rows: pd.DataFrame, arrays: Mapping[str, np.ndarray], scale: str) -> dict[str, Figure]:
    """Draw the figure of one run by file name: ``maps``."""
    names = [name for name in ATTRIBUTIONS if f"map_{name}" in arrays]
    if not names:
        return {}
    maps = {name: arrays[f"map_{name}"] for name in names}
    return {"maps": attribution_maps(maps, arrays.get("truth"), list(dict.fromkeys(rows["seed"])))}


def attribution_maps(maps: Mapping[str, np.ndarray], truth: np.ndarray | None, seeds: Sequence[int]) -> Figure:
    """Draw the maps of the first members, a row per method below the true map; each map has its own scale.

    Parameters
    ----------
    maps
        Method -> (members, outputs, D).
    truth
        (members, outputs, D) bool; None if unknown.
    seeds
        One per member.
    """
    lines = {} if truth is None else {"truth": truth.astype(float)}
    lines |= {label(name): np.abs(values) for name, values in maps.items()}
    shown = min(len(next(iter(maps.values()))), MEMBERS_SHOWN)
    figure, grid = new_figure(3.1 * shown + 1.4, 0.55 * len(lines) + 0.6, rows=len(lines), columns=shown)
    for line, (name, values) in zip(grid, lines.items(), strict=True):
        for member, axes in enumerate(line):
            largest = float(np.nanmax(values[member], initial=0.0)) or 1.0
            axes.imshow(values[member], cmap="Greys", vmin=0, vmax=largest, aspect="auto", interpolation="none")
            axes.set(xticks=[], yticks=[])
        line[0].set_ylabel(name, fontsize=8, rotation=0, ha="right", va="center")
    for member, axes in enumerate(grid[0]):
        axes.set_title(f"seed {seeds[member]}" if member < len(seeds) else "", fontsize=8.5, color=INK)
    figure.supxlabel("observed feature; rows: scored latents; dark: attributed", fontsize=8.5)
    return figure
