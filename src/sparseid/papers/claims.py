"""Checks of claims: decorators that declare one, its outcome, and elementary checks.

Only ``targets.yaml`` has the wording of a claim; the function that checks it is decorated with its id, and with the
cases of a "for every ..." claim::

    @claim("tbr-fig4-robust")
    @for_every("S = {}", CHANGES[2:])
    def robust(rows, changes): ...

Checks follow the notation of the targets files: a comparison compares means over seeds. With fewer than two seeds
nothing is decided, but the text states the outcome so far; a check of a number for which the paper ran a single seed
is decided by one, with ``fewest=1``.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import wraps
from itertools import product
from types import ModuleType
from typing import Any, Literal, TypeVar

import numpy as np
import pandas as pd

from sparseid.measurements import Key
from sparseid.papers.labels import label

Outcome = Literal["holds", "fails", "undecided"]
SIGNIFICANT = 0.05
_PLUS_MINUS = "\N{PLUS-MINUS SIGN}"
FEWEST_POINTS = 4
"""Minimum for a meaningful rank correlation."""


@dataclass(frozen=True)
class Finding:
    """Outcome of one check."""

    outcome: Outcome
    text: str
    """The numbers behind the outcome, or the reason why it is undecided."""
    statistic: float | None = None
    """The number that decided."""
    p: float | None = None
    """Its one-sided p value."""
    measured: bool = True
    """False if there are no rows to check."""


@dataclass(frozen=True)
class ClaimResult:
    """A claim of the paper with the outcome on our rows."""

    id: str
    statement: str
    finding: Finding


ClaimCheck = Callable[[pd.DataFrame], Finding]
"""Checks a claim on the rows of its artefact."""


@dataclass(frozen=True)
class Comparison:
    """A check that also needs the rows of another artefact, at the same scale."""

    other: str
    """Id of that artefact."""
    check: Callable[[pd.DataFrame, pd.DataFrame], Finding]
    """Checks the claim on the rows of its own and of the other artefact."""


Check = TypeVar("Check", bound=Callable[..., Finding])


def claim(*ids: str, against: str = "") -> Callable[[Check], Check]:
    """Declare a function as the check of claims of ``targets.yaml``.

    Parameters
    ----------
    *ids
        Ids of the claims.
    against
        Artefact whose rows are the second argument of the check; empty if it only needs those of its own.
    """

    def mark(check: Check) -> Check:
        vars(check)["claims"] = {name: Comparison(against, check) if against else check for name in ids}
        return check

    return mark


def claims_in(*modules: ModuleType) -> dict[str, ClaimCheck | Comparison]:
    """Return the checks in some modules, by the id of their claim.

    Raises
    ------
    ValueError
        If a claim is checked twice.
    """
    found: dict[str, ClaimCheck | Comparison] = {}
    for module in modules:
        for value in vars(module).values():
            if getattr(value, "__module__", "") != module.__name__ or not hasattr(value, "claims"):
                continue
            if twice := found.keys() & value.claims.keys():
                raise ValueError(f"{', '.join(sorted(twice))}: checked twice, again in {module.__name__}")
            found |= value.claims
    return found


def every(findings: Mapping[str, Finding]) -> Finding:
    """Combine findings of a "for every ..." claim: one failure refutes it, one gap leaves it undecided.

    Statistic and p are those of the first finding that decides the outcome.
    """
    deciding: Outcome = "holds"
    for outcome in ("fails", "undecided"):
        if any(finding.outcome == outcome for finding in findings.values()):
            deciding = outcome
            break
    first = next(finding for finding in findings.values() if finding.outcome == deciding)
    parts = [f"{name} {finding.outcome} ({finding.text})" for name, finding in findings.items() if finding.measured]
    missing = [name for name, finding in findings.items() if not finding.measured]
    text = "; ".join([*parts, *(["not measured: " + ", ".join(missing)] if missing else [])])
    return Finding(deciding, text, first.statistic, first.p, measured=bool(parts))


def mean_below(values: pd.Series, limit: float, what: str, fewest: int = 2) -> Finding:
    """Check that the mean over seeds lies below `limit`."""
    return _compare_mean(values, lambda mean: mean < limit, what, f"below {limit:g}", fewest)


def mean_above(values: pd.Series, limit: float, what: str, fewest: int = 2) -> Finding:
    """Check that the mean over seeds lies above `limit`."""
    return _compare_mean(values, lambda mean: mean > limit, what, f"above {limit:g}", fewest)


def mean_within(values: pd.Series, limit: float, what: str) -> Finding:
    """Check that the mean over seeds lies between -`limit` and `limit`."""
    return _compare_mean(values, lambda mean: abs(mean) < limit, what, f"within {_PLUS_MINUS} {limit:g}")


def always_zero(values: pd.Series, what: str) -> Finding:
    """Check that no seed has a value other than zero; a single non-zero seed refutes it."""
    if values.empty:
        return not_measured(what)
    largest = float(values.abs().max())
    text = f"largest {what} of {_seeds(values)}: {largest:.3g}"
    if largest > 0:
        return Finding("fails", text, largest)
    return Finding("holds" if len(values) > 1 else "undecided", text, largest)


def always_above(values: pd.Series, limit: float, what: str, strict: bool = True) -> Finding:
    """Check that every value lies above `limit`, or at it unless `strict`; a single lower one refutes it.

    For claims that something never happens: the values may come from several settings, with one seed each.
    """
    if values.empty:
        return not_measured(what)
    lowest = float(values.min())
    above = lowest > limit or (lowest == limit and not strict)
    text = f"lowest {what} of {len(values)} run{'s' if len(values) != 1 else ''}: {lowest:.3g}"
    bound = f"{'above' if strict else 'at least'} {limit:.3g}"
    text += f", {_not_unless(above, bound)}"
    return Finding("fails" if not above else "holds" if len(values) > 1 else "undecided", text, lowest)


def mean_ratio_above(first: pd.Series, second: pd.Series, limit: float, what: str) -> Finding:
    """Check that mean(first) / mean(second) exceeds `limit`; 0 / 0 is undecided, x / 0 is infinite."""
    return _ratio(first, second, lambda ratio: ratio > limit, what, f"above {limit:g}")


def mean_ratio_below(first: pd.Series, second: pd.Series, limit: float, what: str) -> Finding:
    """Check that mean(first) / mean(second) is less than `limit`; 0 / 0 is undecided, x / 0 is infinite."""
    return _ratio(first, second, lambda ratio: ratio < limit, what, f"below {limit:g}")


def mean_not_below(upper: pd.Series, lower: pd.Series, what: str, strict: bool = False, fewest: int = 2) -> Finding:
    """Check mean(upper) >= mean(lower), or > if `strict`; over their common replicates, if there are at least two."""
    if upper.empty or lower.empty:
        return not_measured(what)
    shared = upper.index.intersection(lower.index)
    if len(shared) > 1:  # further seeds of one side say nothing about the difference
        upper, lower = upper[shared], lower[shared]
    difference = float(upper.mean() - lower.mean())
    text = f"{what}: {upper.mean():.3g} against {lower.mean():.3g}"
    holds = difference > 0 or (difference == 0 and not strict)
    return decide(holds, text, difference, min(len(upper), len(lower)), fewest)


def significantly_above(upper: pd.Series, lower: pd.Series, what: str, ranks: bool = False) -> Finding:
    """Check upper - lower > 0 with a one-sided t test: paired over common seeds, Welch's if there are fewer than two.

    With `ranks` the test is Wilcoxon's signed-rank test, or Mann and Whitney's. A positive difference of means that is
    not significant is undecided; a difference that is not positive fails.
    """
    if upper.empty or lower.empty:
        return not_measured(what)
    shared = upper.index.intersection(lower.index)
    paired = len(shared) > 1
    first, second = (upper[shared], lower[shared]) if paired else (upper, lower)
    difference = float(first.mean() - second.mean())
    text = f"{what}: {first.mean():.3g} against {second.mean():.3g}"
    if min(len(first), len(second)) < 2:
        return Finding("undecided", f"{text}; one seed, no test", difference)
    p = (_one_sided_rank_p if ranks else _one_sided_p)(first.to_numpy(), second.to_numpy(), paired)
    test = ("signed-rank" if paired else "Mann-Whitney") if ranks else ("paired t" if paired else "Welch t")
    text += f", {test} test p = {p:.2g}, {_seeds(first)}"
    if difference <= 0:
        return Finding("fails", text, difference, p)
    return Finding("holds" if p < SIGNIFICANT else "undecided", text, difference, p)


def rank_trend(
    values: Mapping[int, pd.Series], holds: Callable[[float], bool], what: str, points: str = "densities"
) -> Finding:
    """Check the Spearman correlation between points of a curve (called `points`) and means over seeds.

    Parameters
    ----------
    values
        Values of each point by seed; points without any are ignored.
    holds
        Returns whether the claim holds for a correlation.
    what, points
        The metric and the points, in words.
    """
    measured = {point: of_point for point, of_point in values.items() if len(of_point)}
    if not measured:
        return not_measured(what)
    if len(measured) < FEWEST_POINTS:
        return Finding("undecided", f"{what}: only {len(measured)} {points}")
    means = np.array([float(of_point.mean()) for of_point in measured.values()])
    if np.ptp(means) == 0:
        return Finding("undecided", f"{what} is {means[0]:.3g} for all {points}")
    from scipy.stats import spearmanr

    correlation = float(spearmanr(list(measured), means).statistic)
    text = f"{what}: rank correlation {correlation:.2f} over {len(measured)} {points}"
    return decide(holds(correlation), text, correlation, min(map(len, measured.values())))


def extreme_at(
    values: Mapping[Key, pd.Series],
    accepted: Callable[[Key], bool],
    what: str,
    point: str,
    lowest: bool = True,
    within_spread: bool = False,
) -> Finding:
    """Check the place of the lowest or highest mean over seeds.

    Parameters
    ----------
    values
        Values of each point of a curve, in its order.
    accepted
        Returns whether the extreme may be at a point.
    what, point
        The metric and the key of points, in words.
    lowest
        False for the highest mean.
    within_spread
        Also accept the first point whose mean lies within a standard deviation of the extreme (the lowest point of a
        plateau is random).
    """
    measured = {at: of_point for at, of_point in values.items() if len(of_point)}
    if len(measured) < len(values):
        return not_measured(f"{what} at {point} = {', '.join(str(at) for at in values if at not in measured)}")
    sign = 1 if lowest else -1
    means = {at: sign * float(of_point.mean()) for at, of_point in measured.items()}
    best = min(means, key=lambda at: means[at])
    text = f"{'lowest' if lowest else 'highest'} {what} {sign * means[best]:.3g} at {point} = {best}"
    holds = accepted(best)
    if within_spread and not holds:
        limit = means[best] + float(measured[best].std(ddof=0))
        first = next(at for at in means if means[at] <= limit)
        text += f", and {first} is the first within a standard deviation of it"
        holds = accepted(first)
    return decide(holds, text, sign * means[best], min(map(len, measured.values())))


def weakest(findings: Mapping[str, Finding]) -> Finding:
    """Combine findings of a "for every ..." claim: the number of cases that hold, and the one furthest from it.

    For claims about so many differences that the text of :func:`every` would be unreadable.
    """
    order = {"fails": 0, "undecided": 1, "holds": 2}

    def distance(item: tuple[str, Finding]) -> tuple[float, float, float]:
        found = item[1]
        return order[found.outcome], -(found.p or 0.0), found.statistic or 0.0

    name, worst = min(findings.items(), key=distance)
    if not any(finding.measured for finding in findings.values()):
        return worst
    measured = [finding for finding in findings.values() if finding.measured]
    holding = sum(finding.outcome == "holds" for finding in measured)
    missing = f" ({len(findings) - len(measured)} more not measured)" if len(measured) < len(findings) else ""
    which = "least clear" if worst.outcome == "holds" else "furthest from it"
    text = f"holds in {holding} of {len(measured)} cases{missing}; {which}: {name}, {worst.text}"
    return Finding(worst.outcome, text, worst.statistic, worst.p)


def for_every(
    name: str, *values: Iterable[Any], combine: Callable[[Mapping[str, Finding]], Finding] = every
) -> Callable[[Callable[..., Finding]], Callable[..., Finding]]:
    """Check a statement for every combination of some values, which become the last arguments of the check.

    Parameters
    ----------
    name
        Template of the name of a case: ``"S = {}"``; texts are replaced by their labels.
    *values
        Values of each of these arguments; a tuple among them gives several arguments.
    combine
        Combines the findings by name: :func:`every` or :func:`weakest`.
    """

    def decorate(check: Callable[..., Finding]) -> Callable[..., Finding]:
        cases = [
            tuple(value for part in case for value in (part if isinstance(part, tuple) else (part,)))
            for case in product(*values)
        ]

        @wraps(check)
        def check_all(*arguments: Any) -> Finding:
            return combine({_case_name(name, case): check(*arguments, *case) for case in cases})

        return check_all

    return decorate


def _case_name(template: str, case: tuple[Key, ...]) -> str:
    return template.format(*(label(value) if isinstance(value, str) else f"{value:g}" for value in case))


def not_measured(what: str) -> Finding:
    """Return the finding for an entry without rows."""
    return Finding("undecided", f"{what} not measured", measured=False)


def decide(holds: bool, text: str, statistic: float, n_seeds: int, fewest: int = 2) -> Finding:
    """Return the finding of a check that `holds` or not; undecided with fewer than `fewest` seeds."""
    if n_seeds < fewest:
        return Finding("undecided", f"{text}; one seed, {'for' if holds else 'against'} the claim so far", statistic)
    return Finding("holds" if holds else "fails", f"{text}, {_plural(n_seeds)}", statistic)


def _compare_mean(values: pd.Series, holds: Callable[[float], bool], what: str, where: str, fewest: int = 2) -> Finding:
    if values.empty:
        return not_measured(what)
    mean = float(values.mean())
    return decide(holds(mean), f"{what} {mean:.3g}, {_not_unless(holds(mean), where)}", mean, len(values), fewest)


def _ratio(first: pd.Series, second: pd.Series, holds: Callable[[float], bool], what: str, where: str) -> Finding:
    if first.empty or second.empty:
        return not_measured(what)
    top, bottom = float(first.mean()), float(second.mean())
    if top == bottom == 0:
        return Finding("undecided", f"{what}: both are 0")
    ratio = top / bottom if bottom else math.inf
    text = f"{what}: {top:.3g} / {bottom:.3g} = {ratio:.3g}, {_not_unless(holds(ratio), where)}"
    return decide(holds(ratio), text, ratio, min(len(first), len(second)))


def _not_unless(holds: bool, where: str) -> str:
    return where if holds else f"not {where}"


def _one_sided_p(first: np.ndarray, second: np.ndarray, paired: bool) -> float:
    from scipy.stats import ttest_ind, ttest_rel

    if paired and np.ptp(first - second) == 0:
        return 0.0 if first[0] > second[0] else 1.0  # no spread: the t statistic is undefined
    test = ttest_rel(first, second, alternative="greater") if paired else None
    return float((test or ttest_ind(first, second, equal_var=False, alternative="greater")).pvalue)


def _one_sided_rank_p(first: np.ndarray, second: np.ndarray, paired: bool) -> float:
    from scipy.stats import mannwhitneyu, wilcoxon

    if paired and not np.any(first - second):
        return 1.0  # no difference has a rank
    test = wilcoxon(first, second, alternative="greater") if paired else None
    return float((test or mannwhitneyu(first, second, alternative="greater")).pvalue)


def _seeds(values: pd.Series) -> str:
    return _plural(len(values))


def _plural(n_seeds: int) -> str:
    return f"{n_seeds} seed{'s' if n_seeds != 1 else ''}"
