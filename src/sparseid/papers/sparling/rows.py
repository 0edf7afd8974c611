"""Rows of Sparling's tables and figures: names of their entries, and derived values."""

from __future__ import annotations

import math
from collections.abc import Mapping

import pandas as pd

from sparseid.measurements import Key
from sparseid.papers.rows import joined, key, key_columns, keys_of, per_seed, select, values_of, with_keys
from sparseid.papers.targets import load_targets

DOMAINS = ("digitcircle", "latex_ocr", "audiomnist")
MEASURED_DOMAINS = (*DOMAINS, "splicing")
"""All domains; splicing has no motif labels, and is in figure 12 only."""
SPLICING = ("sparling_mt", "matched_random", "random")
"""Methods of figure 12: ours, its motif map with activations at random places, and random predictions."""
SPLICING_FINAL: dict[str, tuple[Key | None, ...]] = {"steps_above": (0, None), "site": (None,)}
"""Keys of rows at the final density (the paper's random maps have none) that are of both kinds of sites together."""
ALL_RUNS = "1-4"
"""Key ``run`` of the values that the paper's figure 12 has of all its runs together."""
REPORTED_SPLIT: dict[str, dict[str, tuple[Key]]] = {"audiomnist": {"split": ("test_speakers",)}}
"""Split of the reported audio numbers: unseen speakers."""
DENSITIES = range(11)
"""Cuts above the final density that figure 4 shows."""
END_TO_END = ("sparling_mt", "non_sparse", "retrained")
"""Methods of figure 5."""
THRESHOLDS = ("sparling_mt", "sparling_st")
"""Methods of figures 9 and 11: a threshold per channel, or a single one."""
L1_WEIGHTS = (0.1, 1.0, 2.0, 5.0, 10.0)
KL_WEIGHTS = (0.01, 0.1, 1.0, 10.0, 100.0, 1000.0, 10000.0, 100000.0)
STARTS = ("final", "penultimate")
"""Starting densities of runs without annealing."""
BINS = (2, 4, 8, 16)
DENSITIES_BINNED = range(5)
"""Cuts above the final density that figure 9 shows."""
CUT = 0.75
"""The published factor of one density cut (section 4), at every scale."""
ANNEALED = (*THRESHOLDS, "no_bn_mt", "no_bn_st")
"""Methods whose density is cut down to the last one."""
RETRAINED_ABOVE = {"latex_ocr": 4}
"""Cuts above the last density at which Retrained starts, of domains where it does not start at the last one."""
_RATIO = "density_over_minimum"
_ROUNDING = 1e-4
"""Fraction of a cut by which a recorded density may be rounded."""
DIRECT_TESTS: tuple[dict[str, Key], ...] = (
    {"domain": "digitcircle"},
    {"domain": "latex_ocr"},
    {"domain": "latex_ocr", "split": "without_plus_parens"},
    {"domain": "audiomnist", "split": "train_speakers"},
    {"domain": "audiomnist", "split": "test_speakers"},
)
"""Rows of table 2."""


def at_their_densities(rows: pd.DataFrame) -> pd.DataFrame:
    """Return the rows of runs with ``steps_above`` counted from the last density of their schedule.

    A run counts the cuts before its own lowest density. If it stopped before the last one, because another cut would
    not have fallen below the minimum, that density is not final: its rows move up by the missing cuts, as in the
    authors' code, which looks checkpoints up by their density. At the densities that it has not reached its metrics are
    undefined (NaN), also those that only other runs of its recipe have, because their code measures more: tables count
    it among the runs without a value, and figures and claims leave it out. So are those of Retrained if the run that it
    starts from did not reach the density where it should start. Runs without annealing (one row per run, whatever its
    density) stay as they are.
    """
    ratios = rows[rows["metric"] == _RATIO]
    ratios = select(ratios, {"method": ANNEALED})
    missing = {str(run): count for run, of_run in ratios.groupby("run") if (count := _missing_cuts(of_run))}
    if not missing:
        return rows
    cuts = rows["run"].map(missing).fillna(0).astype(int)
    steps = key(rows, "steps_above")
    moves = (cuts > 0) & steps.notna()
    lowest = _with_those_of_others(rows[steps == 0], set(missing))
    cuts_of = lowest["run"].map(missing)
    renumbered = [int(step + cut) if move else step for step, cut, move in zip(steps, cuts, moves, strict=True)]
    result = rows.assign(key_steps_above=pd.Series(renumbered, index=rows.index, dtype=object))
    absent = []
    for step in range(max(missing.values())):
        here = lowest[cuts_of > step]
        told = here["metric"] == _RATIO  # how far the run came
        absent.append(here.assign(value=here["value"].where(told & (step == 0))))
        absent[-1]["key_steps_above"] = pd.Series([step] * len(here), index=here.index, dtype=object)
    stopped = result["run"].isin(missing) & (key(result, "method") == "sparling_mt")
    origins = _origins(result[stopped].drop_duplicates("run"))
    late = {of for run, of in origins.items() if missing[run] > RETRAINED_ABOVE.get(str(of[1]), 0)}
    retrained = _origins(select(result, {"method": ("retrained",)}).drop_duplicates("run"))
    of_late = [run for run, origin in retrained.items() if origin in late]
    result["value"] = result["value"].where(~result["run"].isin(of_late))
    return joined(result, *absent)


def _with_those_of_others(rows: pd.DataFrame, runs: set[str]) -> pd.DataFrame:
    """Return the rows of some runs, and one without a value for each that only another run of their recipe has."""
    own = rows[rows["run"].isin(runs)]
    of_entry = ["recipe", "metric", *key_columns(rows)]
    others = rows[rows["recipe"].isin(own["recipe"])].drop_duplicates(of_entry)
    of_run = own.drop_duplicates("run").drop(columns=[*of_entry[1:], "value", "unit", "n"])
    all_of_them = of_run.merge(others[[*of_entry, "unit"]], on="recipe").assign(value=math.nan, n=0)
    return joined(own, all_of_them).drop_duplicates(["run", *of_entry], ignore_index=True)


def _origins(rows: pd.DataFrame) -> dict[str, tuple[Key | None, ...]]:
    """Return by run what a run of Retrained and the one that it starts from have in common, seed and domain first."""
    names = ("domain", "source", "post_noise", "rarest")
    runs = zip(rows["run"], rows["seed"], keys_of(rows, names), strict=True)
    return {str(run): (int(seed), *map(keys.get, names)) for run, seed, keys in runs}


def _missing_cuts(ratios: pd.DataFrame) -> int:
    """Return how many cuts a run lacked at its lowest density, from its rows of density / lowest possible density."""
    steps = pd.to_numeric(key(ratios, "steps_above")).fillna(0).astype(int)
    by_step = dict(zip(steps, ratios["value"].astype(float), strict=True))
    first, last = max(by_step), min(by_step)
    cut = (by_step[last] / by_step[first]) ** (1 / (first - last)) if first > last else CUT
    return max(math.floor(math.log(by_step[last], 1 / cut) + _ROUNDING), 0)


def domain_rows(rows: pd.DataFrame, domain: str) -> pd.DataFrame:
    """Return the rows of Sparling (one threshold per channel) on one domain, of the reported split."""
    return select(rows, reported(domain))


def reported(domain: str) -> dict[str, tuple[Key]]:
    """Return the keys of Sparling's rows on one domain, of the reported split."""
    return {"domain": (domain,), "method": ("sparling_mt",), **REPORTED_SPLIT.get(domain, {})}


def values(rows: pd.DataFrame, metric: str, **keys: Key | None) -> pd.Series:
    """Return a metric by seed, at the final density unless `steps_above` says otherwise.

    Parameters
    ----------
    rows
        A rows DataFrame; the newest row of each entry and seed only.
    metric
        Name of the metric.
    **keys
        Keys of the entry; None for a key that it must not have. By default, `split` is the reported one if rows have
        splits.
    """
    split: dict[str, tuple[Key | None, ...]] = {}
    if "split" not in keys:
        split = {name: (*of, None) for name, of in REPORTED_SPLIT.get(str(keys.get("domain")), {}).items()}
    wanted: dict[str, tuple[Key | None, ...]] = {"steps_above": (0, None), **{name: (of,) for name, of in keys.items()}}
    return per_seed(rows, metric, wanted | split)


def reached(rows: pd.DataFrame, method: str = "sparling_mt") -> str:
    """Return how many seeds of a method reached the last density, as a line below a title; empty if all did."""
    final = select(rows[rows["metric"] == "e2ee"], {"method": (method,), "steps_above": (0,)})
    seeds, there = final["seed"].nunique(), final.loc[final["value"].notna(), "seed"].nunique()
    return "" if there == seeds else f"\n(last density: {there} of {seeds} seeds)"


def perturbation(rows: pd.DataFrame, domain: str) -> pd.Series:
    """Return the fraction of exchanged motifs that the decoder follows, by seed."""
    return per_seed(rows, "perturbation_accuracy", domain=domain, method="sparling_mt", steps_above=0)


def end_to_end(rows: pd.DataFrame) -> pd.DataFrame:
    """Return figure 5's rows: those at the final density, and Non-Sparse of the domains without such runs.

    On LaTeX-OCR and audio Non-Sparse is, as published, the main run at the end of its first density.
    """
    rows = rows[rows["metric"] == "e2ee"]
    final = select(rows, {"steps_above": (0, None)})
    own = values_of(select(final, {"method": ("non_sparse",)}), "domain")
    without = [name for name in DOMAINS[1:] if name not in own]
    annealed = select(rows, {"domain": without, "method": ("sparling_mt",)})
    steps = key(annealed, "steps_above").astype(float).fillna(0)
    named = annealed[(steps > 0) & (steps == steps.groupby(annealed["run"]).transform("max"))]
    named = named.assign(key_method="non_sparse", key_steps_above=0)
    return joined(final, named)


def as_printed(rows: pd.DataFrame) -> pd.DataFrame:
    """Return the rows with the keys of the paper: exchanged motifs without speakers, figure 8 without method."""
    dropped = {"perturbation_accuracy": "split", "none_share": "method"}
    pairs = zip(rows["metric"], keys_of(rows), strict=True)
    return with_keys(rows, [{of: is_ for of, is_ in keys.items() if of != dropped.get(name)} for name, keys in pairs])


def of_domain(rows: pd.DataFrame) -> pd.DataFrame:
    """Return the rows of the sweep over one domain at the last density, with end-to-end errors as in figure 5."""
    others = select(rows[rows["metric"] != "e2ee"], {"steps_above": (0, None)})
    return joined(as_printed(others), end_to_end(rows))


def ablations(rows: pd.DataFrame) -> pd.DataFrame:
    """Return the rows of the runs without batch norm or annealing, as printed.

    Without batch norm: a row per seed, of runs that reached the last density, and the best of them (seed: best). The
    ratio of each run's density to the lowest possible one is ours alone.
    """
    at_end = select(rows[(rows["metric"] == "e2ee") & rows["value"].notna()], {"steps_above": (0, None)})
    ratio = select(rows[rows["metric"] == "density_over_minimum"], {"steps_above": (0, None)})
    without_batch_norm = select(ratio, {"method": ("no_bn_mt", "no_bn_st")})
    parts = [select(at_end, {"method": ("no_annealing",)}), without_batch_norm]
    for method in ("no_bn_mt", "no_bn_st"):
        per_run = select(at_end, {"method": (method,)})
        per_run = per_run.assign(key_seed=per_run["seed"].astype(object))
        best = per_run.sort_values("value", kind="stable").head(1)
        parts += [per_run, best.assign(key_seed="best")]
    return joined(*parts)


def by_run(rows: pd.DataFrame) -> pd.DataFrame:
    """Return figure 10's rows, a point per seed: ``run`` is the seed's number."""
    return rows.assign(key_run=rows["seed"].astype(object))


def splicing_values(rows: pd.DataFrame, metric: str, method: str = "sparling_mt") -> pd.Series:
    """Return a metric on splicing at the final density by seed; of random maps the mean over their repetitions.

    That of random predictions is by repetition, see :func:`random_once`.
    """
    return per_seed(random_once(rows), metric, {"method": (method,), **SPLICING_FINAL})


def random_once(rows: pd.DataFrame) -> pd.DataFrame:
    """Return the rows with each repetition of the random predictions once, its number in place of the seed.

    They depend on the test items only, so all runs have the same ones: an interval over runs would have no width. The
    paper has ten seeds of them.
    """
    random = (key(rows, "method") == "random") & key(rows, "repetition").notna()
    repetition = key(rows, "repetition")[random]
    return joined(rows[~random], rows[random].assign(seed=repetition)[~repetition.duplicated()])


def splicing(rows: pd.DataFrame) -> pd.DataFrame:
    """Return figure 12's rows: the end-to-end error by run (the seed's number), motif errors of all runs together.

    Repetitions of the random maps of a seed are averaged.
    """
    rows = random_once(rows)
    ours = key(rows, "method") == "sparling_mt"
    run = rows["seed"].astype(object).where(rows["metric"] == "e2ee", ALL_RUNS).where(ours)
    return rows.assign(key_run=run).drop(columns="key_repetition", errors="ignore")


def kinds(rows: pd.DataFrame) -> pd.DataFrame:
    """Return figure 8's rows; of the pairs of confused classes only the printed ones.

    A run omits pairs that it hardly confuses (``methods.sparling.evaluation``): printed ones then count as 0.
    """
    others = rows["metric"] == "other_channel_share"
    printed = [
        target.keys for target in load_targets("sparling").of("sparling/fig8") if target.metric == "other_channel_share"
    ]
    parts = [rows[~others]]
    for pair in printed:
        listed = select(rows[others], {name: (value,) for name, value in pair.items()})
        measured = (rows["metric"] == "diagonal_share") & rows["value"].notna()
        of_kind = rows[measured & ~rows["run"].isin(listed["run"])]
        never = select(of_kind, {"domain": (pair["domain"],), "symbol": (pair["symbol"],)})
        parts += [listed, never.assign(metric="other_channel_share", value=0.0, key_to=pair["to"])]
    return joined(*parts)


def direct_errors(rows: pd.DataFrame) -> pd.DataFrame:
    """Return table 2's rows and ``error_ratio``: the mean of DIRECT over that of Sparling."""
    rows = rows[rows["metric"] == "direct_error"]
    ratios = []
    for test in DIRECT_TESTS:
        direct, sparling = (_of_test(rows, method, test) for method in ("direct", "sparling_mt"))
        if len(direct) and len(sparling) and sparling["value"].mean() > 0:
            ratio = float(direct["value"].mean() / sparling["value"].mean())
            newest = direct.tail(1).assign(metric="error_ratio", value=ratio, unit="ratio", seed=-1)
            ratios.append(with_keys(newest, [test]))
    return joined(rows, *ratios)


def _of_test(rows: pd.DataFrame, method: str, test: Mapping[str, Key]) -> pd.DataFrame:
    """Return the measured rows of a method in one row of table 2."""
    exactly = {"domain": (test["domain"],), "split": (test.get("split"),), "method": (method,)}
    chosen = select(rows, exactly)
    return chosen[chosen["value"].notna()]
