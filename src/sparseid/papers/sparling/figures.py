"""Sparling's figures 3 and 4, drawn from result rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from sparseid.papers.drawing import FAINT, INK, METRIC_COLOURS, legend_line, new_figure, tidy
from sparseid.papers.names import EXPLAINED, written
from sparseid.papers.rows import per_seed, values_of
from sparseid.papers.sparling import exchanges, pictures
from sparseid.papers.sparling.bars import bar_legend, bar_with_seeds, hollow_bar, hollow_marker, paper_label
from sparseid.papers.sparling.cells import CUT
from sparseid.papers.sparling.claims import DOMAINS, domain_rows
from sparseid.papers.targets import Target, load_targets

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


def motif_error_bars(rows: pd.DataFrame, targets: Sequence[Target], scale: str) -> Figure:
    """Draw figure 3: FPE, FNE and CE of each domain, ours as bars with a dot per seed, the paper's beside them hollow.

    Parameters
    ----------
    rows
        Rows of one scale, newest of each cell and seed.
    targets
        Numbers of ``sparling/fig3``.
    scale
        Scale of `rows`; written into the legend.
    """
    metrics = ("fpe", "fne", "ce")
    figure, grid = new_figure(9.5, 3.4, columns=len(DOMAINS), sharey=True)
    for axes, domain in zip(grid[0], DOMAINS, strict=True):
        tidy(axes)
        of_domain = domain_rows(rows, domain)
        for place, metric in enumerate(metrics):
            ours = per_seed(of_domain, metric, steps_above=0)
            if len(ours):
                bar_with_seeds(axes, place - 0.2, ours, METRIC_COLOURS[metric])
            for target in targets:
                if (target.metric, target.keys.get("domain")) == (metric, domain) and target.value is not None:
                    hollow_bar(axes, place + 0.2, target, METRIC_COLOURS[metric])
        axes.set_xticks(range(len(metrics)), [written(metric) for metric in metrics])
        axes.set_xlim(-0.6, len(metrics) - 0.4)
        axes.set_title(written(domain) + ("" if len(of_domain) else " (ours: missing)"), fontsize=10, color=INK)
    grid[0, 0].set_ylabel("error, % (mean over seeds)", fontsize=9)
    grid[0, 0].set_ylim(0, 1.06 * max(axes.get_ylim()[1] for axes in grid[0]))
    bar_legend(figure, scale)
    return figure


def errors_against_density(rows: pd.DataFrame, targets: Sequence[Target], scale: str) -> Figure:
    """Draw figure 4: each error against the density, a thin line per seed, the mean with its bootstrap band.

    The horizontal axis counts in multiples of the last density, so that scales with other densities can stand in one
    picture; the paper's points are hollow. Domains without rows are left out, unless there are none at all.

    Parameters
    ----------
    rows, scale
        As in :func:`motif_error_bars`.
    targets
        Numbers of ``sparling/fig4``.
    """
    metrics = ("fpe", "fne", "ce", "e2ee")
    measured = [domain for domain in DOMAINS if len(domain_rows(rows, domain))]
    domains = measured or list(DOMAINS)
    figure, grid = new_figure(11.5, 0.6 + 2.5 * len(domains), rows=len(domains), columns=len(metrics))
    for line, domain in zip(grid, domains, strict=True):
        of_domain = domain_rows(rows, domain)
        multiples, last = _density_multiples(of_domain)
        for axes, metric in zip(line, metrics, strict=True):
            tidy(axes)
            _curve(axes, of_domain, metric, multiples)
            _paper_points(axes, domain, metric, targets)
            axes.set_xscale("log", base=2)
            axes.invert_xaxis()
            axes.xaxis.set_major_formatter(lambda value, _: f"{value:g}\N{MULTIPLICATION SIGN}")
            axes.set_ylim(bottom=0)
            axes.set_title(f"{written(metric)}, {EXPLAINED[metric]}", fontsize=9, color=INK)
        where = f"\n(last: {last:.2g} %)" if last else "\n(ours: missing)"
        line[0].set_ylabel(f"{written(domain)}{where}\nerror, %", fontsize=9)
    figure.supxlabel("density, multiples of the last one (falls to the right)", fontsize=9)
    if rows["seed"].nunique() > 1:
        handles = [legend_line(FAINT, 0.8), legend_line(INK, 2.2), hollow_marker()]
        spread = load_targets("sparling").convention.interval_words
        labels = [f"seeds, scale={scale}", f"their mean with {spread}", paper_label(scale)]
    else:
        handles, labels = [legend_line(INK, 2.2), hollow_marker()], [f"one seed, scale={scale}", paper_label(scale)]
    figure.legend(handles, labels, loc="outside upper center", ncols=3, fontsize=8.5, frameon=False)
    return figure


def run_figures(
    rows: pd.DataFrame, arrays: Mapping[str, np.ndarray], targets: Sequence[Target], scale: str
) -> dict[str, Figure]:
    """Draw the pictures of one run by file name: motifs, confusion, training, exchanges, density.

    Parameters
    ----------
    rows
        The run's rows.
    arrays
        What the run saved in ``arrays.npz``; a picture whose arrays are absent is left out.
    targets
        All numbers of the paper.
    scale
        The run's scale.
    """
    drawn = pictures.run_pictures(arrays)
    if "perturbed_images" in arrays and len(arrays["perturbed_images"]):
        drawn["exchanges"] = exchanges.exchanged_motifs(arrays)
    if len(values_of(rows, "steps_above")) > 1:
        of_figure4 = [target for target in targets if target.artefact == "sparling/fig4" and target.role == "target"]
        drawn["density"] = errors_against_density(rows, of_figure4, scale)
    return drawn


def _density_multiples(rows: pd.DataFrame) -> tuple[dict[int, float], float | None]:
    """Return density / last density of each ``steps_above``, and the last density in percent where it is known.

    The density that training aimed at comes first, then the one found on the test set, then the published cut factor.
    """
    steps = [int(step) for step in values_of(rows, "steps_above")]
    for metric in ("target_density", "density"):
        densities = {step: float(per_seed(rows, metric, steps_above=step).mean()) for step in steps}
        last = densities.get(0, 0.0)
        if last > 0 and all(density > 0 for density in densities.values()):
            return {step: density / last for step, density in densities.items()}, last
    return {step: CUT**-step for step in steps}, None


def _curve(axes: Axes, rows: pd.DataFrame, metric: str, multiples: Mapping[int, float]) -> None:
    colour = METRIC_COLOURS[metric]
    measured = {step: per_seed(rows, metric, steps_above=step) for step in multiples}
    table = pd.DataFrame({step: values for step, values in measured.items() if len(values)})
    if table.empty:
        return
    x = [multiples[int(step)] for step in table.columns]
    axes.plot(x, table.to_numpy().T, color=colour, linewidth=0.8, alpha=0.45)
    convention = load_targets("sparling").convention
    summaries = [convention.summarise_values(table[step]) for step in table.columns]
    axes.plot(x, [summary.centre for summary in summaries], color=colour, linewidth=2.2, marker="o", markersize=3)
    if len(table) > 1:
        low, high = ([getattr(summary, end) for summary in summaries] for end in ("low", "high"))
        axes.fill_between(x, low, high, color=colour, alpha=0.15, linewidth=0)


def _paper_points(axes: Axes, domain: str, metric: str, targets: Sequence[Target]) -> None:
    points: dict[str, list[tuple[float, float]]] = {}
    for target in targets:
        if (target.metric, target.keys.get("domain")) == (metric, domain) and target.value is not None:
            marker = "v" if target.op.startswith("<") else "o"  # a triangle where the paper only gives an upper bound
            points.setdefault(marker, []).append((CUT ** -int(target.keys["steps_above"]), target.value))
    for marker, places in points.items():
        x, y = zip(*places, strict=True)
        axes.scatter(x, y, s=22, marker=marker, facecolor="white", edgecolor=INK, zorder=3)
