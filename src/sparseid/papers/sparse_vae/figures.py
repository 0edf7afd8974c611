"""The Sparse VAE's figures 3 and 4, the coherence of its topics, and the figures of one run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from sparseid.metrics.topics import top_features
from sparseid.papers.artefact import Arrays
from sparseid.papers.drawing import (
    AMBER,
    BLUE,
    CYAN,
    FAINT,
    INK,
    ORANGE,
    PINK,
    PURPLE,
    TEAL,
    draw_kinds,
    kind_colour,
    kind_marker,
    legend_below,
    legend_dot,
    new_figure,
    new_plots,
)
from sparseid.papers.labels import label
from sparseid.papers.rows import key, select, values_of
from sparseid.papers.sparse_vae.rows import METHODS, ON_CELLS, STUCK_ABOVE, WARM_UP, values
from sparseid.papers.targets import Target

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

COLOURS = {
    "sparse_vae": BLUE,
    WARM_UP: CYAN,
    "vae": ORANGE,
    "beta_vae": AMBER,
    "vsc": PURPLE,
    "oi_vae": PINK,
    "nmf": TEAL,
}
DRAWN = ("sparse_vae", WARM_UP, *METHODS[1:])
NOISE_FLOOR = 0.25
"""Variance of the noise of the seven features: the lowest possible MSE."""
PANELS = {
    "mse": "held-out MSE",
    "dci": "DCI, 16 samples",
    "dci_all_rows": "DCI, all samples",
    "selector_hamming": "wrong entries of W",
}
TOPICS_SHOWN = 24
LONGEST = 110
"""Maximal number of characters of a topic's names."""
PER_ROW = 3
FEATURES_SHOWN = 20
"""Maximal number of features for a selector matrix; larger ones are drawn as topics."""
TOPICS_DRAWN = 12
NAMES_SHOWN = 5


def boxes_against_correlation(rows: pd.DataFrame, targets: Sequence[Target], scale: str) -> Figure:
    """Draw figure 3: box plots over data sets of each method, a column of panels per correlation of the factors.

    The number of stuck data sets (MSE above 2) is above the boxes of the MSE. The paper draws the first two rows.
    """
    correlations = values_of(rows, "rho") or [0.0]
    size = max(2.1 * len(correlations) + 0.8, 6.5), 7.6
    figure, grid = new_plots(*size, rows=len(PANELS), columns=len(correlations), sharex=True, sharey="row")
    for line, (metric, title) in zip(grid, PANELS.items(), strict=True):
        for axes, rho in zip(line, correlations, strict=True):
            found = {name: values(rows, metric, name, rho=rho) for name in DRAWN}
            _boxes(axes, found)
            if metric == "mse":
                _mse_axis(axes, found)
                axes.set_title(f"\N{GREEK SMALL LETTER RHO} = {rho:g}", fontsize=10, color=INK)
            elif metric.startswith("dci"):
                axes.set_ylim(-0.03, 1.03)
        if metric == "selector_hamming":
            line[0].set_ylim(bottom=0)  # after all panels of the line: a fixed limit ends automatic scaling
        line[0].set_ylabel(title, fontsize=9)
    from matplotlib.patches import Patch

    handles = [Patch(facecolor=COLOURS[name], alpha=0.6) for name in DRAWN]
    names = [label(name) + (" (2)" if name == "beta_vae" else "") for name in DRAWN]
    title = f"scale={scale}; boxes: quartiles over data sets; n/m: data sets with an MSE above {STUCK_ABOVE:g}"
    title += "\ndotted: variance of the noise"
    legend_below(figure, handles, names, title, columns=len(DRAWN) if len(correlations) > 3 else 3)
    return figure


def _boxes(axes: Axes, found: dict[str, pd.Series]) -> None:
    """Draw a box plot of each method, as ``axes.boxplot`` does with seven lines and so four times as slowly."""
    from matplotlib.cbook import boxplot_stats

    boxes = {at: boxplot_stats(of.to_numpy())[0] for at, of in enumerate(found.values()) if len(of)}
    if boxes:
        places, drawn = np.array(list(boxes)), pd.DataFrame(list(boxes.values()))
        colours, low, high = [COLOURS[list(found)[at]] for at in places], drawn["q1"].to_numpy(), drawn["q3"].to_numpy()
        axes.bar(places, high - low, 0.65, low, color=[(of, 0.6) for of in colours], edgecolor="black", linewidth=0.8)
        for quartile, end in ((low, drawn["whislo"]), (high, drawn["whishi"])):
            axes.vlines(places, quartile, end, color="black", linewidth=0.8)
            axes.hlines(end, places - 0.16, places + 0.16, color="black", linewidth=0.8)
        axes.hlines(drawn["med"], places - 0.325, places + 0.325, color=INK, linewidth=1.4)
        for at, colour, outside in zip(places, colours, drawn["fliers"], strict=True):
            axes.scatter([at] * len(outside), outside, s=6, color=colour, linewidth=0)
    axes.use_sticky_edges = False  # a bar ends its panel
    axes.set_xlim(-0.6, len(found) - 0.4)
    axes.set_xticks([])


def _mse_axis(axes: Axes, found: dict[str, pd.Series]) -> None:
    axes.set_yscale("log")
    axes.set_ylim(0.15, 60)
    axes.set_yticks([0.25, 1, 4, 16], ["0.25", "1", "4", "16"])
    axes.minorticks_off()
    axes.axhline(NOISE_FLOOR, color=FAINT, linewidth=1, linestyle=":")
    for place, of_method in enumerate(found.values()):
        if stuck := int((of_method > STUCK_ABOVE).sum()):
            axes.text(place, 40, f"{stuck}/{len(of_method)}", ha="center", fontsize=6.5, color=INK)


def coherence_of_topics(rows: pd.DataFrame, targets: Sequence[Target], scale: str) -> Figure:
    """Draw the top features of each factor of the first seed with their coherence, the heaviest factors first."""
    first = rows[rows["seed"] == (rows["seed"].min() if len(rows) else 0)]
    of_topic = first[key(first, "topic").notna()]
    coherence = of_topic[of_topic["metric"] == "npmi"]
    columns = (key(coherence, "topic"), key(coherence, "top_features"), coherence["value"])
    found = {topic: (features, value) for topic, features, value in zip(*columns, strict=True)}
    by_chance = of_topic[of_topic["metric"] == "npmi_random"]["value"].astype(float)
    shown = dict(sorted(found.items())[:TOPICS_SHOWN])
    figure, grid = new_plots(9.5, 0.24 * max(len(shown), 3) + 1.0)
    axes = grid[0, 0]
    axes.grid(visible=False)
    places = np.arange(len(shown))
    names = [
        top if len(top) <= LONGEST else f"{top[: LONGEST - 1]}\N{HORIZONTAL ELLIPSIS}" for top, _ in shown.values()
    ]
    axes.barh(places, [value for _, value in shown.values()], color=COLOURS["sparse_vae"], alpha=0.6)
    axes.set_yticks(places, names, fontsize=7.5)
    axes.invert_yaxis()
    axes.axvline(0, color=INK, linewidth=0.8)
    caption = "NPMI: 0 chance, 1 always together"
    if len(by_chance):
        axes.axvline(float(by_chance.mean()), color=FAINT, linewidth=1.2, linestyle=":")
        caption += "; dotted: random features"
    skipped = f", {len(shown)} of {len(found)} factors" if len(found) > len(shown) else ""
    figure.supxlabel(f"{caption} (scale={scale}{skipped})", fontsize=8.5)
    return figure


def planes_of_methods(rows: pd.DataFrame, arrays: Arrays, scale: str) -> Figure | None:
    """Draw figure 4: the cells in the plane by the factors of each method, coloured by their type.

    None without saved arrays; recorded runs have none.
    """
    found = {}
    for method in ON_CELLS:
        of_method = select(rows, {"method": (method,)}).sort_values("written", kind="stable")
        saved = arrays(of_method["run"].iloc[-1]) if len(of_method) else {}
        if "plane" in saved:
            silhouette = of_method[of_method["metric"] == "silhouette"]["value"].astype(float).mean()
            found[f"{label(method)}, silhouette {silhouette:.2f}"] = saved["plane"], saved["labels"]
    return _planes(found, f"scale={scale}") if found else None


def run_figures(rows: pd.DataFrame, arrays: Mapping[str, np.ndarray], scale: str) -> dict[str, Figure]:
    """Draw the figures of one run's first seed by file name: ``factors``, ``plane``, ``selector``, ``topics``."""
    drawn = {}
    if "factors" in arrays:
        drawn["factors"] = true_and_learned(arrays["factors"], arrays["codes"])
    if "plane" in arrays:
        drawn["plane"] = _planes({"": (arrays["plane"], arrays["labels"])}, "")
    if "selector" in arrays:
        selector = arrays["selector"][0]
        if len(selector) <= FEATURES_SHOWN:
            drawn["selector"] = selector_matrix(selector)
        elif "feature_names" in arrays:
            drawn["topics"] = heaviest_features(selector, arrays["feature_names"])
    return drawn


def true_and_learned(factors: np.ndarray, codes: np.ndarray) -> Figure:
    """Draw learned latents (samples, K) against true factors (samples, K*), each with the one closest to it."""
    figure, grid = new_figure(2.6 * factors.shape[1], 2.7, columns=factors.shape[1])
    for number, axes in enumerate(grid[0]):
        sizes = [_correlation(factors[:, number], latent) for latent in codes.T]
        latent = int(np.argmax(sizes))
        axes.scatter(factors[:, number], codes[:, latent], s=5, color=BLUE, alpha=0.5, linewidth=0)
        axes.set_title(f"|correlation| {sizes[latent]:.2f}", fontsize=9, color=INK)
        axes.set_xlabel(f"true factor {number + 1}", fontsize=8.5)
        axes.set_ylabel(f"latent {latent + 1}", fontsize=8.5)
        axes.tick_params(labelsize=7)
    return figure


def _correlation(first: np.ndarray, second: np.ndarray) -> float:
    """Return the absolute correlation; 0 where one is constant or not finite."""
    if not np.isfinite(second).all() or np.ptp(first) == 0 or np.ptp(second) == 0:
        return 0.0
    return float(abs(np.corrcoef(first, second)[0, 1]))


def selector_matrix(selector: np.ndarray) -> Figure:
    """Draw absolute selectors (features, latents)."""
    figure, grid = new_figure(0.45 * selector.shape[1] + 1.8, 0.28 * selector.shape[0] + 1.0)
    axes = grid[0, 0]
    picture = axes.imshow(np.abs(selector), cmap="Blues", vmin=0, aspect="auto")
    axes.set_xlabel("latent", fontsize=8.5)
    axes.set_ylabel("feature", fontsize=8.5)
    features, latents = (range(size) for size in selector.shape)
    axes.set_xticks(latents, [str(latent + 1) for latent in latents], fontsize=7)
    axes.set_yticks(features, [str(feature + 1) for feature in features], fontsize=7)
    figure.colorbar(picture, ax=axes, label="|W|")
    return figure


def heaviest_features(selector: np.ndarray, names: np.ndarray) -> Figure:
    """Draw the features with the largest selectors (features, latents) of the heaviest latents, with their names."""
    order = np.argsort(-np.abs(selector).sum(axis=0), kind="stable")[:TOPICS_DRAWN]
    columns = min(PER_ROW, len(order))
    lines = -(-len(order) // columns)
    figure, grid = new_figure(3.6 * columns, 1.25 * lines + 0.4, rows=lines, columns=columns, sharex=True)
    for axes, latent in zip(grid.flat, order, strict=False):
        top = top_features(selector[:, [latent]], NAMES_SHOWN)[0]
        axes.barh(range(len(top)), np.abs(selector[top, latent]), color=BLUE, alpha=0.6)
        axes.set_yticks(range(len(top)), [_shortened(str(names[feature])) for feature in top], fontsize=6.5)
        axes.invert_yaxis()
        axes.spines[["top", "right"]].set_visible(False)
        axes.set_title(f"latent {latent + 1}", fontsize=7.5, color=INK)
        axes.tick_params(axis="x", labelsize=6.5)
    for axes in grid.flat[len(order) :]:
        axes.set_axis_off()
    figure.supxlabel("|W|", fontsize=8.5)
    return figure


def _shortened(name: str, longest: int = 32) -> str:
    """Return a name of at most so many characters, with an ellipsis where it is cut."""
    return name if len(name) <= longest else name[: longest - 1].rstrip() + "\N{HORIZONTAL ELLIPSIS}"


def _planes(found: Mapping[str, tuple[np.ndarray, np.ndarray]], title: str) -> Figure:
    """Draw named planes (cells, 2) with the classes (cells,) of their cells."""
    columns = min(PER_ROW, len(found))
    lines = -(-len(found) // columns)
    figure, grid = new_figure(max(3.2 * columns, 4.0), 3.2 * lines + 0.7, rows=lines, columns=columns)
    classes = sorted({str(name) for _, labels in found.values() for name in labels})
    for axes, (name, (plane, labels)) in zip(grid.flat, found.items(), strict=False):
        draw_kinds(axes, plane, np.searchsorted(classes, labels.astype(str)), size=2.5)
        axes.set_title(name, fontsize=9, color=INK)
        axes.set(xticks=[], yticks=[])
    for axes in grid.flat[len(found) :]:
        axes.set_axis_off()
    handles = [legend_dot(kind_colour(kind), marker=kind_marker(kind)) for kind in range(len(classes))]
    legend_below(figure, handles, classes, title, columns=min(columns + 1, len(classes)))  # names are long
    return figure
