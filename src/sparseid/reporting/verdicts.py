"""Verdicts: the comparison of our number with the paper's."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

from sparseid.metrics.intervals import Summary
from sparseid.papers.targets import Target

Word = Literal["agrees", "differs", "not comparable", "no printed number", "incomplete", "missing"]
MEANINGS: dict[str, str] = {
    "agrees": "our interval overlaps the paper's, or reaches its number within rounding and reading error",
    "differs": "our interval does not reach the paper's; the difference of our number is given",
    "not comparable": "from a smaller scale than the paper's, or from synthetic data in place of the paper's",
    "no printed number": "the paper prints no such number: it shows a figure, or the line is ours alone",
    "incomplete": "the paper's number is pooled over groups of runs, of which ours has only some",
    "missing": "no finished run gives this number",
}
"""Explanation of each word for readers; :func:`judge` has the rules."""


@dataclass(frozen=True)
class Verdict:
    """The verdict on one entry."""

    word: Word
    difference: float | None = None
    """Our centre minus the paper's number; only for ``differs``."""

    def __str__(self) -> str:
        return self.word if self.difference is None else f"{self.word} by {self.difference:+.2g}"


def judge(target: Target | None, ours: Summary | None, scale: str, complete: bool = True) -> Verdict:
    """Compare one entry.

    Parameters
    ----------
    target
        The paper's number; None or without a value if it prints none.
    ours
        Our values over replicates, aggregated as in the paper; None or without a centre if nothing was measured.
    scale
        Scale of our rows: only ``paper`` compares.
    complete
        Whether ours has all groups of runs over which the paper's number is pooled.

    Returns
    -------
    Verdict
        In this order: ``missing`` (nothing measured), ``no printed number``, ``not comparable`` (another scale),
        ``incomplete``, ``agrees`` (our interval, or our value if there is one replicate, overlaps the paper's spread
        widened by its rounding and its reading error; for a bound such as "< 10": our centre obeys it), else
        ``differs``.
    """
    if ours is None or math.isnan(ours.centre):
        return Verdict("missing")
    if target is None or target.value is None:
        return Verdict("no printed number")
    if scale != "paper":
        return Verdict("not comparable")
    if not complete:
        return Verdict("incomplete")
    difference = ours.centre - target.value
    if target.op != "=":
        slack = target.uncertainty
        obeyed = difference <= slack if target.op.startswith("<") else difference >= -slack
        return Verdict("agrees") if obeyed else Verdict("differs", difference)
    low, high = (ours.centre, ours.centre) if math.isnan(ours.low) else (ours.low, ours.high)
    slack = max(target.uncertainty, half_last_digit(target.value))
    paper_low, paper_high = target.interval or (target.value, target.value)
    overlap = low <= paper_high + slack and high >= paper_low - slack
    return Verdict("agrees") if overlap else Verdict("differs", difference)


def half_last_digit(value: float) -> float:
    """Return half a unit of the last printed digit of `value`.

    Examples
    --------
    >>> half_last_digit(1.48), half_last_digit(12.0)
    (0.005, 0.05)
    """
    digits = f"{value!r}"
    if "e" in digits or "." not in digits:
        return 0.0
    return 0.5 * 10.0 ** -len(digits.split(".")[1])
