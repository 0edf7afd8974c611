"""Rows of Sparling's tables and figures: names of their entries, and derived values."""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd

from sparseid.measurements import Key
from sparseid.papers.rows import joined, key, keys_of, per_seed, select, values_of, with_keys
from sparseid.papers.targets import load_targets

DOMAINS = ("digitcircle", "latex_ocr", "audiomnist")
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
DIRECT_TESTS: tuple[dict[str, Key], ...] = (
    {"domain": "digitcircle"},
    {"domain": "latex_ocr"},
    {"domain": "latex_ocr", "split": "without_plus_parens"},
    {"domain": "audiomnist", "split": "train_speakers"},
    {"domain": "audiomnist", "split": "test_speakers"},
)
"""Rows of table 2."""


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


def reached_last_density(rows: pd.DataFrame) -> pd.DataFrame:
    """Return the rows of runs that reached the last density."""
    ratio = rows[rows["metric"] == "density_over_minimum"]
    at_end = select(ratio, {"steps_above": (0, None)})
    stopped = set(at_end.loc[at_end["value"].astype(float) * CUT >= 1, "run"])
    return rows[~rows["run"].isin(stopped)]


def ablations(rows: pd.DataFrame) -> pd.DataFrame:
    """Return the rows of the runs without batch norm or annealing, as printed.

    Without batch norm: a row per seed, of runs that reached the last density, and the best of them (seed: best). The
    ratio of each run's density to the lowest possible one is ours alone.
    """
    reached = reached_last_density(rows)
    at_end = select(rows[(rows["metric"] == "e2ee") & rows["value"].notna()], {"steps_above": (0, None)})
    ratio = select(rows[rows["metric"] == "density_over_minimum"], {"steps_above": (0, None)})
    without_batch_norm = select(ratio, {"method": ("no_bn_mt", "no_bn_st")})
    parts = [select(at_end, {"method": ("no_annealing",)}), without_batch_norm]
    for method in ("no_bn_mt", "no_bn_st"):
        per_run = select(at_end[at_end["run"].isin(reached["run"])], {"method": (method,)})
        per_run = per_run.assign(key_seed=per_run["seed"].astype(object))
        best = per_run.sort_values("value", kind="stable").head(1)
        parts += [per_run, best.assign(key_seed="best")]
    return joined(*parts)


def by_run(rows: pd.DataFrame) -> pd.DataFrame:
    """Return figure 10's rows, a point per seed: ``run`` is the seed's number."""
    return rows.assign(key_run=rows["seed"].astype(object))


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
        of_kind = rows[(rows["metric"] == "diagonal_share") & ~rows["run"].isin(listed["run"])]
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
