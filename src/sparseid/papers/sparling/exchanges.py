"""The picture of figure 6: motif maps in which motifs were exchanged, and what the decoder made of them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from sparseid.papers.drawing import INK, new_figure
from sparseid.papers.names import written
from sparseid.papers.sparling.meanings import RIGHT, WRONG, Meanings, same_tokens
from sparseid.papers.sparling.panels import image_panels, inked

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

IMAGES, SOUNDS = 8, 4
"""Items drawn at most."""


def exchanged_motifs(arrays: Mapping[str, np.ndarray]) -> Figure:
    """Draw test items with the entries of their motif map after an exchange.

    A dot has the colour of the channel it lies in; of an exchanged one the ring has that of the channel it came from,
    and the kinds of both stand beside it. Above: the label, what it should become, and what was decoded.

    Parameters
    ----------
    arrays
        Of a run: ``perturbed_images`` (m, H, W) or (m, bands, frames), ``perturbed_cells`` (2,) height and width of the
        motif map (width 1: sounds), ``perturbed_entries`` (E, 5) int: item, row, column in cells of the map, channel
        before (-1: none) and after; ``perturbed_labels``, ``perturbed_expected`` and ``perturbed_predictions`` (m, L)
        tokens padded with -1; and ``confusion``, ``channel_kinds``, ``kind_names``, ``token_names`` as elsewhere.
    """
    images, entries, meanings = arrays["perturbed_images"], arrays["perturbed_entries"], Meanings.of(arrays)
    height, width = (int(size) for size in arrays["perturbed_cells"])
    sound = width == 1
    shown = min(len(images), SOUNDS if sound else IMAGES)
    tokens = [[arrays[f"perturbed_{name}"][n] for name in ("labels", "expected", "predictions")] for n in range(shown)]
    titles = [_title(meanings, *of_item) for of_item in tokens]
    if sound:
        figure, grid = new_figure(10.0, 1.9 * shown + 0.4, rows=shown)
        panels = list(grid[:, 0])
        for axes, title in zip(panels, titles, strict=True):
            axes.set(xticks=[], yticks=[])
            axes.set_title("\n".join([" ".join(title[:2]), *title[2:]]), fontsize=9, family="monospace")
    else:
        figure, panels = image_panels(images.shape[1:], titles, 0.4)
    for number, axes in enumerate(panels):
        if sound:
            axes.imshow(images[number], cmap="gray_r", aspect="auto", origin="lower", interpolation="nearest")
            axes.set_ylim(-0.5, 1.35 * images.shape[1])
        else:
            axes.imshow(inked(images)[number], cmap="gray_r", vmin=0, vmax=2.4, interpolation="nearest")
        _entries(axes, entries[entries[:, 0] == number], images.shape[1:], height, sound, meanings)
        _, expected, decoded = tokens[number]
        axes.title.set_color(RIGHT if same_tokens(decoded, expected) else WRONG)
    figure.supxlabel(
        "dot: entry of the motif map, ring: the channel it was taken from; above: label \N{RIGHTWARDS ARROW} what it "
        "should become (red: decoded otherwise)",
        fontsize=8.5,
    )
    return figure


def _title(meanings: Meanings, *tokens: NDArray[np.integer]) -> list[str]:
    """Return the parts of a title: the label, what it should become, and what was decoded if that is something else."""
    label, expected, decoded = (meanings.written(of_label) for of_label in tokens)
    wrong = [] if same_tokens(*tokens[1:]) else [f"decoded {decoded or 'nothing'}"]
    return [f"{label} \N{RIGHTWARDS ARROW}", expected, *wrong]


def _entries(
    axes: Axes, entries: NDArray[np.integer], size: tuple[int, ...], cells: int, sound: bool, meanings: Meanings
) -> None:
    """Draw the entries (e, 5) of one map; a cell covers as many pixels (or frames) as the item has more of."""
    stride = (size[1] if sound else size[0]) / cells
    for _, row, column, before, after in entries.tolist():
        moved = before != after
        place = ((row if sound else column) + 0.5) * stride - 0.5
        ring = meanings.colour(before) if before >= 0 else INK
        level = 1.1 * size[0] if sound else (row + 0.5) * stride - 0.5
        axes.scatter(
            place, level, s=60 if moved else 26, color=meanings.colour(after), zorder=3, clip_on=False,
            edgecolors=ring if moved else "white", linewidths=2.4 if moved else 0.9,
        )  # fmt: skip
        if moved:
            kinds = [meanings.channel_kinds[channel] if channel >= 0 else -1 for channel in (before, after)]
            names = [written(meanings.kind_names[kind]) if kind >= 0 else "?" for kind in kinds]
            axes.annotate(
                "\N{RIGHTWARDS ARROW}".join(names), (place, level), xytext=(0, 6), textcoords="offset points",
                ha="center", fontsize=8, color=INK, weight="bold",
            )  # fmt: skip
