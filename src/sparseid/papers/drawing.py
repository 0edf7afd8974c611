"""Look shared by all figures. Matplotlib is imported only when something is drawn, and pyplot's global state never."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D

INK = "#22272e"
FAINT = "#8b949e"
METRIC_COLOURS = {"fpe": "#c2410c", "fne": "#0f766e", "ce": "#6d28d9", "e2ee": "#1d4ed8"}
CHANNEL_COLOURS = (
    "#e6194b", "#1f9e3a", "#2f5fe0", "#f58231", "#8f1eb4", "#0fb5c9", "#e032d6", "#8a6d00", "#00796b", "#7a1f1f",
)  # fmt: skip
"""Ten hues that stay apart on a grey image; further channels begin again."""
LETTERS_PER_INCH = 14
"""Of a legend's title."""


def channel_colour(channel: int) -> str:
    """Return the colour of a motif channel."""
    return CHANNEL_COLOURS[channel % len(CHANNEL_COLOURS)]


def new_figure(width: float, height: float, rows: int = 1, columns: int = 1, **subplots: Any) -> tuple[Figure, Any]:
    """Return a figure (sizes in inches) and its (rows, columns) array of axes."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), layout="constrained", facecolor="white")
    return figure, figure.subplots(rows, columns, squeeze=False, **subplots)


def legend_line(colour: str, width: float) -> Line2D:
    """Return what stands for a curve in a legend."""
    from matplotlib.lines import Line2D

    return Line2D([], [], color=colour, linewidth=width)


def legend_below(
    figure: Figure, handles: Sequence[Any], names: Sequence[str], title: str = "", columns: int = 0
) -> None:
    """Write a legend below a figure; a title too long for it is broken at its semicolons.

    Parameters
    ----------
    figure
        The figure.
    handles, names
        Of what is explained.
    title
        Stands above them.
    columns
        In which they stand; 0 is one for each.
    """
    if len(title) > LETTERS_PER_INCH * figure.get_figwidth():
        title = title.replace("; ", "\n")
    legend = figure.legend(
        handles, names, title=title or None, title_fontsize=8, loc="outside lower center",
        ncols=columns or len(names), fontsize=8.5, frameon=False,
    )  # fmt: skip
    legend.get_title().set_multialignment("center")


def tidy(axes: Axes) -> None:
    """Leave only what helps reading: two spines, a faint horizontal grid."""
    axes.spines[["top", "right"]].set_visible(False)
    axes.spines[["left", "bottom"]].set_color(FAINT)
    axes.tick_params(colors=INK, labelsize=8.5, which="both")
    axes.grid(axis="y", color="#e7e9ec", linewidth=0.8)
    axes.set_axisbelow(True)
