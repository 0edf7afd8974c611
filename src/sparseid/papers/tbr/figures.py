"""TBR's curves against S, drawn from result rows, and the pictures of one run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from sparseid.papers.aggregation import Convention
from sparseid.papers.drawing import FAINT, INK, legend_below, legend_line, new_figure, tidy
from sparseid.papers.labels import written
from sparseid.papers.rows import per_replicate, select, values_of
from sparseid.papers.targets import Target, load_targets
from sparseid.papers.tbr.claims import LATENTS, LEARNED, METHODS

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

COLOURS = {"tbr": "#1d4ed8", "baseline": "#c2410c"}
MEMBERS_SHOWN = 5
"""Seeds of a run whose correlations are drawn."""
ARCS_SHOWN = 60


def curves_against_changes(rows: pd.DataFrame, targets: Sequence[Target], scale: str) -> Figure:
    """Draw figure 4: MCC and test MSE of both methods against S; arguments as of `_curves`."""
    return _curves(rows, targets, scale, {"mcc": "(a) MCC", "mse": "(b) test MSE"})


def mcc_against_changes(rows: pd.DataFrame, targets: Sequence[Target], scale: str) -> Figure:
    """Draw figure 7: MCC of both methods against S; arguments as of `_curves`."""
    return _curves(rows, targets, scale, {"mcc": "MCC"})


def curves_against_probability(rows: pd.DataFrame, targets: Sequence[Target], scale: str) -> Figure:
    """Draw figure 8: MCC of both methods against pi; arguments as of `_curves`."""
    return _curves(rows, targets, scale, {"mcc": "MCC"}, Points("pi", "pi, probability that a weight changes", 0.01))


def curves_against_latents(rows: pd.DataFrame, targets: Sequence[Target], scale: str) -> Figure:
    """Draw figure 3: test MSE of both methods against the learned latents, a panel per number of true ones.

    Each method has a scale of its own: the errors of the baseline are several times those of TBR.
    """
    from matplotlib.ticker import MaxNLocator

    convention = load_targets("tbr").convention_of("tbr/fig3")
    figure, grid = new_figure(2.6 * len(LATENTS), 5, columns=len(LATENTS), rows=len(METHODS))
    points = Points("learned_dim", "learned latents", 0.0)
    for line, method in zip(grid, METHODS, strict=True):
        for axes, latents in zip(line, LATENTS, strict=True):
            tidy(axes)
            axes.axvline(latents, color=FAINT, linewidth=1, linestyle=":")
            _curve(axes, select(rows, {"latent_dim": (latents,)}), "mse", method, points, 0.0, convention)
            if not axes.collections:
                axes.text(0.5, 0.5, "no runs", transform=axes.transAxes, ha="center", fontsize=9, color=FAINT)
            axes.set_ylim(bottom=0)
            axes.set_xlim(LEARNED[0] - 0.4, LEARNED[-1] + 0.4)
            axes.xaxis.set_major_locator(MaxNLocator(integer=True))
        line[0].set_ylabel(f"test MSE, {written(method)}", fontsize=9)
    for axes, latents in zip(grid[0], LATENTS, strict=True):
        axes.set_title(f"{latents} true latents (dotted)", fontsize=10, color=INK)
    for axes in grid[-1]:
        axes.set_xlabel(points.label, fontsize=9)
    _legend(figure, scale, convention, with_paper=False, columns=2)
    return figure


def curves_on_cells(rows: pd.DataFrame, targets: Sequence[Target], scale: str) -> Figure:
    """Draw figure 5a: MCC of both methods on single cells against S; arguments as of `_curves`."""
    return _curves(rows, targets, scale, {"mcc": f"MCC{_cells_used(scale)}"}, artefact="tbr/fig5a")


def curves_on_unseen_cells(rows: pd.DataFrame, targets: Sequence[Target], scale: str) -> Figure:
    """Draw figure 5b: error of both methods on unseen cell types against S; arguments as of `_curves`."""
    return _curves(
        rows, targets, scale, {"unseen_mse": f"MSE on unseen types{_cells_used(scale)}"}, artefact="tbr/fig5b"
    )


def _cells_used(scale: str) -> str:
    return "" if scale == "paper" else ", not the paper's cells"


@dataclass(frozen=True)
class Points:
    """What a curve runs over.

    Parameters
    ----------
    key
        Row key whose values are the points.
    label
        Of the axis.
    apart
        How far the two methods' dots stand to the sides of a point.
    """

    key: str
    label: str
    apart: float


CHANGES_ALONG_ARCS = Points("S", "S, weights that change along an arc", 0.06)


def _curves(
    rows: pd.DataFrame,
    targets: Sequence[Target],
    scale: str,
    panels: Mapping[str, str],
    points: Points = CHANGES_ALONG_ARCS,
    artefact: str = "tbr/fig4",
) -> Figure:
    """Draw metrics of both methods along a curve, a dot per replicate, the mean with its spread.

    Parameters
    ----------
    rows
        Rows of one scale, newest of each cell and seed.
    targets
        Numbers of the artefact; those that are printed stand hollow beside ours.
    scale
        Scale of `rows`; written into the legend.
    panels
        Metric -> title.
    points
        What the curve runs over.
    artefact
        Whose replicates and interval they are.
    """
    from matplotlib.ticker import MaxNLocator

    convention = load_targets("tbr").convention_of(artefact)
    figure, grid = new_figure(4.5 + 4.5 * (len(panels) - 1), 3.4, columns=len(panels))
    for axes, (metric, title) in zip(grid[0], panels.items(), strict=True):
        tidy(axes)
        for place, method in zip((-points.apart, points.apart), METHODS, strict=True):
            _curve(axes, rows, metric, method, points, place, convention)
            _paper_points(axes, targets, metric, method, points, 3 * place)
        axes.set_title(title, fontsize=10, color=INK)
        axes.set_xlabel(points.label, fontsize=9)
        if points is CHANGES_ALONG_ARCS:
            axes.xaxis.set_major_locator(MaxNLocator(integer=True))
        axes.set_ylim(bottom=0)
    printed = any(target.metric in panels and target.value is not None for target in targets)
    _legend(figure, scale, convention, with_paper=printed, columns=3 if len(panels) > 1 else 2)
    return figure


def _legend(figure: Figure, scale: str, convention: Convention, with_paper: bool, columns: int) -> None:
    handles = [legend_line(COLOURS[method], 2) for method in METHODS]
    names = [f"{written(method)}, scale={scale}" for method in METHODS]
    if with_paper:
        handles.append(_hollow_marker())
        names.append(f"{'paper' if scale == 'paper' else 'paper (other scale)'}, where printed")
    legend_below(figure, handles, names, f"dots: {convention.over}; band: {convention.interval_words}", columns)


def run_figures(rows: pd.DataFrame, arrays: Mapping[str, np.ndarray], scale: str) -> dict[str, Figure]:
    """Draw the pictures of one run by file name: ``correlations`` of true and learned latents, ``deltas``."""
    seeds = list(dict.fromkeys(rows["seed"]))
    drawn = {}
    if "correlation" in arrays:
        drawn["correlations"] = correlations(arrays["correlation"], arrays["permutation"], seeds)
    if "deltas" in arrays:
        drawn["deltas"] = deltas_of_arcs(arrays["deltas"][0], seeds[0] if seeds else 0)
    return drawn


def correlations(correlation: np.ndarray, permutation: np.ndarray, seeds: Sequence[int]) -> Figure:
    """Draw the absolute correlations of true (rows) and learned latents (columns) of the first seeds.

    Columns are in the order of the best matching: the diagonal is what the MCC averages.

    Parameters
    ----------
    correlation
        (members, k, k)
    permutation
        (members, k) the learned latent matched with each true one.
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
    axes: Axes, rows: pd.DataFrame, metric: str, method: str, points: Points, place: float, convention: Convention
) -> None:
    of_method = select(rows, {"method": (method,)})
    measured = {
        float(at): per_replicate(select(of_method, {points.key: (at,)}), metric, convention.keys)
        for at in values_of(of_method, points.key)
    }
    measured = {at: values for at, values in measured.items() if len(values)}
    if not measured:
        return
    summaries = [convention.summarise_values(values) for values in measured.values()]
    colour, places = COLOURS[method], [at + place for at in measured]
    axes.plot(places, [summary.centre for summary in summaries], color=colour, linewidth=2, marker="o", markersize=3)
    low, high = ([getattr(summary, end) for summary in summaries] for end in ("low", "high"))
    axes.fill_between(places, low, high, color=colour, alpha=0.15, linewidth=0)
    dots = np.repeat(places, [len(values) for values in measured.values()])
    axes.scatter(dots, pd.concat(measured.values()), s=8, color=colour, alpha=0.5, linewidth=0)


def _paper_points(
    axes: Axes, targets: Sequence[Target], metric: str, method: str, points: Points, place: float
) -> None:
    found: list[tuple[float, float]] = []
    for target in targets:
        if (target.metric, target.keys.get("method")) == (metric, method) and target.value is not None:
            found.append((float(target.keys[points.key]) + place, target.value))
            if target.interval:
                axes.vlines(found[-1][0], *target.interval, color=COLOURS[method], linewidth=1.2)
    if found:
        x, y = zip(*found, strict=True)
        axes.scatter(x, y, s=26, facecolor="white", edgecolor=COLOURS[method], zorder=3)


def _hollow_marker():  # type: ignore[no-untyped-def]
    from matplotlib.lines import Line2D

    return Line2D([], [], linestyle="", marker="o", markersize=5, markerfacecolor="white", markeredgecolor=FAINT)
