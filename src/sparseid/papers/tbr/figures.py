"""TBR's curves, drawn from result rows, and the figures of one run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from sparseid.papers.aggregation import Aggregation
from sparseid.papers.drawing import (
    BLUE,
    FAINT,
    INK,
    ORANGE,
    draw_band,
    draw_dots,
    hollow_points,
    legend_below,
    legend_dot,
    legend_line,
    new_figure,
    new_plots,
    paper_label,
)
from sparseid.papers.labels import label
from sparseid.papers.rows import per_replicate, select, values_of
from sparseid.papers.targets import Target, load_targets
from sparseid.papers.tbr.claims import LATENTS, LEARNED, METHODS

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

COLOURS = {"tbr": BLUE, "baseline": ORANGE}
MEMBERS_SHOWN = 5
"""Seeds of a run whose correlations are drawn."""
ARCS_SHOWN = 60


@dataclass(frozen=True)
class Points:
    """The points of a curve."""

    key: str
    """Row key whose values are the points."""
    label: str
    """Label of the axis."""
    apart: float
    """Distance of the two methods' dots from a point."""


CHANGES_ALONG_ARCS = Points("S", "S, weights that change along an arc", 0.06)
PROBABILITY_OF_CHANGE = Points("pi", "pi, probability that a weight changes", 0.01)
LEARNED_LATENTS = Points("learned_dim", "learned latents", 0.0)


def curves(
    rows: pd.DataFrame,
    targets: Sequence[Target],
    scale: str,
    panels: Mapping[str, str],
    points: Points = CHANGES_ALONG_ARCS,
    artefact: str = "tbr/fig4",
) -> Figure:
    """Draw metrics of both methods along a curve: a dot per replicate, the mean with its spread.

    Parameters
    ----------
    rows, targets, scale
        As of every plot function.
    panels
        Metric -> title; ``{cells}`` in it is replaced by a note at scales that do not use the paper's cells.
    points
        The points of the curve.
    artefact
        Artefact whose aggregation to use.
    """
    from matplotlib.ticker import MaxNLocator

    aggregation = load_targets("tbr").aggregation_of(artefact)
    cells = "" if scale == "paper" else ", not the paper's cells"
    figure, grid = new_plots(4.5 * len(panels), 3.4, columns=len(panels))
    for axes, (metric, title) in zip(grid[0], panels.items(), strict=True):
        for place, method in zip((-points.apart, points.apart), METHODS, strict=True):
            _curve(axes, rows, metric, method, points, place, aggregation)
            _paper_points(axes, targets, metric, method, points, 3 * place)
        axes.set_title(title.format(cells=cells), fontsize=10, color=INK)
        axes.set_xlabel(points.label, fontsize=9)
        if points is CHANGES_ALONG_ARCS:
            axes.xaxis.set_major_locator(MaxNLocator(integer=True))
        axes.set_ylim(bottom=0)
    printed = any(target.metric in panels and target.value is not None for target in targets)
    _legend(figure, scale, aggregation, with_paper=printed, columns=3 if len(panels) > 1 else 2)
    return figure


def curves_against_latents(rows: pd.DataFrame, targets: Sequence[Target], scale: str) -> Figure:
    """Draw figure 3: test MSE of both methods against the learned latents, a panel per number of true ones.

    Each method has its own scale: the errors of the baseline are several times those of TBR.
    """
    from matplotlib.ticker import MaxNLocator

    aggregation = load_targets("tbr").aggregation_of("tbr/fig3")
    figure, grid = new_plots(2.6 * len(LATENTS), 5, columns=len(LATENTS), rows=len(METHODS))
    for line, method in zip(grid, METHODS, strict=True):
        for axes, latents in zip(line, LATENTS, strict=True):
            axes.axvline(latents, color=FAINT, linewidth=1, linestyle=":")
            of_latents = select(rows, {"latent_dim": (latents,)})
            _curve(axes, of_latents, "mse", method, LEARNED_LATENTS, 0.0, aggregation)
            if not axes.collections:
                axes.text(0.5, 0.5, "no runs", transform=axes.transAxes, ha="center", fontsize=9, color=FAINT)
            axes.set_ylim(bottom=0)
            axes.set_xlim(LEARNED[0] - 0.4, LEARNED[-1] + 0.4)
            axes.xaxis.set_major_locator(MaxNLocator(integer=True))
        line[0].set_ylabel(f"test MSE, {label(method)}", fontsize=9)
    for axes, latents in zip(grid[0], LATENTS, strict=True):
        axes.set_title(f"{latents} true latents (dotted)", fontsize=10, color=INK)
    for axes in grid[-1]:
        axes.set_xlabel(LEARNED_LATENTS.label, fontsize=9)
    _legend(figure, scale, aggregation, with_paper=False, columns=2)
    return figure


def _legend(figure: Figure, scale: str, aggregation: Aggregation, with_paper: bool, columns: int) -> None:
    handles = [legend_line(COLOURS[method], 2) for method in METHODS]
    names = [f"{label(method)}, scale={scale}" for method in METHODS]
    if with_paper:
        handles.append(legend_dot(FAINT, hollow=True))
        names.append(f"{paper_label(scale)}, where printed")
    legend_below(figure, handles, names, f"dots: {aggregation.over}; band: {aggregation.interval_words}", columns)


def run_figures(rows: pd.DataFrame, arrays: Mapping[str, np.ndarray], scale: str) -> dict[str, Figure]:
    """Draw the figures of one run by file name: ``correlations`` of true and learned latents, ``deltas``."""
    seeds = list(dict.fromkeys(rows["seed"]))
    drawn = {}
    if "correlation" in arrays:
        drawn["correlations"] = correlations(arrays["correlation"], arrays["permutation"], seeds)
    if "deltas" in arrays:
        drawn["deltas"] = deltas_of_arcs(arrays["deltas"][0], seeds[0] if seeds else 0)
    return drawn


def correlations(correlation: np.ndarray, permutation: np.ndarray, seeds: Sequence[int]) -> Figure:
    """Draw the absolute correlations of true (rows) and learned latents (columns) of the first seeds.

    Columns are in the order of the best matching: the MCC averages the diagonal.

    Parameters
    ----------
    correlation : (members, k, k)
    permutation : (members, k)
        Learned latent matched with each true one.
    seeds
        One per member.
    """
    shown = min(len(correlation), MEMBERS_SHOWN)
    figure, grid = new_figure(2.1 * shown + 0.5, 2.5, columns=shown)
    for member, axes in enumerate(grid[0]):
        matched = np.abs(correlation[member][:, permutation[member]])
        axes.imshow(matched, vmin=0, vmax=1, cmap="Blues")
        for (row, column), value in np.ndenumerate(matched):
            colour = "white" if value > 0.6 else INK
            axes.text(column, row, f"{value:.2f}", ha="center", va="center", fontsize=6.5, color=colour)
        seed = f"seed {seeds[member]}, " if member < len(seeds) else ""
        axes.set_title(f"{seed}MCC {np.mean(np.diagonal(matched)):.3f}", fontsize=8.5, color=INK)
        axes.set(xticks=[], yticks=[])
    grid[0, 0].set_ylabel("true latent", fontsize=8.5)
    figure.supxlabel("learned latent, matched", fontsize=8.5)
    return figure


def deltas_of_arcs(deltas: np.ndarray, seed: int) -> Figure:
    """Draw the learned changes (arcs, k) of the weights along the first arcs, in the order of the tree's nodes."""
    shown = deltas[:ARCS_SHOWN].T
    largest = max(float(np.abs(shown).max(initial=0.0)), 1e-12) if np.isfinite(shown).all() else 1.0
    figure, grid = new_figure(8.5, 1.9)
    axes = grid[0, 0]
    picture = axes.imshow(shown, cmap="RdBu", vmin=-largest, vmax=largest, aspect="auto")
    axes.set_xlabel(f"arc, the first {shown.shape[1]} of {len(deltas)} (seed {seed})", fontsize=8.5)
    axes.set_ylabel("learned latent", fontsize=8.5)
    axes.set_yticks(range(len(shown)))
    axes.tick_params(labelsize=7.5)
    figure.colorbar(picture, ax=axes, label="change of its weight")
    return figure


def _curve(
    axes: Axes, rows: pd.DataFrame, metric: str, method: str, points: Points, place: float, aggregation: Aggregation
) -> None:
    measured = {
        float(at) + place: found
        for at in values_of(rows, points.key)
        if len(found := per_replicate(rows, metric, aggregation.keys, {"method": (method,), points.key: (at,)}))
    }
    if not measured:
        return
    draw_band(axes, list(measured), [aggregation.summarise(values) for values in measured.values()], COLOURS[method])
    draw_dots(axes, measured, COLOURS[method], s=8, alpha=0.5)


def _paper_points(
    axes: Axes, targets: Sequence[Target], metric: str, method: str, points: Points, place: float
) -> None:
    found: list[tuple[float, float]] = []
    for target in targets:
        if (target.metric, target.keys.get("method")) == (metric, method) and target.value is not None:
            found.append((float(target.keys[points.key]) + place, target.value))
            if target.interval:
                axes.vlines(found[-1][0], *target.interval, color=COLOURS[method], linewidth=1.2)
    hollow_points(axes, found, COLOURS[method], s=26)
