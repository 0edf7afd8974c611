"""A figure of images in a grid, each below its title, without white between them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from sparseid.papers.drawing import new_figure

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

WIDTH = 10.4
"""Of a full row, inches."""
LETTER = 0.086
"""Width of a letter of a title, inches: 10 points, monospaced."""
LINE = 0.21
"""Height of a line of a title, inches."""


def image_panels(size: tuple[int, ...], titles: Sequence[Sequence[str]], below: float) -> tuple[Figure, list[Axes]]:
    """Return a figure and one axes without ticks for each image, its title above it in black.

    Parameters
    ----------
    size
        Height and width of an image, pixels. Four stand in a row, or two where they are more than twice as wide as
        high.
    titles
        Parts of each title: the second one stands beside the first where there is room for both, others below.
    below
        Room for a legend, inches.
    """
    height, width = size
    per_row = 2 if width > 2 * height else 4
    panel, columns = WIDTH / per_row, min(len(titles), per_row)
    lines = -(-len(titles) // columns)
    written = [
        "\n".join([first + (" " if len(first + second) < panel / LETTER else "\n") + second, *others])
        for first, second, *others in titles
    ]
    above = LINE * (1 + max(text.count("\n") for text in written)) + 0.1
    figure, grid = new_figure(
        panel * columns, (panel * height / width + above) * lines + below, rows=lines, columns=columns
    )
    for axes in grid.flat[len(titles) :]:
        axes.axis("off")
    shown = list(grid.flat[: len(titles)])
    for axes, text in zip(shown, written, strict=True):
        axes.set(xticks=[], yticks=[])
        axes.spines[:].set_color("#d5d9de")
        axes.set_title(text, fontsize=10, family="monospace")
    return figure, shown


def inked(images: NDArray[np.floating]) -> NDArray[np.floating]:
    """Return images in [0, 1] with ink 1: where most of a set is 1, as of formulas, that is its paper."""
    return 1 - images if images.mean() > 0.5 else images
