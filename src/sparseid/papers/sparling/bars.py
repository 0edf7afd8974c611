"""Bars of Sparling's figures: ours with a dot per seed, the paper's hollow."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from sparseid.papers.drawing import FAINT, INK, legend_below, paper_label
from sparseid.papers.targets import Target, load_targets

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


@dataclass(frozen=True)
class Bar:
    """Two adjacent bars, or one if the other number is missing."""

    name: str
    """Label below them."""
    ours: pd.Series
    """One value per seed; may be empty."""
    target: Target | None
    """The paper's number."""
    colour: str


def draw_bars(axes: Axes, bars: Sequence[Bar]) -> None:
    """Draw bars side by side, each with its name below."""
    for place, bar in enumerate(bars):
        if len(bar.ours):
            bar_with_seeds(axes, place - 0.2, bar.ours, bar.colour)
        if bar.target is not None and bar.target.value is not None:
            hollow_bar(axes, place + 0.2, bar.target, bar.colour)
    axes.set_xticks(range(len(bars)), [bar.name for bar in bars])
    axes.set_xlim(-0.6, len(bars) - 0.4)


def target_of(targets: Sequence[Target], metric: str, **keys: str) -> Target | None:
    """Return the paper's number of a metric whose keys include these, or None."""
    for target in targets:
        if target.metric == metric and keys.items() <= target.keys.items():
            return target
    return None


def bar_with_seeds(axes: Axes, x: float, values: pd.Series, colour: str) -> None:
    """Draw the mean as a bar with its interval, and a dot for every seed."""
    summary = load_targets("sparling").aggregation.summarise(values)
    axes.bar(x, summary.centre, width=0.36, color=colour, alpha=0.75)
    if summary.n > 1:
        axes.vlines(x, summary.low, summary.high, color=INK, linewidth=1.4, zorder=4)
    offsets = np.linspace(-0.1, 0.1, len(values)) if len(values) > 1 else np.zeros(1)
    axes.scatter(x + offsets, values, s=13, color="white", edgecolor=INK, linewidth=0.7, zorder=5)


def hollow_bar(axes: Axes, x: float, target: Target, colour: str) -> None:
    """Draw a number of the paper as a hollow bar with its interval, labelled with the number."""
    value = target.value or 0.0
    axes.bar(x, value, width=0.36, facecolor="white", edgecolor=colour, linewidth=1.3, hatch="////", alpha=0.75)
    if target.interval:
        axes.vlines(x, *target.interval, color=INK, linewidth=1.4, zorder=4)
    axes.annotate(
        f"{value:.3g}", (x, max(value, *(target.interval or (0.0,)))),
        xytext=(0, 3), textcoords="offset points", ha="center", fontsize=7.5, color=FAINT,
    )  # fmt: skip


def bar_legend(figure: Figure, scale: str) -> None:
    """Add a legend of filled and hollow bars below a figure."""
    from matplotlib.patches import Patch

    spread = load_targets("sparling").aggregation.interval_words
    labels = [f"ours, scale={scale} (dots: seeds; whiskers: {spread})", paper_label(scale)]
    handles = [Patch(facecolor=FAINT, edgecolor=FAINT), Patch(facecolor="white", edgecolor=FAINT, hatch="////")]
    legend_below(figure, handles, labels)
