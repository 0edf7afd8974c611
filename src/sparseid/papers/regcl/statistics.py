"""RegCL's tables 3 to 5: the analysis of variance and Tukey's tests over the runs of table 1, and their claims."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import pandas as pd

from sparseid.metrics.anova import Anova, anova, tukey_hsd
from sparseid.papers.claims import Finding, claim, not_measured
from sparseid.papers.rows import key, keys_of, newest_row, with_keys
from sparseid.papers.targets import load_targets

FACTORS = {"A": "attribution", "D": "dim", "M": "training", "E": "regularisation"}
"""Letters of the terms of table 3 -> row keys."""
SIGNIFICANT_TERMS = ("A", "D", "M", "E", "A:M", "A:E", "D:E", "M:E")
OTHER_TERMS = ("A:D", "D:M", "A:D:M", "A:D:E", "A:M:E", "D:M:E", "A:D:M:E")
LEVEL = 0.05
"""Level of the tests, as in the tables."""
VALUES_IN_PAPER = 2118
"""Number of values that the degrees of freedom of table 3 imply."""
FEWEST_VALUES = 3
"""Minimum for any degrees of freedom in a test."""


def anova_rows(rows: pd.DataFrame) -> pd.DataFrame:
    """Return the rows of table 3, computed from those of table 1.

    Type 2 analysis of variance of the AUC over attribution method, number of latents, training and regularisation with
    all interactions. Keys: ``term`` and ``statistic``, the metric's name.
    """
    frame = _frame(rows)
    factors = [letter for letter in FACTORS if frame[letter].nunique() > 1]
    if len(frame) < FEWEST_VALUES or not factors:
        return rows.iloc[:0]
    found = _anova(tuple(frame.itertuples(index=False, name=None)), tuple(frame), tuple(factors))
    table = found.table
    values: list[tuple[dict[str, Any], str, float]] = [
        ({"term": term, "statistic": name}, name, float(table.loc[term, name]))
        for term in table.index
        for name in ("sum_sq", "df", "F", "p")
        if pd.notna(table.loc[term, name])  # residuals have neither F nor p
    ]
    overall = {"F": found.F, "p": found.p}
    values += [({"term": "overall", "statistic": name}, name, value) for name, value in overall.items()]
    return _rows_like(rows, values, len(frame))


def tukey_rows(rows: pd.DataFrame, factors: Sequence[str], artefact: str) -> pd.DataFrame:
    """Return the rows of a table of Tukey's tests, computed from those of table 1.

    Groups are the combinations of two factors, ``jf_plus:regularised``, pooled over the others. A difference is group1
    less group2, in the printed order of the pair; of other pairs group1 has the higher mean.

    Parameters
    ----------
    rows
        Rows of table 1.
    factors
        Row keys of the two factors.
    artefact
        Artefact with the printed order of pairs: ``regcl/table4`` or ``regcl/table5``.
    """
    frame = _frame(rows)
    letters = [letter for name in factors for letter, key in FACTORS.items() if key == name]
    groups = frame[letters[0]].astype(str) + ":" + frame[letters[1]].astype(str)
    if len(frame) < FEWEST_VALUES or groups.nunique() < 2:
        return rows.iloc[:0]
    printed = {(target.keys["group1"], target.keys["group2"]) for target in load_targets("regcl").of(artefact)}
    values: list[tuple[dict[str, Any], str, float]] = []
    pairs = _tukey_hsd(tuple(frame["auc"]), tuple(groups))
    columns = (pairs[name].tolist() for name in ("group2", "group1", "meandiff", "p_adj"))
    for first, second, difference, p_adj in zip(*columns, strict=True):  # statsmodels' is group2 less group1
        known = (second, first) in printed
        if known or ((first, second) not in printed and difference < 0):
            first, second, difference = second, first, -difference
        keys = {"group1": first, "group2": second}
        values.append((keys | {"statistic": "meandiff"}, "meandiff", float(difference)))
        values.append((keys | {"statistic": "p_adj"}, "p_adj", float(p_adj)))
    return _rows_like(rows, values, len(frame))


@lru_cache(maxsize=8)
def _anova(values: tuple, columns: tuple[str, ...], factors: tuple[str, ...]) -> Anova:
    """Return the analysis of variance of the AUC, cached for all claims about table 3."""
    return anova(pd.DataFrame(values, columns=columns), "auc", factors)


@lru_cache(maxsize=8)
def _tukey_hsd(values: tuple[float, ...], groups: tuple[str, ...]) -> pd.DataFrame:
    """Return Tukey's tests, cached for all claims about tables 4 and 5."""
    return tukey_hsd(values, groups)


def _frame(rows: pd.DataFrame) -> pd.DataFrame:
    """Return a column per factor and the AUC, a line per run and attribution method."""
    auc = rows[(rows["metric"] == "auc") & rows["value"].notna()]
    columns = {letter: key(auc, name).to_numpy() for letter, name in FACTORS.items()}
    return pd.DataFrame({**columns, "auc": auc["value"].to_numpy(float)})


def _rows_like(rows: pd.DataFrame, values: Sequence[tuple[dict[str, Any], str, float]], n: int) -> pd.DataFrame:
    """Return a row per value, based on the newest of `rows`, without seed because it depends on all of them."""
    keys, metrics, numbers = zip(*values, strict=True)
    table = pd.DataFrame([newest_row(rows)] * len(values)).reset_index(drop=True)
    units = {"sum_sq": "squared AUC percent", "meandiff": "AUC percent points"}
    unit = [units.get(metric, "1") for metric in metrics]
    table = table.assign(metric=list(metrics), value=list(numbers), n=n, seed=-1, unit=unit)
    return with_keys(table, keys)


def _of_terms(rows: pd.DataFrame, statistic: str) -> dict[str, float]:
    table = anova_rows(rows)
    chosen = table[table["metric"] == statistic]
    values = {term: float(value) for term, value in zip(key(chosen, "term"), chosen["value"], strict=True)}
    return {term: value for term, value in values.items() if value == value}  # NaN: not determined


def _p_values(rows: pd.DataFrame, terms: Sequence[str], significant: bool) -> Finding:
    found = _of_terms(rows, "p")
    if not set(terms) <= set(found):
        return not_measured("p of " + ", ".join(term for term in terms if term not in found))
    wrong = [term for term in terms if (found[term] < LEVEL) != significant]
    text = ", ".join(f"{term} {found[term]:.2g}" for term in terms)
    return Finding("fails" if wrong else "holds", f"p: {text}" + (f"; otherwise: {', '.join(wrong)}" if wrong else ""))


@claim("regcl-table3-significant-terms")
def significant_terms(rows: pd.DataFrame) -> Finding:
    return _p_values(rows, SIGNIFICANT_TERMS, significant=True)


@claim("regcl-table3-other-terms")
def other_terms(rows: pd.DataFrame) -> Finding:
    return _p_values(rows, OTHER_TERMS, significant=False)


@claim("regcl-table3-extension-dominates")
def extension_dominates(rows: pd.DataFrame) -> Finding:
    found = _of_terms(rows, "F")
    found.pop("overall", None)
    if "E" not in found or len(found) < len(SIGNIFICANT_TERMS) + len(OTHER_TERMS):
        return not_measured("F of some term")
    term = max(found, key=lambda name: found[name])
    text = f"F of E {found['E']:.3g}, largest: {term} {found[term]:.3g}"
    return Finding("holds" if term == "E" else "fails", text, found["E"])


@claim("regcl-table3-runs-missing")
def runs_missing(rows: pd.DataFrame) -> Finding:
    ours = _of_terms(rows, "df")
    if "residual" not in ours:
        return not_measured("degrees of freedom")
    n = round(sum(ours.values())) + 1
    text = f"degrees of freedom of {n:,} values, the paper's of {VALUES_IN_PAPER:,}"
    return Finding("holds" if n == VALUES_IN_PAPER else "fails", text, n)


def _best_group(
    rows: pd.DataFrame, factors: Sequence[str], artefact: str, group: str, others: int, level: float
) -> Finding:
    """Check that a group is significantly above each of the others, at a level of the text (section 3)."""
    table = tukey_rows(rows, factors, artefact)
    by_pair: dict[tuple[str, str], dict[str, float]] = {}
    for keys, value in zip(keys_of(table), table["value"], strict=True):
        by_pair.setdefault((str(keys["group1"]), str(keys["group2"])), {})[str(keys["statistic"])] = float(value)
    found: dict[str, tuple[float, float]] = {}
    for (first, second), pair in by_pair.items():
        if group in (first, second):
            sign = 1 if group == first else -1
            found[second if group == first else first] = (sign * pair["meandiff"], pair["p_adj"])
    if len(found) < others:
        return not_measured("some group")
    good = [name for name, (lead, p) in found.items() if lead > 0 and p < level]
    name, (lead, p) = min(found.items(), key=lambda item: item[1][0])
    text = f"above {len(good)} of {others} with p < {level:g}; least above {name}: {lead:+.2f}, p = {p:.2g}"
    return Finding("holds" if len(good) == others else "fails", text, lead, p)


def _rejections(rows: pd.DataFrame, factors: Sequence[str], artefact: str, printed: int, pairs: int) -> Finding:
    table = tukey_rows(rows, factors, artefact)
    p = table["value"][table["metric"] == "p_adj"]
    if len(p) < pairs:
        return not_measured("some group")
    found = int((p < LEVEL).sum())
    return Finding("holds" if found == printed else "fails", f"{found} of {pairs} pairs are significant", found)


TABLE4 = ("attribution", "training")
TABLE5 = ("attribution", "regularisation")


@claim("regcl-table4-inverse-hybrid-best")
def inverse_hybrid_best(rows: pd.DataFrame) -> Finding:
    return _best_group(rows, TABLE4, "regcl/table4", "jf_plus:hybrid_contrastive", 17, level=0.001)


@claim("regcl-table4-number-of-rejections")
def rejections_by_training(rows: pd.DataFrame) -> Finding:
    return _rejections(rows, TABLE4, "regcl/table4", 25, 153)


@claim("regcl-table5-inverse-regularised-best")
def inverse_regularised_best(rows: pd.DataFrame) -> Finding:
    return _best_group(rows, TABLE5, "regcl/table5", "jf_plus:regularised", 11, level=0.01)


@claim("regcl-table5-number-of-rejections")
def rejections_by_regularisation(rows: pd.DataFrame) -> Finding:
    return _rejections(rows, TABLE5, "regcl/table5", 42, 66)
