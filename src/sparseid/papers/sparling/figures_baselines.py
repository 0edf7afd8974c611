"""Sparling's figures 5 and 11, drawn from result rows: bars of methods beside each other."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import pandas as pd

from sparseid.papers.drawing import INK, METRIC_COLOURS, new_figure, tidy
from sparseid.papers.names import EXPLAINED, written
from sparseid.papers.sparling.bars import Bar, bar_legend, draw_bars, target_of
from sparseid.papers.sparling.cells import END_TO_END, THRESHOLDS, end_to_end, values
from sparseid.papers.sparling.claims import DOMAINS
from sparseid.papers.targets import Target

if TYPE_CHECKING:
    from matplotlib.figure import Figure

METHOD_COLOURS = {
    "sparling_mt": METRIC_COLOURS["e2ee"],
    "sparling_st": "#b45309",
    "non_sparse": "#64748b",
    "retrained": "#0f766e",
}


def end_to_end_bars(rows: pd.DataFrame, targets: Sequence[Target], scale: str) -> Figure:
    """Draw figure 5: end-to-end error of Sparling, Non-Sparse and Retrained in each domain.

    Parameters
    ----------
    rows
        Rows of one scale, newest of each cell and seed.
    targets
        Numbers of ``sparling/fig5``; they stand hollow beside ours.
    scale
        Scale of `rows`; written into the legend.
    """
    shown = end_to_end(rows)
    figure, grid = new_figure(9.5, 3.4, columns=len(DOMAINS))
    for axes, domain in zip(grid[0], DOMAINS, strict=True):
        tidy(axes)
        bars = [
            Bar(
                "Sparling" if method == "sparling_mt" else written(method),
                values(shown, "e2ee", domain=domain, method=method),
                target_of(targets, "e2ee", domain=domain, method=method),
                METHOD_COLOURS[method],
            )
            for method in END_TO_END
        ]
        draw_bars(axes, bars)
        missing = "" if any(len(bar.ours) for bar in bars) else " (ours: missing)"
        axes.set_title(written(domain) + missing, fontsize=10, color=INK)
        axes.set_ylim(0, 1.06 * axes.get_ylim()[1])
    grid[0, 0].set_ylabel("end-to-end error, %", fontsize=9)
    bar_legend(figure, scale)
    return figure


def threshold_bars(rows: pd.DataFrame, targets: Sequence[Target], scale: str) -> Figure:
    """Draw figure 11: the errors on DigitCircle with a threshold per channel and with one, each on a scale of its own.

    Parameters
    ----------
    rows, scale
        As in :func:`end_to_end_bars`.
    targets
        Numbers of ``sparling/fig11``.
    """
    metrics = ("fpe", "fne", "ce", "e2ee")
    figure, grid = new_figure(9.5, 3.2, columns=len(metrics))
    for axes, metric in zip(grid[0], metrics, strict=True):
        tidy(axes)
        bars = [
            Bar(
                name,
                values(rows, metric, domain="digitcircle", method=method),
                target_of(targets, metric, method=method),
                METHOD_COLOURS[method],
            )
            for name, method in zip(("MT", "ST"), THRESHOLDS, strict=True)
        ]
        draw_bars(axes, bars)
        axes.set_title(f"{written(metric)}, {EXPLAINED[metric]}", fontsize=9, color=INK)
        axes.set_ylim(0, 1.06 * axes.get_ylim()[1])
    missing = "" if len(rows) else " (ours: missing)"
    grid[0, 0].set_ylabel(f"error, %{missing}", fontsize=9)
    bar_legend(figure, scale)
    return figure
