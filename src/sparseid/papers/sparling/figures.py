"""Sparling's figures, drawn from result rows; figure 8 also needs saved arrays, figure 6 shows a single run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Sized
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from sparseid.methods.sparling.metrics import METRICS
from sparseid.papers.artefact import Arrays
from sparseid.papers.drawing import (
    AMBER,
    BLUE,
    FAINT,
    INK,
    METRIC_COLOURS,
    ORANGE,
    TEAL,
    draw_band,
    hollow_points,
    legend_below,
    legend_dot,
    legend_line,
    new_figure,
    new_plots,
    paper_label,
)
from sparseid.papers.labels import label
from sparseid.papers.rows import per_seed, select, values_of, without_baselines
from sparseid.papers.sparling.bars import Bar, bar_legend, draw_bars, target_of
from sparseid.papers.sparling.rows import (
    BINS,
    CUT,
    DENSITIES_BINNED,
    DOMAINS,
    END_TO_END,
    MEASURED_DOMAINS,
    THRESHOLDS,
    domain_rows,
    end_to_end,
    perturbation,
    reached,
    splicing_values,
    values,
)
from sparseid.papers.sparling.run_pictures import MotifLegend, draw_confusion, run_pictures
from sparseid.papers.targets import Target, load_targets

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MEANINGS = {metric.name: metric.meaning for metric in METRICS}
COLOURS = {
    "sparling_mt": METRIC_COLOURS["e2ee"],
    "sparling_st": AMBER,
    "non_sparse": FAINT,
    "retrained": TEAL,
}
BIN_COLOURS = dict(zip(BINS, (ORANGE, AMBER, TEAL, BLUE), strict=True))


def motif_error_bars(rows: pd.DataFrame, targets: Sequence[Target], scale: str) -> Figure:
    """Draw figure 3: FPE, FNE and CE of each domain, ours as bars with a dot per seed, the paper's hollow."""
    figure, grid = new_plots(9.5, 3.4, columns=len(DOMAINS), sharey=True)
    for axes, domain in zip(grid[0], DOMAINS, strict=True):
        of_domain = domain_rows(rows, domain)
        bars = []
        for metric in ("fpe", "fne", "ce"):
            ours, target = per_seed(of_domain, metric, steps_above=0), target_of(targets, metric, domain=domain)
            bars.append(Bar(label(metric), ours, target, METRIC_COLOURS[metric]))
        draw_bars(axes, bars)
        axes.set_title(label(domain) + _missing(of_domain) + reached(of_domain), fontsize=10, color=INK)
    grid[0, 0].set_ylabel("error, % (mean over seeds)", fontsize=9)
    grid[0, 0].set_ylim(0, 1.06 * max(axes.get_ylim()[1] for axes in grid[0]))
    bar_legend(figure, scale)
    return figure


def _missing(ours: Sized) -> str:
    return "" if len(ours) else " (ours: missing)"


def errors_against_density(rows: pd.DataFrame, targets: Sequence[Target], scale: str) -> Figure:
    """Draw figure 4: each error against the density, a thin line per seed, the mean with its bootstrap band.

    The horizontal axis shows multiples of the last density, so that scales with other densities fit into one figure;
    the paper's points are hollow. Domains without rows are skipped, unless all are.
    """
    metrics = ("fpe", "fne", "ce", "e2ee")
    found = map(str, values_of(rows, "domain"))
    every = (*MEASURED_DOMAINS, *(domain for domain in found if domain not in MEASURED_DOMAINS))  # one's own data
    measured = [domain for domain in every if len(domain_rows(rows, domain))]
    domains = measured or list(DOMAINS)
    figure, grid = new_plots(11.5, 0.6 + 2.5 * len(domains), rows=len(domains), columns=len(metrics))
    for line, domain in zip(grid, domains, strict=True):
        of_domain = domain_rows(rows, domain)
        multiples, last = _density_multiples(of_domain)
        for axes, metric in zip(line, metrics, strict=True):
            _curve(axes, of_domain, metric, multiples)
            _paper_points(axes, domain, metric, targets)
            axes.set_xscale("log", base=2)
            axes.invert_xaxis()
            axes.xaxis.set_major_formatter(lambda value, _: f"{value:g}\N{MULTIPLICATION SIGN}")
            axes.set_ylim(bottom=0)
            axes.set_title(f"{label(metric)}, {MEANINGS[metric]}", fontsize=9, color=INK)
        where = (f"\n(last: {last:.2g} %)" if last else "\n(ours: missing)") + reached(of_domain)
        line[0].set_ylabel(f"{label(domain)}{where}\nerror, %", fontsize=9)
    figure.supxlabel("density, multiples of the last one (falls to the right)", fontsize=9)
    names = {f"one seed, scale={scale}": legend_line(INK, 2.2)}
    if rows["seed"].nunique() > 1:
        spread = load_targets("sparling").aggregation.interval_words
        names = {f"seeds, scale={scale}": legend_line(FAINT, 0.8), f"their mean with {spread}": legend_line(INK, 2.2)}
    names[paper_label(scale)] = legend_dot(INK, 4.5, hollow=True)
    figure.legend(names.values(), names, loc="outside upper center", ncols=3, fontsize=8.5, frameon=False)
    return figure


def _density_multiples(rows: pd.DataFrame) -> tuple[dict[int, float], float | None]:
    """Return density / last density of each ``steps_above``, and the last density in percent if known.

    Densities are the targets of training, else those of the test set, else follow from the published cut factor.
    """
    rows = rows[rows["value"].notna()]
    steps = [int(step) for step in values_of(rows[rows["metric"] == "e2ee"], "steps_above")]
    for metric in ("target_density", "density"):
        densities = {step: float(per_seed(rows, metric, steps_above=step).mean()) for step in steps}
        if densities and all(density > 0 for density in densities.values()):
            last = densities[steps[0]] * CUT ** steps[0]  # no run may have got there
            return {step: density / last for step, density in densities.items()}, last
    return {step: CUT**-step for step in steps}, None


def _curve(axes: Axes, rows: pd.DataFrame, metric: str, multiples: Mapping[int, float]) -> None:
    colour = METRIC_COLOURS[metric]
    table = pd.DataFrame({at: found for at in multiples if len(found := per_seed(rows, metric, steps_above=at))})
    if table.empty:
        return
    x = [multiples[int(step)] for step in table.columns]
    axes.plot(x, table.to_numpy().T, color=colour, linewidth=0.8, alpha=0.45)
    aggregation = load_targets("sparling").aggregation
    draw_band(axes, x, [aggregation.summarise(table[step].dropna()) for step in table.columns], colour, 2.2)


def _paper_points(axes: Axes, domain: str, metric: str, targets: Sequence[Target]) -> None:
    """Draw the paper's points, upper bounds as triangles."""
    points: dict[str, list[tuple[float, float]]] = {}
    for target in targets:
        if (target.metric, target.keys.get("domain")) == (metric, domain) and target.value is not None:
            marker = "v" if target.op.startswith("<") else "o"
            points.setdefault(marker, []).append((CUT ** -int(target.keys["steps_above"]), target.value))
    for marker, places in points.items():
        hollow_points(axes, places, s=22, marker=marker)


def end_to_end_bars(rows: pd.DataFrame, targets: Sequence[Target], scale: str) -> Figure:
    """Draw figure 5: end-to-end error of Sparling, Non-Sparse and Retrained in each domain."""
    shown = end_to_end(rows)
    figure, grid = new_plots(9.5, 3.4, columns=len(DOMAINS))
    for axes, domain in zip(grid[0], DOMAINS, strict=True):
        bars = []
        for method in END_TO_END:
            name = "Sparling" if method == "sparling_mt" else label(method)
            ours = values(shown, "e2ee", domain=domain, method=method)
            bars.append(Bar(name, ours, target_of(targets, "e2ee", domain=domain, method=method), COLOURS[method]))
        draw_bars(axes, bars)
        title = label(domain) + _missing([bar for bar in bars if len(bar.ours)])
        axes.set_title(title + reached(domain_rows(rows, domain)), fontsize=10, color=INK)
        axes.set_ylim(0, 1.06 * axes.get_ylim()[1])
    grid[0, 0].set_ylabel("end-to-end error, %", fontsize=9)
    bar_legend(figure, scale)
    return figure


def threshold_bars(rows: pd.DataFrame, targets: Sequence[Target], scale: str) -> Figure:
    """Draw figure 11: the errors on DigitCircle with a threshold per channel and with one, each on its own axis."""
    metrics = ("fpe", "fne", "ce", "e2ee")
    figure, grid = new_plots(9.5, 3.2, columns=len(metrics))
    for axes, metric in zip(grid[0], metrics, strict=True):
        bars = []
        for name, method in zip(("MT", "ST"), THRESHOLDS, strict=True):
            name += reached(rows, method)
            ours = values(rows, metric, domain="digitcircle", method=method)
            bars.append(Bar(name, ours, target_of(targets, metric, method=method), COLOURS[method]))
        draw_bars(axes, bars)
        axes.set_title(f"{label(metric)}, {MEANINGS[metric]}", fontsize=9, color=INK)
        axes.set_ylim(0, 1.06 * axes.get_ylim()[1])
    grid[0, 0].set_ylabel(f"error, %{_missing(rows)}", fontsize=9)
    bar_legend(figure, scale)
    return figure


def splicing_bars(rows: pd.DataFrame, targets: Sequence[Target], scale: str) -> Figure:
    """Draw figure 12: errors on splicing, beside those of random maps (motif errors) or of random predictions."""
    metrics = ("fne", "fpe", "ce", "e2ee")
    figure, grid = new_plots(10.5, 3.2, columns=len(metrics))
    for axes, metric in zip(grid[0], metrics, strict=True):
        bars = []
        for method in ("sparling_mt", "random" if metric == "e2ee" else "matched_random"):
            ours = splicing_values(rows, metric, method)
            printed = [of for of in targets if of.metric == metric and of.keys["method"] == method]
            mean = replace(printed[0], value=float(np.mean([of.value for of in printed]))) if printed else None
            bars.append(Bar(label(method).replace(" ", "\n", 1), ours, mean, METRIC_COLOURS[metric]))
        draw_bars(axes, bars)
        axes.set_title(f"{label(metric)}, {MEANINGS[metric]}", fontsize=9, color=INK)
        axes.set_ylim(0, 112)
    grid[0, 0].set_ylabel(f"error, %{_missing(rows)}", fontsize=9)
    bar_legend(figure, scale)
    return figure


def perturbation_bars(rows: pd.DataFrame, targets: Sequence[Target], scale: str) -> Figure:
    """Draw the accuracy in figure 6: how often the decoder follows an exchanged motif, per domain."""
    figure, grid = new_plots(6.5, 3.2)
    axes = grid[0, 0]
    bars = []
    for domain in DOMAINS:
        ours = perturbation(rows, domain)
        name = label(domain) + (reached(domain_rows(rows, domain)) if len(ours) else "\n(ours: missing)")
        bars.append(Bar(name, ours, target_of(targets, "perturbation_accuracy", domain=domain), COLOURS["sparling_mt"]))
    draw_bars(axes, bars)
    axes.set_ylim(0, 109)
    axes.set_ylabel("exchanges decoded as expected, %", fontsize=9)
    bar_legend(figure, scale)
    return figure


def confusion_by_domain(rows: pd.DataFrame, arrays: Arrays, scale: str) -> Figure | None:
    """Draw figure 8: the channels that fire on each class of motifs, for the lowest seed of each domain.

    Returns
    -------
    Figure or None
        None if no confusion matrix is available.
    """
    shown: list[tuple[str, int, Mapping[str, np.ndarray]]] = []
    for domain in DOMAINS:
        of_domain = select(rows[rows["value"].notna()], {"domain": (domain,)}).sort_values("seed", kind="stable")
        for run, seed in dict.fromkeys(zip(of_domain["run"], of_domain["seed"], strict=True)):
            if "confusion" in (saved := arrays(str(run))):
                shown.append((domain, int(seed), saved))
                break
    if not shown:
        return None
    sizes = [len(saved["confusion"]) for _, _, saved in shown]
    widths = [max(4.8, 1.6 + 0.48 * size) for size in sizes]
    figure, grid = new_figure(sum(widths), max(3.2, 1.4 + 0.42 * max(sizes)), columns=len(shown), width_ratios=widths)
    for axes, (domain, seed, saved) in zip(grid[0], shown, strict=True):
        draw_confusion(axes, saved["confusion"], MotifLegend.of(saved).kind_names)
        axes.set_title(f"{label(domain)}, seed {seed}, scale={scale}, % of each row", fontsize=10, color=INK)
    return figure


def binning_against_density(rows: pd.DataFrame, targets: Sequence[Target], scale: str) -> Figure:
    """Draw figure 9: accuracy lost by binning activations against the density, for MT and ST."""
    aggregation = load_targets("sparling").aggregation
    figure, grid = new_plots(9.5, 3.8, columns=len(THRESHOLDS), sharey=True)
    for axes, method in zip(grid[0], THRESHOLDS, strict=True):
        axes.axhline(0, color=FAINT, linewidth=0.8)
        drawn = [_binning_curve(axes, rows, method, bins) for bins in BINS]
        for target in targets:
            if target.metric == "binning_delta" and target.keys["method"] == method and target.value is not None:
                x, colour = CUT ** -int(target.keys["steps_above"]), BIN_COLOURS[int(target.keys["bins"])]
                marker = "^" if target.op.startswith(">") else "o"  # beyond the edge of the paper's picture
                hollow_points(axes, [(x, target.value)], colour, s=22, marker=marker)
        axes.set_xscale("log", base=2)
        axes.invert_xaxis()
        ticks = [CUT**-steps for steps in DENSITIES_BINNED]
        axes.set_xticks(ticks, [f"{tick:.2g}\N{MULTIPLICATION SIGN}" for tick in ticks])
        axes.minorticks_off()
        title = label(method) + _missing([one for one in drawn if one]) + reached(rows, method)
        axes.set_title(title, fontsize=10, color=INK)
        axes.set_xlabel("density, multiples of the last one (falls to the right)", fontsize=9)
    grid[0, 0].set_ylabel("accuracy lost, points", fontsize=9)
    handles = [*(legend_line(BIN_COLOURS[bins], 2) for bins in BINS), legend_dot(INK, 4.5, hollow=True)]
    names = [*(f"{bins} bins" for bins in BINS), paper_label(scale)]
    legend_below(figure, handles, names, f"scale={scale}; bands: {aggregation.interval_words} over seeds")
    return figure


def _binning_curve(axes: Axes, rows: pd.DataFrame, method: str, bins: int) -> bool:
    """Draw our curve of one number of bins, if any; return whether there is one."""
    aggregation = load_targets("sparling").aggregation
    measured = {
        steps: values(rows, "binning_delta", domain="digitcircle", method=method, bins=bins, steps_above=steps)
        for steps in DENSITIES_BINNED
    }
    summaries = {CUT**-steps: aggregation.summarise(seeds) for steps, seeds in measured.items() if len(seeds)}
    if not summaries:
        return False
    draw_band(axes, list(summaries), list(summaries.values()), BIN_COLOURS[bins])
    return True


def errors_by_seed(rows: pd.DataFrame, targets: Sequence[Target], scale: str) -> Figure:
    """Draw figure 10: end-to-end error against each motif error, a point per seed, both axes logarithmic.

    A seed without an error is a triangle at the left edge. The paper's points are hollow.
    """
    from matplotlib.ticker import LogLocator

    metrics = ("fpe", "fne", "ce")
    printed = load_targets("sparling").of("sparling/fig10")
    axis_metrics = (*metrics, "e2ee")
    paper = pd.DataFrame({of: {t.keys["run"]: t.value for t in printed if t.metric == of} for of in axis_metrics})
    ours = pd.DataFrame({of: values(rows, of, domain="digitcircle", method="sparling_mt") for of in axis_metrics})
    figure, grid = new_plots(9.5, 3.4, columns=len(metrics), sharey=True)
    for axes, metric in zip(grid[0], metrics, strict=True):
        axes.set(xscale="log", yscale="log")
        axes.scatter(paper[metric], paper["e2ee"], s=26, facecolor="white", edgecolor=INK, zorder=3)
        both = ours[[metric, "e2ee"]].dropna()
        positive, zero = both[both[metric] > 0], both[both[metric] <= 0]
        axes.scatter(positive[metric], positive["e2ee"], s=24, color=METRIC_COLOURS[metric], zorder=4)
        if len(zero):
            left = np.full(len(zero), axes.get_xlim()[0])
            axes.scatter(left, zero["e2ee"], s=30, marker="<", color=METRIC_COLOURS[metric], zorder=4, clip_on=False)
            axes.set_xlim(left=left[0])
        axes.set_xlabel(f"{label(metric)}, {MEANINGS[metric]}, %", fontsize=9)
        for axis in (axes.xaxis, axes.yaxis):
            axis.set_major_locator(LogLocator(subs=(1, 2, 5) if axis is axes.yaxis or metric == "fne" else (1,)))
            axis.set_major_formatter(lambda value, _: f"{value:g}")
            axis.set_minor_formatter(lambda value, _: "")
    grid[0, 0].set_ylabel(f"E2EE, end-to-end error, %{_missing(ours)}{reached(rows)}", fontsize=9)
    handles = [legend_dot(FAINT), legend_dot(INK, 4.5, hollow=True)]
    legend_below(figure, handles, [f"a seed, scale={scale} (triangle: no such error)", f"{paper_label(scale)}: a run"])
    return figure


def run_figures(rows: pd.DataFrame, arrays: Mapping[str, np.ndarray], scale: str) -> dict[str, Figure]:
    """Draw the figures of one run by file name: motifs, confusion, training, exchanges, density."""
    drawn, rows = run_pictures(arrays), without_baselines(rows)
    if len(values_of(rows, "steps_above")) > 1:
        drawn["density"] = errors_against_density(rows, load_targets("sparling").of("sparling/fig4"), scale)
    return drawn
