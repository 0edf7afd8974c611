"""The Sparse VAE's figure 3 and the coherence of its topics, drawn from result rows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from sparseid.papers.drawing import FAINT, INK, legend_below, new_figure, tidy
from sparseid.papers.names import written
from sparseid.papers.rows import key, values_of
from sparseid.papers.sparse_vae.cells import METHODS, STUCK_ABOVE, WARM_UP, values
from sparseid.papers.targets import Target

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

COLOURS = {
    "sparse_vae": "#1d4ed8",
    WARM_UP: "#0891b2",
    "vae": "#c2410c",
    "beta_vae": "#d4a106",
    "vsc": "#6d28d9",
    "oi_vae": "#be185d",
    "nmf": "#0f766e",
}
DRAWN = ("sparse_vae", WARM_UP, *METHODS[1:])
NOISE_FLOOR = 0.25
"""Variance of the noise of the seven features: no lower MSE is possible."""
PANELS = {
    "mse": "held-out MSE",
    "dci": "DCI, 16 samples",
    "dci_all_rows": "DCI, all samples",
    "selector_hamming": "wrong entries of W",
}
TOPICS_SHOWN = 24
LONGEST = 110
"""Characters of a topic's names that are drawn."""


def boxes_against_correlation(rows: pd.DataFrame, targets: Sequence[Target], scale: str) -> Figure:
    """Draw figure 3: box plots over data sets of each method, a column of panels per correlation of the factors.

    Over the boxes of the MSE stands how many data sets got stuck (MSE above 2). The paper draws the first two rows.

    Parameters
    ----------
    rows
        Rows of one scale, newest of each cell and seed.
    targets
        Not used: the figure has no printed numbers.
    scale
        Scale of `rows`; written into the legend.
    """
    correlations = values_of(rows, "rho") or [0.0]
    figure, grid = new_figure(
        max(2.1 * len(correlations) + 0.8, 6.5),
        7.6,
        rows=len(PANELS),
        columns=len(correlations),
        sharex=True,
        sharey="row",
    )
    for line, (metric, label) in zip(grid, PANELS.items(), strict=True):
        for axes, rho in zip(line, correlations, strict=True):
            tidy(axes)
            found = {name: values(rows, metric, name, rho=rho) for name in DRAWN}
            _boxes(axes, found)
            if metric == "mse":
                _mse_axis(axes, found)
                axes.set_title(rf"$\rho$ = {rho:g}", fontsize=10, color=INK)
            elif metric.startswith("dci"):
                axes.set_ylim(-0.03, 1.03)
        if metric == "selector_hamming":
            line[0].set_ylim(bottom=0)  # after all panels of the line: a limit ends the fitting of the other one
        line[0].set_ylabel(label, fontsize=9)
    from matplotlib.patches import Patch

    handles = [Patch(facecolor=COLOURS[name], alpha=0.6) for name in DRAWN]
    names = [written(name) + (" (2)" if name == "beta_vae" else "") for name in DRAWN]
    title = f"scale={scale}; boxes: quartiles over data sets; n/m: data sets with an MSE above {STUCK_ABOVE:g}"
    title += "\ndotted: variance of the noise"
    legend_below(figure, handles, names, title, columns=len(DRAWN) if len(correlations) > 3 else 3)
    return figure


def _boxes(axes: Axes, found: dict[str, pd.Series]) -> None:
    for place, (name, of_method) in enumerate(found.items()):
        if of_method.empty:
            continue
        axes.boxplot(
            [of_method.to_numpy()], positions=[place], widths=0.65, patch_artist=True, manage_ticks=False,
            boxprops={"facecolor": COLOURS[name], "alpha": 0.6, "linewidth": 0.8},
            medianprops={"color": INK, "linewidth": 1.4}, whiskerprops={"linewidth": 0.8}, capprops={"linewidth": 0.8},
            flierprops={"marker": "o", "markersize": 2.5, "markerfacecolor": COLOURS[name], "markeredgewidth": 0},
        )  # fmt: skip
    axes.set_xlim(-0.6, len(found) - 0.4)
    axes.set_xticks([])


def _mse_axis(axes: Axes, found: dict[str, pd.Series]) -> None:
    from matplotlib.ticker import NullFormatter

    axes.set_yscale("log")
    axes.set_ylim(0.15, 60)
    axes.set_yticks([0.25, 1, 4, 16], ["0.25", "1", "4", "16"])
    axes.yaxis.set_minor_formatter(NullFormatter())
    axes.axhline(NOISE_FLOOR, color=FAINT, linewidth=1, linestyle=":")
    for place, of_method in enumerate(found.values()):
        if stuck := int((of_method > STUCK_ABOVE).sum()):
            axes.text(place, 40, f"{stuck}/{len(of_method)}", ha="center", fontsize=6.5, color=INK)


def coherence_of_topics(rows: pd.DataFrame, targets: Sequence[Target], scale: str) -> Figure:
    """Draw the top features of each factor with their coherence, the heaviest factors first.

    Parameters
    ----------
    rows
        Rows of one scale with the keys ``topic`` and ``top_features``; only the first seed is drawn.
    targets
        Not used: the paper prints words.
    scale
        Scale of `rows`; written below the axis.
    """
    first = rows[rows["seed"] == (rows["seed"].min() if len(rows) else 0)]
    of_topic = first[key(first, "topic").notna()]
    coherence = of_topic[of_topic["metric"] == "npmi"]
    columns = (key(coherence, "topic"), key(coherence, "top_features"), coherence["value"])
    found = {topic: (features, value) for topic, features, value in zip(*columns, strict=True)}
    by_chance = of_topic[of_topic["metric"] == "npmi_random"]["value"].astype(float)
    shown = dict(sorted(found.items())[:TOPICS_SHOWN])
    figure, grid = new_figure(9.5, 0.24 * max(len(shown), 3) + 1.0)
    axes = grid[0, 0]
    tidy(axes)
    axes.grid(visible=False)
    places = np.arange(len(shown))
    axes.barh(places, [value for _, value in shown.values()], color=COLOURS["sparse_vae"], alpha=0.6)
    axes.set_yticks(places, [_shortened(names) for names, _ in shown.values()], fontsize=7.5)
    axes.invert_yaxis()
    axes.axvline(0, color=INK, linewidth=0.8)
    label = "NPMI: 0 chance, 1 always together"
    if len(by_chance):
        axes.axvline(float(by_chance.mean()), color=FAINT, linewidth=1.2, linestyle=":")
        label += "; dotted: random features"
    left_out = f", {len(shown)} of {len(found)} factors" if len(found) > len(shown) else ""
    figure.supxlabel(f"{label} (scale={scale}{left_out})", fontsize=8.5)
    return figure


def _shortened(names: str) -> str:
    return names if len(names) <= LONGEST else f"{names[: LONGEST - 1]}\N{HORIZONTAL ELLIPSIS}"
