"""Shared style of all figures. Matplotlib is imported only for drawing, and pyplot with its global state never."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D

    from sparseid.metrics.intervals import Summary
    from sparseid.papers.aggregation import Aggregation

INK = "#22272e"
FAINT = "#8b949e"
METRIC_COLOURS = {"fpe": "#c2410c", "fne": "#0f766e", "ce": "#6d28d9", "e2ee": "#1d4ed8"}
CHANNEL_COLOURS = (
    "#e6194b", "#1f9e3a", "#2f5fe0", "#f58231", "#8f1eb4", "#0fb5c9", "#e032d6", "#8a6d00", "#00796b", "#7a1f1f",
)  # fmt: skip
"""Ten hues that are distinct on a grey image; further channels repeat them."""
LETTERS_PER_INCH = 14
"""Letters of a legend's title per inch."""


def channel_colour(channel: int) -> str:
    """Return the colour of a motif channel."""
    return CHANNEL_COLOURS[channel % len(CHANNEL_COLOURS)]


def new_figure(width: float, height: float, rows: int = 1, columns: int = 1, **subplots: Any) -> tuple[Figure, Any]:
    """Return a figure (sizes in inches) and its (rows, columns) array of axes."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), layout="constrained", facecolor="white")
    return figure, figure.subplots(rows, columns, squeeze=False, **subplots)


def new_plots(width: float, height: float, rows: int = 1, columns: int = 1, **subplots: Any) -> tuple[Figure, Any]:
    """Return a figure and axes as :func:`new_figure`, the axes styled by :func:`tidy`."""
    figure, grid = new_figure(width, height, rows, columns, **subplots)
    for axes in grid.flat:
        tidy(axes)
    return figure, grid


def draw_band(axes: Axes, places: Sequence[float], summaries: Sequence[Summary], colour: str, width: float = 2) -> None:
    """Draw the centres of summaries as a curve, and their intervals as a band around it."""
    axes.plot(places, [of.centre for of in summaries], color=colour, linewidth=width, marker="o", markersize=3)
    low, high = ([getattr(of, end) for of in summaries] for end in ("low", "high"))
    axes.fill_between(places, low, high, color=colour, alpha=0.15, linewidth=0)


def draw_summaries(
    axes: Axes, values: Mapping[float, pd.Series], aggregation: Aggregation, colour: str, **line: Any
) -> None:
    """Draw values at their places, a dot each, and their centres as a line with markers, with intervals as bars."""
    values = {at: of for at, of in values.items() if len(of)}
    if values:
        draw_dots(axes, values, colour, s=9, alpha=0.35)
        summaries = [aggregation.summarise(of) for of in values.values()]
        ends = np.abs([[of.low - of.centre for of in summaries], [of.high - of.centre for of in summaries]])
        axes.errorbar(
            list(values), [of.centre for of in summaries], ends, color=colour, elinewidth=1.2, marker="o", **line
        )


def draw_dots(axes: Axes, values: Mapping[float, pd.Series], colour: str, **marker: Any) -> None:
    """Draw a dot for each value above its place."""
    places = np.repeat(list(values), [len(of) for of in values.values()])
    axes.scatter(places, np.concatenate(list(values.values())), color=colour, linewidth=0, **marker)


def hollow_points(axes: Axes, points: Sequence[tuple[float, float]], colour: str = INK, **marker: Any) -> None:
    """Draw points of the paper."""
    if points:
        x, y = zip(*points, strict=True)
        axes.scatter(x, y, facecolor="white", edgecolor=colour, zorder=3, **marker)


def legend_line(colour: str, width: float) -> Line2D:
    """Return the legend handle of a curve."""
    from matplotlib.lines import Line2D

    return Line2D([], [], color=colour, linewidth=width)


def legend_dot(colour: str, size: float = 5, hollow: bool = False) -> Line2D:
    """Return the legend handle of points; ours are filled, the paper's `hollow`."""
    from matplotlib.lines import Line2D

    return Line2D([], [], ls="", marker="o", markersize=size, color=colour, mfc="white" if hollow else colour)


def paper_label(scale: str) -> str:
    """Return the label of the paper's numbers in a figure of a scale."""
    return "paper" if scale == "paper" else "paper (other scale)"


def legend_below(
    figure: Figure, handles: Sequence[Any], names: Sequence[str], title: str = "", columns: int = 0
) -> None:
    """Write a legend below a figure; a title that is too long is broken at its semicolons.

    Parameters
    ----------
    figure
        The figure.
    handles, names
        Handles and their labels.
    title
        Title above them.
    columns
        Number of columns; 0 for one per handle.
    """
    if len(title) > LETTERS_PER_INCH * figure.get_figwidth():
        title = title.replace("; ", "\n")
    legend = figure.legend(
        handles, names, title=title or None, title_fontsize=8, loc="outside lower center",
        ncols=columns or len(names), fontsize=8.5, frameon=False,
    )  # fmt: skip
    legend.get_title().set_multialignment("center")


def tidy(axes: Axes) -> None:
    """Reduce the style to two spines and a faint horizontal grid."""
    axes.spines[:].set_in_layout(False)  # the axes themselves are: sparing each spine a search for its ticks
    axes.spines[["top", "right"]].set_visible(False)
    axes.spines[["left", "bottom"]].set_color(FAINT)
    axes.tick_params(colors=INK, labelsize=8.5, which="both")
    axes.grid(axis="y", color="#e7e9ec", linewidth=0.8)
    axes.set_axisbelow(True)
