"""Figures of one Sparling run, from its saved arrays: motifs, exchanges, confusion, course of training."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sparseid.metrics.confusion import arrange_confusion, join_channels
from sparseid.papers.drawing import (
    FAINT,
    FRAME,
    INK,
    METRIC_COLOURS,
    RIGHT,
    WRONG,
    kind_colour,
    legend_dot,
    new_figure,
    new_plots,
)
from sparseid.papers.labels import label

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

WRITTEN_TOKENS = {
    "PAREN(": "(",
    "PAREN)": ")",
    "FRAC(": "{",
    "FRACMID": "}/{",
    "FRAC)": "}",
    "SUB(": "_{",
    "SUB)": "}",
    "SUP(": "^{",
    "SUP)": "}",
}
"""Tokens of formulas that are written as in TeX, except fractions: ``{x}/{y}``."""
ROW_WIDTH = 10.4
"""Width of a full row of images, inches."""
LETTER_WIDTH = 0.086
"""Width of a letter of a title, inches: 10 points, monospaced."""
TITLE_HEIGHT = 0.21
"""Height of a line of a title, inches."""
NEIGHBOURHOOD = 5
"""Pixels on each side within which only the largest activation is marked (figure 2 of the paper)."""
MOST_BY_COLOUR = 10
"""Dots of more classes are named: an eye does not keep so many colours apart."""
PER_LINE = 10
"""Channels in a line of the legend."""
IMAGES, SOUNDS = 8, 4
"""Maximal numbers of items that are drawn."""


def run_pictures(arrays: Mapping[str, np.ndarray]) -> dict[str, Figure]:
    """Draw all figures for which a run has arrays, by file name: ``motifs, confusion, training, exchanges``."""
    drawn = {}
    if "example_maps" in arrays and len(arrays.get("example_images", ())):
        drawn["motifs"] = (motifs_on_sounds if arrays["example_maps"].shape[-1] == 1 else motifs_on_images)(arrays)
    if "confusion" in arrays:
        drawn["confusion"] = confusion_matrix(arrays["confusion"], MotifLegend.of(arrays).kind_names)
    if len(arrays.get("density_trace", ())):
        drawn["training"] = density_trace(arrays["density_trace"])
    if len(arrays.get("perturbed_images", ())):
        drawn["exchanges"] = exchanged_motifs(arrays)
    return drawn


def motifs_on_images(arrays: Mapping[str, np.ndarray]) -> Figure:
    """Draw test images with a dot wherever a motif channel fires (figure 2 of the paper).

    A frame is a true motif's box in the colour of the channel of its class, dashed if it has none; a dot has the colour
    of the channel that fired, channels of one class share theirs. In a correct map every frame has one dot of its
    colour, and there are no others. If there are many classes, dots are named.

    Parameters
    ----------
    arrays
        Of a run: ``example_images`` (m, H, W), ink or paper, in [0, 1]; ``example_maps`` (m, C, h, w), with positions
        of H / h pixels; ``example_sites`` (S, 6) int: image, class, first and last + 1 row, first and last + 1 column,
        pixels; ``example_labels`` and ``example_predictions`` (m, L) tokens padded with -1; and those of
        `MotifLegend`.
    """
    from matplotlib.patches import Rectangle

    images, maps, sites, labels, predictions = _examples(arrays)
    legend, shown = MotifLegend.of(arrays), min(len(images), IMAGES)
    titles = [_title(legend, *pair) for pair in zip(labels[:shown], predictions[:shown], strict=True)]
    figure, panels = image_panels(images.shape[1:], titles, 0.5 + 0.17 * -(-len(legend.channel_kinds) // PER_LINE))
    stride = images.shape[-1] / maps.shape[-1]
    for number, axes in enumerate(panels):
        axes.imshow(inked(images)[number], cmap="gray_r", vmin=0, vmax=2.4, interpolation="nearest")
        for _, kind, top, bottom, left, right in sites[sites[:, 0] == number]:
            colour = legend.kind_colour(int(kind))
            axes.add_patch(
                Rectangle(
                    (left - 0.5, top - 0.5), right - left, bottom - top, fill=False, linewidth=1.3,
                    edgecolor=colour or INK, linestyle="-" if colour else "--",
                )
            )  # fmt: skip
        channels, rows, places = _marks(maps[number], stride)
        colours = [legend.colour(channel) for channel in channels]
        axes.scatter(places, rows, s=30, c=colours, edgecolors="white", linewidths=0.9, zorder=3)
        if len(legend.kind_names) > MOST_BY_COLOUR:
            for channel, row, place in zip(channels, rows, places, strict=True):
                axes.annotate(
                    legend.kind_of(channel), (place, row), xytext=(4, 2), textcoords="offset points", fontsize=8,
                    color=INK, weight="bold",
                )  # fmt: skip
        axes.title.set_color(_verdict(labels[number], predictions[number]))
    _channel_legend(figure, legend, "frame")
    return figure


def motifs_on_sounds(arrays: Mapping[str, np.ndarray]) -> Figure:
    """Draw spectrograms of test sounds, a bar above each true motif, a dot where a motif channel fires.

    Parameters
    ----------
    arrays
        As for :func:`motifs_on_images`, with ``example_images`` (m, bands, frames), ``example_maps`` (m, C, positions,
        1), and frames in place of rows in ``example_sites``.
    """
    bands, maps, sites, labels, predictions = _examples(arrays)
    legend, shown = MotifLegend.of(arrays), min(len(bands), SOUNDS)
    figure, grid = new_figure(10, 1.75 * shown + 0.8, rows=shown, sharex=True)
    height, frames = bands.shape[1:]
    stride = frames / maps.shape[2]
    for number, axes in enumerate(grid[:, 0]):
        axes.imshow(bands[number], cmap="gray_r", aspect="auto", origin="lower", interpolation="nearest")
        axes.set(xlim=(-0.5, frames - 0.5), ylim=(-0.5, 1.36 * height), yticks=[])
        axes.spines[:].set_color(FRAME)
        for _, kind, start, stop, *_ in sites[sites[:, 0] == number]:
            colour = legend.kind_colour(int(kind))
            across = [start - 0.5, stop - 0.5]
            axes.plot(across, [1.08 * height] * 2, color=colour or INK, linewidth=3, solid_capstyle="butt")
            axes.text((start + stop) / 2, 1.14 * height, legend.kind_names[kind], ha="center", fontsize=8, color=INK)
        channels, places, _ = _marks(maps[number], stride)
        colours = [legend.colour(channel) for channel in channels]
        level = [1.08 * height] * len(places)
        axes.scatter(places, level, s=26, c=colours, edgecolors="white", linewidths=0.9, zorder=3)
        colour = _verdict(labels[number], predictions[number])
        title = " ".join(_title(legend, labels[number], predictions[number]))
        axes.set_title(title, fontsize=10, family="monospace", color=colour)
    grid[-1, 0].set_xlabel("frame", fontsize=9)
    _channel_legend(figure, legend, "bar")
    return figure


def _examples(arrays: Mapping[str, np.ndarray]) -> list[np.ndarray]:
    return [arrays[f"example_{name}"] for name in ("images", "maps", "sites", "labels", "predictions")]


def confusion_matrix(confusion: NDArray[np.integer], kind_names: Sequence[str]) -> Figure:
    """Draw a matrix of classes and the channels that fire, each row in percent of its class (figure 8 of the paper).

    Parameters
    ----------
    confusion : (K + 1, C + 1) int
        Counts; last row activations outside every box, last column missed motifs.
    kind_names
        Names of the K classes.
    """
    n_rows, n_columns = len(confusion), min(confusion.shape[1], len(confusion) + 1)
    figure, grid = new_figure(max(4.8, 1.6 + 0.48 * n_columns), max(2.4, 1.1 + 0.42 * n_rows))  # room for words
    draw_confusion(grid[0, 0], confusion, kind_names)
    grid[0, 0].set_title("Activations of each motif, % of its row", fontsize=10, color=INK)
    return figure


def draw_confusion(axes: Axes, confusion: NDArray[np.integer], kind_names: Sequence[str]) -> None:
    """Draw a confusion matrix; if there are more channels than classes, those of one class are joined."""
    confusion, channels = join_channels(confusion)
    plot = arrange_confusion(confusion)
    n_rows, n_columns = plot.shares.shape
    axes.imshow(plot.shares, cmap="Blues", vmin=0, vmax=1.15, aspect="auto")
    for row in range(n_rows):
        for column in range(n_columns):
            percent = 100 * plot.shares[row, column]
            if percent >= 0.05:
                colour = "white" if percent > 60 else INK
                text = f"{percent:.0f}" if percent >= 9.95 else f"{percent:.1f}"
                axes.text(column, row, text, ha="center", va="center", fontsize=7.5, color=colour)
    axes.axhline(n_rows - 1.5, color=INK, linewidth=1)
    axes.axvline(n_columns - 1.5, color=INK, linewidth=1)
    names = [*map(label, kind_names), "no motif"]
    fractions = [_percent(fraction) if fraction else "none" for fraction in plot.row_shares]
    axes.set_yticks(range(n_rows), [f"{name}  ({text})" for name, text in zip(names, fractions, strict=True)])
    fired = ["/".join(f"#{channel}" for channel in channels[column]) for column in plot.channels[:-1]]
    together = any(len(of_kind) > 1 for of_kind in channels)
    axes.set_xticks(range(n_columns), [*fired, "missed"], rotation=90 if together else 0)
    axes.tick_params(length=0, labelsize=8)
    axes.spines[:].set_visible(False)
    axes.set_ylabel("true motif (fraction of all pairs)", fontsize=9)
    by_motif = "channels that fired, joined if they hit the same motif most often"
    axes.set_xlabel(by_motif if together else "channel that fired, ordered by its motif", fontsize=9)


def density_trace(trace: NDArray[np.floating]) -> Figure:
    """Draw the course of training: validation accuracy with its falling target, and the density.

    Parameters
    ----------
    trace : (n, 4) float
        Per check: training samples, density up to it, accuracy target, exact-match accuracy (both in [0, 1]).
    """
    samples, density, target, accuracy = trace.T
    figure, grid = new_plots(7.5, 4.2, rows=2, sharex=True, height_ratios=[3, 2])
    above, below = grid[:, 0]
    above.plot(samples, 100 * target, color=FAINT, linewidth=1.4, linestyle="--", label="target: cut above this")
    above.plot(samples, 100 * accuracy, color=METRIC_COLOURS["e2ee"], linewidth=1.6, label="validation exact match")
    cuts = samples[:-1][np.diff(density) < 0]
    above.plot(cuts, np.full(len(cuts), 2.0), "|", color=METRIC_COLOURS["fpe"], markersize=7, label="density cut")
    above.set_ylim(0, 102)
    above.set_ylabel("%", fontsize=9)
    figure.legend(fontsize=8.5, frameon=False, loc="outside upper center", ncols=3)
    below.step([0, *samples], 100 * density[[0, *range(len(density))]], color=METRIC_COLOURS["ce"], linewidth=1.8)
    below.set_yscale("log")
    below.yaxis.set_major_formatter(lambda value, _: f"{value:g}")
    below.yaxis.set_minor_formatter(lambda value, _: f"{value:g}" if density.max() < 10 * density.min() else "")
    below.set_ylabel("density, %", fontsize=9)
    below.set_xlabel("training samples", fontsize=9)
    below.xaxis.set_major_formatter(lambda value, _: f"{value / 1000:,g}k" if value else "0")
    return figure


def _percent(fraction: float) -> str:
    """Format a fraction in percent, with one decimal or, if small, two digits."""
    return f"{100 * fraction:.1f} %" if fraction >= 0.001 else f"{100 * fraction:.2g} %"


def _marks(maps: NDArray[np.floating], stride: float) -> tuple[NDArray, NDArray, NDArray]:
    """Return channel, row and column (pixels) of the activations that are largest in their neighbourhood."""
    from scipy.ndimage import maximum_filter

    strongest = maps.max(axis=0)
    reach = int(NEIGHBOURHOOD // stride)  # rounded up it would join neighbouring motifs of small images
    peaks = (strongest > 0) & (strongest == maximum_filter(strongest, size=2 * reach + 1))
    rows, columns = np.nonzero(peaks)
    channels = maps[:, rows, columns].argmax(axis=0)
    return channels, (rows + 0.5) * stride - 0.5, (columns + 0.5) * stride - 0.5


def _title(legend: MotifLegend, label: NDArray[np.integer], prediction: NDArray[np.integer]) -> tuple[str, str]:
    """Return the two parts of an item's title."""
    return f"{legend.text(label)} \N{RIGHTWARDS ARROW}", legend.text(prediction) or "nothing"


def _verdict(label: NDArray[np.integer], prediction: NDArray[np.integer]) -> str:
    """Return the colour of an item's title."""
    return RIGHT if same_tokens(label, prediction) else WRONG


def _channel_legend(figure: Figure, legend: MotifLegend, mark: str) -> None:
    kinds = legend.channel_kinds
    order = sorted(range(len(kinds)), key=lambda channel: (kinds[channel] < 0, kinds[channel], channel))
    handles = [legend_dot(legend.colour(channel), 7) for channel in order]
    labels = [f"#{channel}: {legend.kind_of(channel)}" for channel in order]
    known = f"its motif); {mark}: true motif in the colour of its channel"
    meaning = known if legend.located else "the token that it goes with, by their numbers)"
    figure.legend(
        handles, labels, loc="outside lower center", ncols=min(len(labels), PER_LINE), fontsize=8.5, frameon=False,
        handletextpad=0.1, columnspacing=1.1, title_fontsize=8.5,
        title=f"dot: channel that fired (#channel: {meaning}; above: label \N{RIGHTWARDS ARROW} prediction",
    )  # fmt: skip


def exchanged_motifs(arrays: Mapping[str, np.ndarray]) -> Figure:
    """Draw test items with the entries of their motif map after an exchange.

    A dot has the colour of its channel; that of an exchanged entry has a ring in the colour of its previous channel and
    the classes of both. Above: the label, the expected label and, if different, the decoded one.

    Parameters
    ----------
    arrays
        Of a run: ``perturbed_images`` (m, H, W) or (m, bands, frames), ``perturbed_cells`` (2,) height and width of the
        motif map (width 1: sounds), ``perturbed_entries`` (E, 5) int: item, row, column in the map, channel before (-1:
        none) and after; ``perturbed_labels``, ``perturbed_expected`` and ``perturbed_predictions`` (m, L)
        tokens padded with -1; and those of `MotifLegend`.
    """
    images, entries, legend = arrays["perturbed_images"], arrays["perturbed_entries"], MotifLegend.of(arrays)
    height, width = (int(size) for size in arrays["perturbed_cells"])
    sound = width == 1
    shown = min(len(images), SOUNDS if sound else IMAGES)
    tokens = [[arrays[f"perturbed_{name}"][n] for name in ("labels", "expected", "predictions")] for n in range(shown)]
    titles = [_exchange_title(legend, *of_item) for of_item in tokens]
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
        _exchange_entries(axes, entries[entries[:, 0] == number], images.shape[1:], height, sound, legend)
        _, expected, decoded = tokens[number]
        axes.title.set_color(_verdict(decoded, expected))
    figure.supxlabel(
        "dot: entry of the motif map, ring: its previous channel; above: label \N{RIGHTWARDS ARROW} expected label "
        "(red: decoded otherwise)",
        fontsize=8.5,
    )
    return figure


def _exchange_title(legend: MotifLegend, *tokens: NDArray[np.integer]) -> list[str]:
    """Return the parts of a title: the label, the expected one, and the decoded one if it differs."""
    label, expected, decoded = (legend.text(of_label) for of_label in tokens)
    wrong = [] if same_tokens(*tokens[1:]) else [f"decoded {decoded or 'nothing'}"]
    return [f"{label} \N{RIGHTWARDS ARROW}", expected, *wrong]


def _exchange_entries(
    axes: Axes, entries: NDArray[np.integer], size: tuple[int, ...], positions: int, sound: bool, legend: MotifLegend
) -> None:
    """Draw the entries (e, 5) of one map of an item of `size` (height, width)."""
    stride = (size[1] if sound else size[0]) / positions
    for _, row, column, before, after in entries.tolist():
        moved = before != after
        place = ((row if sound else column) + 0.5) * stride - 0.5
        ring = legend.colour(before) if before >= 0 else INK
        level = 1.1 * size[0] if sound else (row + 0.5) * stride - 0.5
        axes.scatter(
            place, level, s=60 if moved else 26, color=legend.colour(after), zorder=3, clip_on=False,
            edgecolors=ring if moved else "white", linewidths=2.4 if moved else 0.9,
        )  # fmt: skip
        if moved:
            kinds = [legend.channel_kinds[channel] if channel >= 0 else -1 for channel in (before, after)]
            names = [label(legend.kind_names[kind]) if kind >= 0 else "?" for kind in kinds]
            axes.annotate(
                "\N{RIGHTWARDS ARROW}".join(names), (place, level), xytext=(0, 6), textcoords="offset points",
                ha="center", fontsize=8, color=INK, weight="bold",
            )  # fmt: skip


class MotifLegend(NamedTuple):
    """Classes of a run's channels, names of classes and tokens, and colours."""

    channel_kinds: NDArray[np.int64]
    """(C,), -1 for none."""
    kind_names: Sequence[str]
    token_names: Sequence[str]
    located: bool = True
    """False if no true motif is known, so that classes of channels follow from labels."""

    @classmethod
    def of(cls, arrays: Mapping[str, np.ndarray]) -> MotifLegend:
        """Read ``confusion``, ``channel_kinds``, ``kind_names`` and ``token_names`` of a run.

        Without ``confusion`` no true motif is known. Without names classes are digits, as in early runs on DigitCircle.
        """
        from sparseid.metrics.motifs import channel_symbols

        counts = arrays.get("confusion")
        digits = [str(kind) for kind in range(len(counts) - 1)] if counts is not None else []
        return cls(
            arrays["channel_kinds"] if counts is None or "channel_kinds" in arrays else channel_symbols(counts),
            list(map(str, arrays.get("kind_names", digits))),
            list(map(str, arrays.get("token_names", digits))),
            located=counts is not None,
        )

    def kind_colour(self, kind: int) -> str | None:
        """Return the colour of the first channel of a class; None if it has none."""
        channels = np.flatnonzero(self.channel_kinds == kind)
        return kind_colour(int(channels[0])) if len(channels) else None

    def colour(self, channel: int) -> str:
        """Return the colour of a channel's class, or its own colour without one."""
        kind = int(self.channel_kinds[channel])
        return (self.kind_colour(kind) if kind >= 0 else None) or kind_colour(channel)

    def kind_of(self, channel: int) -> str:
        """Return the name of a channel's class, or ``none``."""
        kind = int(self.channel_kinds[channel])
        return self.kind_names[kind] if kind >= 0 else "none"

    def text(self, tokens: NDArray[np.integer]) -> str:
        """Return the text of a label, with a question mark for an unknown token."""
        names = [WRITTEN_TOKENS.get(name, name) for name in self.token_names]
        words = any(len(name) > 1 for name in self.token_names if name not in WRITTEN_TOKENS)
        return (" " if words else "").join(
            names[token] if token < len(names) else "?" for token in tokens if token >= 0
        )


def same_tokens(first: NDArray[np.integer], second: NDArray[np.integer]) -> bool:
    """Return whether two labels, padded with -1, are equal; different tokens may have the same text."""
    return np.array_equal(first[first >= 0], second[second >= 0])


def image_panels(size: tuple[int, ...], titles: Sequence[Sequence[str]], below: float) -> tuple[Figure, list[Axes]]:
    """Return a figure and one axes without ticks for each image, its title above it in black.

    Parameters
    ----------
    size
        Height and width of an image, pixels. A row has four, or two if they are more than twice as wide as high.
    titles
        Parts of each title: the second one follows the first on its line if there is room, others are below.
    below
        Space for a legend, inches.
    """
    height, width = size
    per_row = 2 if width > 2 * height else 4
    panel, columns = ROW_WIDTH / per_row, min(len(titles), per_row)
    lines = -(-len(titles) // columns)
    texts = [
        "\n".join([first + (" " if len(first + second) < panel / LETTER_WIDTH else "\n") + second, *others])
        for first, second, *others in titles
    ]
    above = TITLE_HEIGHT * (1 + max(text.count("\n") for text in texts)) + 0.1
    figure, grid = new_figure(
        panel * columns, (panel * height / width + above) * lines + below, rows=lines, columns=columns
    )
    for axes in grid.flat[len(titles) :]:
        axes.axis("off")
    shown = list(grid.flat[: len(titles)])
    for axes, text in zip(shown, texts, strict=True):
        axes.set(xticks=[], yticks=[])
        axes.spines[:].set_color(FRAME)
        axes.set_title(text, fontsize=10, family="monospace")
    return figure, shown


def inked(images: NDArray[np.floating]) -> NDArray[np.floating]:
    """Return images in [0, 1] with ink 1; if most of a set is 1, as of formulas, that is its paper."""
    return 1 - images if images.mean() > 0.5 else images
