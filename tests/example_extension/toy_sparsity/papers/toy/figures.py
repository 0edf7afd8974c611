"""Figure 1, drawn from rows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from sparseid.papers.drawing import legend_below, new_figure, tidy
from sparseid.papers.rows import per_seed
from toy_sparsity.papers.toy.claims import PENALTIES

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

    from sparseid.papers.targets import Target


def f1_against_penalty(rows: pd.DataFrame, targets: Sequence[Target], scale: str) -> Figure:
    """Draw the mean over seeds against the penalty, and the paper's numbers hollow."""
    figure, grid = new_figure(4.5, 3.5)
    axes = grid[0, 0]
    tidy(axes)
    means = [per_seed(rows, "support_f1", penalty=penalty).mean() for penalty in PENALTIES]
    (ours,) = axes.plot(PENALTIES, means, "o-")
    printed = {target.keys["penalty"]: target.value for target in targets if target.metric == "support_f1"}
    (paper,) = axes.plot(list(printed), list(printed.values()), "o", color=ours.get_color(), markerfacecolor="white")
    axes.set_xlabel("penalty", fontsize=9)
    axes.set_ylabel("F1 of the support", fontsize=9)
    legend_below(figure, [ours, paper], ["ours", "paper"], title=f"scale={scale}")
    return figure
