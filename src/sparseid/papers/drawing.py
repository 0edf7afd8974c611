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
FRAME = "#d5d9de"
RIGHT, WRONG = "#15803d", "#b91c1c"
"""Colours of words, by whether they are right."""
BLUE, ORANGE, TEAL, AMBER, PURPLE, PINK, CYAN, GREEN = COLOURS = (
    "#1d4ed8", "#c2410c", "#0f766e", "#d4a106", "#870078", "#ff6996", "#00b9eb", "#2da53c",
)  # fmt: skip
"""The colours of kinds in all figures; distinct from each other, from the lines of axes and on a grey image."""
KIND_COLOURS = (
    *COLOURS, "#9678ff", "#781e00", "#f000f0", "#00d200", "#3c0087", "#d20f96", "#004b00", "#c8a0e6",
)  # fmt: skip
"""Further ones, for more kinds than eight; their distances are tested."""
MARKERS = "osv^D"
"""Markers of kinds: another one for each eight."""
METRIC_COLOURS = {"fpe": ORANGE, "fne": TEAL, "ce": PURPLE, "e2ee": BLUE}
LETTERS_PER_INCH = 14
"""Letters of a legend's title per inch."""


def kind_colour(number: int) -> str:
    """Return the colour of a kind, by its number."""
    return KIND_COLOURS[number % len(KIND_COLOURS)]


def kind_marker(number: int) -> str:
    """Return the marker of a kind, by its number; with its colour it tells forty kinds apart."""
    return MARKERS[number // len(COLOURS) % len(MARKERS)]


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


def draw_kinds(axes: Axes, points: np.ndarray, kinds: np.ndarray, size: float) -> None:
    """Draw points (n, 2) in the colours and with the markers of their kinds (n,); `size` is that of a dot."""
    markers = np.array([kind_marker(kind) for kind in kinds])
    for marker in dict.fromkeys(markers.tolist()):
        mine = markers == marker
        colours = [kind_colour(kind) for kind in kinds[mine]]
        area = size if marker == MARKERS[0] else 3 * size  # a smaller one would be a dot
        axes.scatter(points[mine, 0], points[mine, 1], s=area, c=colours, marker=marker, linewidth=0)


def legend_dot(colour: str, size: float = 5, hollow: bool = False, marker: str = "o") -> Line2D:
    """Return the legend handle of points; ours are filled, the paper's `hollow`."""
    from matplotlib.lines import Line2D

    return Line2D([], [], ls="", marker=marker, markersize=size, color=colour, mfc="white" if hollow else colour)


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
