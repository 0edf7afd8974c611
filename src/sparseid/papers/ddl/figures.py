"""DDL's figures 4 and 5 and the curve of table 6, drawn from result rows, and the figures of one run."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from textwrap import wrap
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from sparseid.measurements import Key
from sparseid.papers.ddl.claims import ALPHA, ALPHAS, DIMS, SCORES, mcc
from sparseid.papers.ddl.flow import draw_traversals
from sparseid.papers.drawing import (
    AMBER,
    BLUE,
    FAINT,
    INK,
    ORANGE,
    TEAL,
    draw_summaries,
    legend_below,
    new_figure,
    new_plots,
)
from sparseid.papers.labels import label
from sparseid.papers.rows import per_seed, select, values_of
from sparseid.papers.targets import Target, load_targets

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

COLOURS = {3: BLUE, 4: ORANGE, 5: TEAL}
"""By number of latents."""
WEIGHT = "\N{GREEK SMALL LETTER ALPHA}"  # as TeX, "$\\alpha$", it would cost parsing
WITH, WITHOUT = BLUE, AMBER
MASKS = ("circulant2", "lower_triangular", "ones_minus_identity", "random", "dense")
"""Structures of figure 5, the dense one last."""
MEMBERS_SHOWN = 4
POINTS_SHOWN = 1500
AXIS_OF = {"int": "shared from\nthe rest", "symdiff": "the rest\nfrom shared", "comp_a": "K alone\nfrom V alone",
           "comp_b": "V alone\nfrom K alone", "ref": "K from\nits own"}  # fmt: skip


def block_r2(rows: pd.DataFrame, targets: Sequence[Target], scale: str) -> Figure:
    """Draw figure 4: R2 of true blocks from learned ones, with and without the penalty, per number of latents."""
    figure, grid = new_plots(11.5, 3.9, columns=len(DIMS), sharey=True)
    styles = {0.0: (WITHOUT, -0.18), ALPHA: (WITH, 0.18)}
    for axes, dim in zip(grid[0], DIMS, strict=True):
        for alpha, (colour, aside) in styles.items():
            scores = enumerate((*SCORES, "ref"))
            found = {at + aside: per_seed(rows, "r2", dim=dim, alpha=alpha, score=score) for at, score in scores}
            _points(axes, found, colour)
        ref = per_seed(rows, "r2", dim=dim, alpha=ALPHA, score="ref")
        if len(ref):
            axes.axhline(0.5 * ref.mean(), color=FAINT, linewidth=1, linestyle=":")
        axes.set_xticks(range(len(AXIS_OF)), list(AXIS_OF.values()), fontsize=7)
        groups = ", ".join(map(str, values_of(select(rows, {"dim": (dim,)}), "groups")))
        axes.set_title(f"{dim} latents" + (f", groups {groups}" if groups else ""), fontsize=10, color=INK)
    grid[0, 0].set_ylabel("R2", fontsize=9)
    names = {f"{WEIGHT} = 0": WITHOUT, f"{WEIGHT} = {ALPHA:g}": WITH}
    _legend(figure, names, f"scale={scale}; small points: seeds; dotted: half of the reference")
    return figure


def mcc_by_structure(rows: pd.DataFrame, targets: Sequence[Target], scale: str) -> Figure:
    """Draw figure 5: MCC of diverse structures and of the dense one, a panel per number of latents.

    The paper draws the dense structure and unnamed diverse ones.
    """
    figure, grid = new_plots(11.5, 3.7, columns=len(DIMS), sharey=True)
    for axes, dim in zip(grid[0], DIMS, strict=True):
        found = [(float(place), mcc(rows, dim=dim, mask=mask)) for place, mask in enumerate(MASKS)]
        _points(axes, dict(found[:-1]), WITH)
        _points(axes, dict(found[-1:]), WITHOUT)
        axes.set_xticks(range(len(MASKS)), [label(mask).replace(" ", "\n") for mask in MASKS], fontsize=7)
        axes.set_title(f"{dim} latents", fontsize=10, color=INK)
    grid[0, 0].set_ylabel("MCC", fontsize=9)
    _legend(figure, {"diverse": WITH, "dense": WITHOUT}, f"scale={scale}; small points: seeds")
    return figure


def mcc_against_alpha(rows: pd.DataFrame, targets: Sequence[Target], scale: str) -> Figure:
    """Draw table 6 as curves: MCC against the weight of the penalty, with the paper's numbers as crosses."""
    figure, grid = new_plots(7.5, 4.2)
    axes: Axes = grid[0, 0]
    for dim, aside in zip(DIMS, (-0.12, 0.0, 0.12), strict=True):
        found = {place + aside: mcc(rows, dim=dim, alpha=alpha) for place, alpha in enumerate(ALPHAS)}
        _points(axes, found, COLOURS[dim])
        printed = {target.keys["alpha"]: target.value for target in targets if target.keys["dim"] == dim}
        axes.plot(
            [place + aside for place, alpha in enumerate(ALPHAS) if alpha in printed],
            [value for alpha in ALPHAS if (value := printed.get(alpha)) is not None],
            color=COLOURS[dim], linestyle="", marker="x", markersize=5, alpha=0.8,
        )  # fmt: skip
    axes.set_xticks(range(len(ALPHAS)), [f"{alpha:g}" for alpha in ALPHAS])
    axes.set_xlabel(f"weight of the penalty, {WEIGHT}", fontsize=9)
    axes.set_ylabel("MCC", fontsize=9)
    names = {f"{dim} latents": colour for dim, colour in COLOURS.items()}
    _legend(figure, names, f"scale={scale}; small points: seeds; crosses: the paper's")
    return figure


def _points(axes: Axes, found: Mapping[float, pd.Series], colour: str) -> None:
    draw_summaries(axes, found, load_targets("ddl").aggregation, colour, markersize=4.5, linestyle="")


def _legend(figure: Figure, names: Mapping[str, str], title: str) -> None:
    from matplotlib.lines import Line2D

    handles = [Line2D([], [], color=colour, marker="o", markersize=5, linewidth=1.2) for colour in names.values()]
    spread = load_targets("ddl").aggregation.interval_words
    legend_below(figure, handles, list(names), f"bar: {spread}; {title}")


def run_figures(rows: pd.DataFrame, arrays: Mapping[str, np.ndarray], scale: str) -> dict[str, Figure]:
    """Draw the figures of one run by file name: ``structure`` and ``latents``, or ``traversals`` of images or a flow.

    There are none without its arrays.
    """
    if "traversals" in arrays:
        return {"traversals": traversals(arrays)}
    if "flow_images" in arrays:
        return {"traversals": draw_traversals({"": arrays})}
    if "mask" not in arrays:
        return {}
    seeds: list[Key] = list(dict.fromkeys(rows["seed"]))
    return {"structure": structures(arrays, seeds), "latents": latents(arrays)}


def structures(arrays: Mapping[str, np.ndarray], seeds: Sequence[Key]) -> Figure:
    """Draw the true mask and the decoder's mean absolute Jacobian of the first members, latents in their true order."""
    shown = min(len(arrays["mask"]), MEMBERS_SHOWN)
    figure, grid = new_figure(2.2 * shown + 1.0, 4.6, rows=2, columns=shown)
    for member in range(shown):
        order, learned = arrays["matched"][member], arrays["dependence"][member]
        found = np.where(order[None] < 0, 0.0, learned[:, np.maximum(order, 0)])
        for axes, values in zip(grid[:, member], (arrays["mask"][member], np.nan_to_num(found)), strict=True):
            axes.imshow(values, cmap="Greys", vmin=0, vmax=float(values.max()) or 1.0, aspect="auto")
            axes.set(xticks=range(values.shape[1]), yticks=range(values.shape[0]))
            axes.set_xticklabels([f"z{number + 1}" for number in range(values.shape[1])], fontsize=7)
            axes.set_yticklabels([f"x{number + 1}" for number in range(values.shape[0])], fontsize=7)
        grid[0, member].set_title(f"seed {seeds[member]}" if member < len(seeds) else "", fontsize=9, color=INK)
    grid[0, 0].set_ylabel("true", fontsize=9)
    grid[1, 0].set_ylabel("learned, E|J|", fontsize=9)
    return figure


def latents(arrays: Mapping[str, np.ndarray]) -> Figure:
    """Draw the first member's learned latents against the true ones, in the order of their matching."""
    order, truth = arrays["matched"][0], arrays["factors"][:POINTS_SHOWN]
    codes = arrays["codes"][:POINTS_SHOWN, np.maximum(order, 0)]
    number = truth.shape[1]
    figure, grid = new_figure(1.7 * number + 0.6, 1.7 * number + 0.4, rows=number, columns=number)
    for i, line in enumerate(grid):
        for j, axes in enumerate(line):
            axes.scatter(truth[:, i], codes[:, j], s=2, color=WITH if i == j else FAINT, alpha=0.3, linewidth=0)
            axes.set(xticks=[], yticks=[])
            if i == number - 1:
                axes.set_xlabel(f"learned {j + 1}", fontsize=8)
        line[0].set_ylabel(f"z{i + 1}", fontsize=8)
    return figure


def traversals(arrays: Mapping[str, np.ndarray]) -> Figure:
    """Draw what becomes of some images when one latent takes other values, a line per latent.

    On the left are the image and its reconstruction; latents that do not vary over images are marked as inactive. A
    generator has no reconstructions, and directions in place of latents.
    """
    drawn, values = arrays["traversals"], arrays["traversal_values"]
    shown, latents, columns, side = drawn.shape[:4]
    gap, decoded = side // 2, "reconstructions" in arrays
    figure, grid = new_figure(0.55 * shown * (columns + 1.5) + 0.6, 0.55 * latents + 0.6, columns=shown)
    left = side + gap
    places = [left + (column + 0.5) * side for column in range(columns)]
    for number, axes in enumerate(grid[0]):
        sheet = np.full((latents * side, left + columns * side, drawn.shape[-1]), 255, np.uint8)
        sheet[:, left:] = drawn[number].transpose(0, 2, 1, 3, 4).reshape(latents * side, columns * side, -1)
        sheet[:side, :side] = arrays["examples"][number]
        if decoded:
            sheet[side : 2 * side, :side] = arrays["reconstructions"][number]
        axes.imshow(sheet.squeeze(), cmap="gray", interpolation="nearest")
        active = arrays["active"] if decoded else np.ones(latents, bool)
        names = unit_names(arrays, active) if number == 0 else [""] * latents
        axes.set_yticks([(latent + 0.5) * side for latent in range(latents)], names)
        axes.set_xticks(
            [side / 2, *places], ["image,\ndecoded" if decoded else "image", *(f"{value:g}" for value in values)]
        )
        axes.tick_params(labelsize=7, length=0)
        axes.spines[:].set_visible(False)
    return figure


def unit_names(arrays: Mapping[str, np.ndarray], active: Iterable[bool]) -> list[str]:
    """Return the name of each latent: its number, the factors for which it stands if known, and if it is inactive."""
    stands_for: dict[int, list[str]] = {}
    if "chosen" in arrays:
        for latent, factor in zip(arrays["chosen"].tolist(), arrays["factor_names"].tolist(), strict=True):
            stands_for.setdefault(latent, []).append(label(factor))
    return [
        "\n".join([f"z{latent + 1}", *wrap(", ".join(stands_for.get(latent, [])), 16), *([] if of else ["inactive"])])
        for latent, of in enumerate(active)
    ]
