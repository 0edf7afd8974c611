"""Figure 8 on Fashion-MNIST: the picture of the flow's traversals, and the check of the claim about it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from sparseid.papers.artefact import Arrays
from sparseid.papers.claims import Finding, claim, for_every, mean_below
from sparseid.papers.drawing import INK, new_figure
from sparseid.papers.labels import label
from sparseid.papers.rows import per_seed, select

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

REGULARISERS = ("none", "latent", "dependency")
"""Panels of the figure, from left to right."""
PRECONDITIONS = ("log_abs_det_max", "inverse_error")
LARGEST = 1e-4
"""Bound of both."""
METRICS = (*PRECONDITIONS, "flow_nll", "moved_share", "factor_correlation", "largest_deviation")
TRAVERSED = "value of the latent in standard deviations, the others at their mean"
STEPS = ("-2", "", "-1", "", "0", "", "1", "", "2")


@for_every("{}, {}", REGULARISERS, PRECONDITIONS)
def preconditions(rows: pd.DataFrame, regulariser: str, metric: str) -> Finding:
    """Check that a flow preserves volume and is inverted."""
    return mean_below(per_seed(rows, metric, regulariser=regulariser), LARGEST, label(metric))


@claim("ddl-fig8-traversal-flow")
def flow_traversals_show_coordinates(rows: pd.DataFrame) -> Finding:
    found = preconditions(rows)
    if found.outcome != "holds":
        return found
    return replace(
        found, outcome="undecided", text=f"what coordinates show is for the eye; preconditions: {found.text}"
    )


def traversals_by_penalty(rows: pd.DataFrame, arrays: Arrays, scale: str) -> Figure | None:
    """Draw the traversals of the first seed's flow for each penalty; None without saved arrays (recorded runs)."""
    found = {}
    for regulariser in REGULARISERS:
        of_flow = select(rows, {"regulariser": (regulariser,)}).sort_values(["seed", "written"], kind="stable")
        saved = arrays(of_flow["run"].iloc[0]) if len(of_flow) else {}
        if "flow_images" in saved:
            share = of_flow[of_flow["metric"] == "moved_share"]["value"].astype(float).mean()
            found[f"{label(regulariser)}, {share:.2f} of pixels moved"] = saved
    return draw_traversals(found, f"scale={scale}") if found else None


def draw_traversals(found: Mapping[str, Mapping[str, np.ndarray]], title: str = "") -> Figure:
    """Draw traversals of flows: rows are latents by decreasing deviation, the column on the right what they change.

    The changes of a latent are in units of its largest one.

    Parameters
    ----------
    found
        Title -> arrays of a run.
    title
        Of the whole figure.
    """
    latents, steps = next(iter(found.values()))["flow_images"].shape[:2]
    width = 0.42 * (steps + 2.6)
    figure, grid = new_figure(
        len(found) * width, 0.42 * latents + 1.0, columns=2 * len(found), width_ratios=[steps, 1.0] * len(found)
    )
    for (name, saved), axes, heat in zip(found.items(), grid[0, ::2], grid[0, 1::2], strict=True):
        images, changes, side = saved["flow_images"], saved["flow_changes"], saved["flow_images"].shape[-1]
        axes.imshow(_sheet(images), cmap="gray", vmin=0, vmax=1, interpolation="nearest")
        largest = changes.max(axis=(1, 2), keepdims=True)
        heat.imshow(_sheet((changes / np.where(largest > 0, largest, 1))[:, None]), cmap="magma", vmin=0, vmax=1)
        centres = (np.arange(max(latents, steps)) + 0.5) * side
        axes.set_yticks(centres[:latents], [f"{deviation:.2g}" for deviation in saved["flow_deviations"]])
        axes.set_xticks(centres[:steps], STEPS)
        heat.set_yticks([])
        heat.set_xticks([side / 2], ["|+1 - -1|"])
        axes.set_title(name, fontsize=9, color=INK)
        _bare(axes)
        _bare(heat)
    grid[0, 0].set_ylabel("standard deviation of the latent", fontsize=8)
    figure.supxlabel("; ".join(filter(None, (TRAVERSED, title))), fontsize=8)
    return figure


def _sheet(images: np.ndarray) -> np.ndarray:
    """Return images (rows, columns, height, width) as one picture."""
    rows, columns, height, width = images.shape
    return images.transpose(0, 2, 1, 3).reshape(rows * height, columns * width)


def _bare(axes: Axes) -> None:
    axes.tick_params(labelsize=7, length=0)
    axes.spines[:].set_visible(False)
