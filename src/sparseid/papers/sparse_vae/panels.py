"""Pictures of the Sparse VAE that need what runs saved beside their rows: the plane of figure 4, factors, selectors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from sparseid.metrics.topics import top_features
from sparseid.papers.artefact import Arrays
from sparseid.papers.drawing import CHANNEL_COLOURS, INK, legend_below, new_figure
from sparseid.papers.names import written
from sparseid.papers.rows import select
from sparseid.papers.sparse_vae.cells import ON_CELLS
from sparseid.papers.targets import Target

if TYPE_CHECKING:
    from matplotlib.figure import Figure

PER_ROW = 3
FEATURES_SHOWN = 20
"""Features up to which a selector matrix is drawn; of larger ones the topics are."""
TOPICS_SHOWN = 12
NAMES_SHOWN = 5


def planes_of_methods(rows: pd.DataFrame, arrays: Arrays, scale: str) -> Figure | None:
    """Draw figure 4: the cells in the plane by the factors of each method, coloured by their type.

    None where no run with saved arrays is at hand: rows kept in git have none.

    Parameters
    ----------
    rows
        Rows of one scale; of each method the first seed of its newest run is drawn.
    arrays
        Gives ``plane`` (cells, 2) and ``labels`` (cells,) of a run.
    scale
        Scale of `rows`; written into the legend.
    """
    found = {}
    for method in ON_CELLS:
        of_method = select(rows, {"method": (method,)}).sort_values("written", kind="stable")
        saved = arrays(of_method["run"].iloc[-1]) if len(of_method) else {}
        if "plane" in saved:
            silhouette = of_method[of_method["metric"] == "silhouette"]["value"].astype(float).mean()
            found[f"{written(method)}, silhouette {silhouette:.2f}"] = saved["plane"], saved["labels"]
    return _planes(found, f"scale={scale}") if found else None


def run_figures(
    rows: pd.DataFrame, arrays: Mapping[str, np.ndarray], targets: Sequence[Target], scale: str
) -> dict[str, Figure]:
    """Draw the pictures of one run's first seed by file name: ``factors``, ``plane``, ``selector``, ``topics``.

    Parameters
    ----------
    rows
        Not used.
    arrays
        What the run saved in ``arrays.npz``; a picture whose arrays are absent is left out.
    targets, scale
        Not used.
    """
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
        axes.scatter(factors[:, number], codes[:, latent], s=5, color="#1d4ed8", alpha=0.5, linewidth=0)
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
    axes.set_xticks(range(selector.shape[1]), [str(latent + 1) for latent in range(selector.shape[1])], fontsize=7)
    axes.set_yticks(range(selector.shape[0]), [str(feature + 1) for feature in range(selector.shape[0])], fontsize=7)
    figure.colorbar(picture, ax=axes, label="|W|")
    return figure


def heaviest_features(selector: np.ndarray, names: np.ndarray) -> Figure:
    """Draw the features with the largest selectors (features, latents) of the heaviest latents, with their names."""
    order = np.argsort(-np.abs(selector).sum(axis=0), kind="stable")[:TOPICS_SHOWN]
    columns = min(PER_ROW, len(order))
    lines = -(-len(order) // columns)
    figure, grid = new_figure(3.6 * columns, 1.25 * lines + 0.4, rows=lines, columns=columns, sharex=True)
    for axes, latent in zip(grid.flat, order, strict=False):
        top = top_features(selector[:, [latent]], NAMES_SHOWN)[0]
        axes.barh(range(len(top)), np.abs(selector[top, latent]), color="#1d4ed8", alpha=0.6)
        axes.set_yticks(range(len(top)), [str(names[feature])[:32] for feature in top], fontsize=6.5)
        axes.invert_yaxis()
        axes.spines[["top", "right"]].set_visible(False)
        axes.set_title(f"latent {latent + 1}", fontsize=7.5, color=INK)
        axes.tick_params(axis="x", labelsize=6.5)
    for axes in grid.flat[len(order) :]:
        axes.set_axis_off()
    figure.supxlabel("|W|", fontsize=8.5)
    return figure


def _planes(found: Mapping[str, tuple[np.ndarray, np.ndarray]], title: str) -> Figure:
    """Draw named planes (cells, 2) with the classes (cells,) of their cells."""
    columns = min(PER_ROW, len(found))
    lines = -(-len(found) // columns)
    figure, grid = new_figure(max(3.2 * columns, 4.0), 3.2 * lines + 0.7, rows=lines, columns=columns)
    classes = sorted({str(name) for _, labels in found.values() for name in labels})
    colours = dict(zip(classes, CHANNEL_COLOURS, strict=False))
    for axes, (name, (plane, labels)) in zip(grid.flat, found.items(), strict=False):
        axes.scatter(*plane.T, s=2.5, c=[colours.get(str(label), INK) for label in labels], linewidth=0)
        axes.set_title(name, fontsize=9, color=INK)
        axes.set(xticks=[], yticks=[])
    for axes in grid.flat[len(found) :]:
        axes.set_axis_off()
    handles = [_dot(colours.get(name, INK)) for name in classes]
    legend_below(figure, handles, classes, title, columns=min(columns + 1, len(classes)))  # names are long
    return figure


def _dot(colour: str):  # type: ignore[no-untyped-def]
    from matplotlib.lines import Line2D

    return Line2D([], [], linestyle="", marker="o", markersize=5, color=colour)
