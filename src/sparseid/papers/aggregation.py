"""Aggregation of replicates: the centre and interval of a paper's numbers."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from numpy.typing import ArrayLike

from sparseid.metrics.intervals import INTERVALS, Centre, IntervalKind, Summary, summarise

_INTERVAL_WORDS: dict[IntervalKind, str] = {
    "bootstrap": "95 % bootstrap interval",
    "student": "95 % t interval",
    "sd": "sample standard deviation",
    "population_sd": "population standard deviation",
    "quartiles": "quartiles",
}


@dataclass(frozen=True)
class Aggregation:
    """The statistics of a paper's tables and figures; ours use the same ones."""

    centre: Centre = "mean"
    interval: IntervalKind = "bootstrap"
    """See :mod:`sparseid.metrics.intervals`."""
    over: str = "seeds"
    """The replicates, in the plural: ``seeds``, ``splits``, ``data sets``."""
    keys: tuple[str, ...] = ()
    """Row keys that distinguish replicates of the same seed (RegCL pools runs with different numbers of latents)."""
    fractions: tuple[str, ...] = ()
    """Metrics that are 0 or 100 in each replicate: their summary is the mean, whatever the centre, without interval."""

    @property
    def symmetric(self) -> bool:
        """True if the interval is written as centre +- half width."""
        return self.interval in ("sd", "population_sd")

    @property
    def interval_words(self) -> str:
        """The interval in words."""
        return _INTERVAL_WORDS[self.interval]

    def __str__(self) -> str:
        spread = f"\N{PLUS-MINUS SIGN} {self.interval_words}" if self.symmetric else f"[{self.interval_words}]"
        return f"{self.centre} {spread} over n {self.over}"

    def summarise(self, values: ArrayLike, metric: str = "") -> Summary:
        """Summarise one value per replicate, of `metric` if it may be one of `fractions`."""
        summary = summarise(values, self.centre, self.interval)
        if metric not in self.fractions:
            return summary
        return summary._replace(centre=summary.mean, low=math.nan, high=math.nan)


def parse_aggregation(entry: Mapping[str, Any]) -> Aggregation:
    """Read a ``statistics`` entry of ``targets.yaml``.

    Raises
    ------
    ValueError
        If its centre or interval is unknown.
    """
    if entry["centre"] not in ("mean", "median") or entry["interval"] not in INTERVALS:
        raise ValueError(f"statistics {dict(entry)}: centre is mean or median, interval one of {', '.join(INTERVALS)}")
    lists = {name: tuple(entry.get(name, ())) for name in ("keys", "fractions")}
    return Aggregation(entry["centre"], entry["interval"], entry["over"], **lists)
