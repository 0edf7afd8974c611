"""Sparling's figures 6, 8, 9 and 10, drawn from result rows and, of figure 8, from what runs saved."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from sparseid.papers.artefact import Arrays
from sparseid.papers.drawing import FAINT, INK, METRIC_COLOURS, legend_below, legend_line, new_figure, tidy
from sparseid.papers.names import EXPLAINED, written
from sparseid.papers.rows import select
from sparseid.papers.sparling.bars import Bar, bar_legend, draw_bars, hollow_marker, paper_label, target_of
from sparseid.papers.sparling.cells import BINS, CUT, DENSITIES_BINNED, THRESHOLDS, values
from sparseid.papers.sparling.claims import DOMAINS
from sparseid.papers.sparling.claims_evaluations import perturbation
from sparseid.papers.sparling.meanings import Meanings
from sparseid.papers.sparling.pictures import draw_confusion
from sparseid.papers.targets import Target, load_targets

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

BIN_COLOURS = dict(zip(BINS, ("#b91c1c", "#d97706", "#0f766e", "#1d4ed8"), strict=True))


def perturbation_bars(rows: pd.DataFrame, targets: Sequence[Target], scale: str) -> Figure:
    """Draw the accuracy that belongs to figure 6: how often the decoder follows an exchanged motif, per domain.

    The picture of figure 6 is that of a run (:mod:`sparseid.papers.sparling.exchanges`).

    Parameters
    ----------
    rows
        Rows of one scale, newest of each cell and seed.
    targets
        Numbers of ``sparling/fig6``; they stand hollow beside ours.
    scale
        Scale of `rows`; written into the legend.
    """
    figure, grid = new_figure(6.5, 3.2)
    axes = grid[0, 0]
    tidy(axes)
    bars = [
        Bar(
            written(domain),
            perturbation(rows, domain),
            target_of(targets, "perturbation_accuracy", domain=domain),
            METRIC_COLOURS["e2ee"],
        )
        for domain in DOMAINS
    ]
    named = [bar if len(bar.ours) else Bar(f"{bar.name}\n(ours: missing)", *_rest(bar)) for bar in bars]
    draw_bars(axes, named)
    axes.set_ylim(0, 109)
    axes.set_ylabel("exchanges decoded as expected, %", fontsize=9)
    bar_legend(figure, scale)
    return figure


def _rest(bar: Bar) -> tuple[pd.Series, Target | None, str]:
    return bar.ours, bar.target, bar.colour


def confusion_by_domain(rows: pd.DataFrame, arrays: Arrays, scale: str) -> Figure | None:
    """Draw figure 8: which channels fire on each kind of motif, of the lowest seed of each domain.

    Parameters
    ----------
    rows
        Rows of ``sparling/fig8`` at one scale.
    arrays
        Gives the arrays of a run; a domain is left out if they are not at hand.
    scale
        Of the runs; written above.

    Returns
    -------
    Figure or None
        None where no confusion matrix is at hand.
    """
    shown: list[tuple[str, int, Mapping[str, np.ndarray]]] = []
    for domain in DOMAINS:
        of_domain = select(rows, {"domain": (domain,)}).sort_values("seed", kind="stable")
        for run, seed in dict.fromkeys(zip(of_domain["run"], of_domain["seed"], strict=True)):
            if "confusion" in (saved := arrays(str(run))):
                shown.append((domain, int(seed), saved))
                break
    if not shown:
        return None
    sizes = [len(saved["confusion"]) for _, _, saved in shown]
    widths = [max(4.8, 1.6 + 0.48 * size) for size in sizes]
    figure, grid = new_figure(sum(widths), max(3.2, 1.4 + 0.42 * max(sizes)), columns=len(shown), width_ratios=widths)
    for axes, (domain, seed, saved) in zip(grid[0], shown, strict=True):
        draw_confusion(axes, saved["confusion"], Meanings.of(saved).kind_names)
        axes.set_title(f"{written(domain)}, seed {seed}, scale={scale}, % of each row", fontsize=10, color=INK)
    return figure


def binning_against_density(rows: pd.DataFrame, targets: Sequence[Target], scale: str) -> Figure:
    """Draw figure 9: accuracy lost where activations take few values, against the density, for MT and ST.

    Parameters
    ----------
    rows, scale
        As in :func:`perturbation_bars`.
    targets
        Numbers of ``sparling/fig9``; they stand as hollow points beside our curves.
    """
    convention = load_targets("sparling").convention
    figure, grid = new_figure(9.5, 3.8, columns=len(THRESHOLDS), sharey=True)
    for axes, method in zip(grid[0], THRESHOLDS, strict=True):
        tidy(axes)
        axes.axhline(0, color=FAINT, linewidth=0.8)
        drawn = [_binning_curve(axes, rows, method, bins) for bins in BINS]
        for target in targets:
            if target.metric == "binning_delta" and target.keys["method"] == method and target.value is not None:
                x, colour = CUT ** -int(target.keys["steps_above"]), BIN_COLOURS[int(target.keys["bins"])]
                marker = "^" if target.op.startswith(">") else "o"  # beyond the edge of the paper's picture
                axes.scatter(x, target.value, s=22, marker=marker, facecolor="white", edgecolor=colour, zorder=3)
        axes.set_xscale("log", base=2)
        axes.invert_xaxis()
        ticks = [CUT**-steps for steps in DENSITIES_BINNED]
        axes.set_xticks(ticks, [f"{tick:.2g}\N{MULTIPLICATION SIGN}" for tick in ticks])
        axes.minorticks_off()
        missing = "" if any(drawn) else " (ours: missing)"
        axes.set_title(written(method) + missing, fontsize=10, color=INK)
        axes.set_xlabel("density, multiples of the last one (falls to the right)", fontsize=9)
    grid[0, 0].set_ylabel("accuracy lost, points", fontsize=9)
    handles = [*(legend_line(BIN_COLOURS[bins], 2) for bins in BINS), hollow_marker()]
    names = [*(f"{bins} bins" for bins in BINS), paper_label(scale)]
    legend_below(figure, handles, names, f"scale={scale}; bands: {convention.interval_words} over seeds")
    return figure


def _binning_curve(axes: Axes, rows: pd.DataFrame, method: str, bins: int) -> bool:
    """Draw our curve of one number of bins; return whether there is any."""
    convention = load_targets("sparling").convention
    measured = {
        steps: values(rows, "binning_delta", domain="digitcircle", method=method, bins=bins, steps_above=steps)
        for steps in DENSITIES_BINNED
    }
    summaries = {CUT**-steps: convention.summarise_values(seeds) for steps, seeds in measured.items() if len(seeds)}
    if not summaries:
        return False
    x, colour = list(summaries), BIN_COLOURS[bins]
    axes.plot(x, [summary.centre for summary in summaries.values()], color=colour, linewidth=2, marker="o", ms=3)
    low, high = ([getattr(summary, end) for summary in summaries.values()] for end in ("low", "high"))
    axes.fill_between(x, low, high, color=colour, alpha=0.15, linewidth=0)
    return True


def errors_by_seed(rows: pd.DataFrame, targets: Sequence[Target], scale: str) -> Figure:
    """Draw figure 10: end-to-end error against each motif error, a point per seed, both axes logarithmic.

    A seed without an error stands at the left edge, as a triangle. The paper's points are hollow.

    Parameters
    ----------
    rows, scale
        As in :func:`perturbation_bars`.
    targets
        Not used: the paper's runs are no cells of the table, so their numbers are looked up here.
    """
    from matplotlib.ticker import LogLocator

    metrics = ("fpe", "fne", "ce")
    paper = pd.DataFrame(
        {
            metric: {t.keys["run"]: t.value for t in _of_figure10() if t.metric == metric}
            for metric in (*metrics, "e2ee")
        }
    )
    ours = pd.DataFrame(
        {metric: values(rows, metric, domain="digitcircle", method="sparling_mt") for metric in (*metrics, "e2ee")}
    )
    figure, grid = new_figure(9.5, 3.4, columns=len(metrics), sharey=True)
    for axes, metric in zip(grid[0], metrics, strict=True):
        tidy(axes)
        axes.set(xscale="log", yscale="log")
        axes.scatter(paper[metric], paper["e2ee"], s=26, facecolor="white", edgecolor=INK, zorder=3)
        both = ours[[metric, "e2ee"]].dropna()
        positive, zero = both[both[metric] > 0], both[both[metric] <= 0]
        axes.scatter(positive[metric], positive["e2ee"], s=24, color=METRIC_COLOURS[metric], zorder=4)
        if len(zero):
            left = np.full(len(zero), axes.get_xlim()[0])
            axes.scatter(left, zero["e2ee"], s=30, marker="<", color=METRIC_COLOURS[metric], zorder=4, clip_on=False)
            axes.set_xlim(left=left[0])
        axes.set_xlabel(f"{written(metric)}, {EXPLAINED[metric]}, %", fontsize=9)
        for axis in (axes.xaxis, axes.yaxis):
            axis.set_major_locator(LogLocator(subs=(1, 2, 5) if axis is axes.yaxis or metric == "fne" else (1,)))
            axis.set_major_formatter(lambda value, _: f"{value:g}")
            axis.set_minor_formatter(lambda value, _: "")
    missing = "" if len(ours) else " (ours: missing)"
    grid[0, 0].set_ylabel(f"E2EE, end-to-end error, %{missing}", fontsize=9)
    handles = [_dot(), hollow_marker()]
    legend_below(figure, handles, [f"a seed, scale={scale} (triangle: no such error)", f"{paper_label(scale)}: a run"])
    return figure


def _of_figure10() -> list[Target]:
    return load_targets("sparling").of("sparling/fig10")


def _dot():  # type: ignore[no-untyped-def]
    from matplotlib.lines import Line2D

    return Line2D([], [], linestyle="", marker="o", markersize=5, color=FAINT)
