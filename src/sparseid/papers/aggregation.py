"""How a paper sums up its replicates: which centre and which interval, over what."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import pandas as pd

from sparseid.metrics.intervals import INTERVALS, Centre, IntervalKind, Summary, summarise
from sparseid.papers.rows import per_replicate

_INTERVAL_WORDS: dict[IntervalKind, str] = {
    "bootstrap": "95 % bootstrap interval",
    "student": "95 % t interval",
    "sd": "sample standard deviation",
    "population_sd": "population standard deviation",
    "quartiles": "quartiles",
}


@dataclass(frozen=True)
class Convention:
    """The statistics of a paper's tables and figures; ours are written and judged in the same ones.

    Parameters
    ----------
    centre, interval
        Of the replicates, see :mod:`sparseid.metrics.intervals`.
    over
        What the replicates are, in the plural: ``seeds``, ``splits``, ``data sets``.
    keys
        Row keys that tell replicates of the same seed apart (RegCL pools runs with different numbers of latents).
    shares
        Metrics that are 0 or 100 of a replicate: their mean is what counts, whatever the centre, and has no interval.
    """

    centre: Centre = "mean"
    interval: IntervalKind = "bootstrap"
    over: str = "seeds"
    keys: tuple[str, ...] = ()
    shares: tuple[str, ...] = ()

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

    def summarise(self, rows: pd.DataFrame, metric: str) -> Summary:
        """Sum up the rows of one metric of one cell."""
        summary = self.summarise_values(per_replicate(rows, metric, self.keys))
        if metric not in self.shares:
            return summary
        return summary._replace(centre=summary.mean, low=math.nan, high=math.nan)

    def replicates(self, rows: pd.DataFrame, metric: str) -> int:
        """Return how many replicates the rows of one metric of one cell are of, those without a value counted, too."""
        return len(per_replicate(rows.assign(value=0.0), metric, self.keys))

    def summarise_values(self, values: pd.Series) -> Summary:
        """Sum up one value per replicate."""
        return summarise(values, self.centre, self.interval)


def convention(entry: Mapping[str, Any]) -> Convention:
    """Read a ``statistics`` entry of ``targets.yaml``.

    Raises
    ------
    ValueError
        If it names a centre or an interval that does not exist.
    """
    if entry["centre"] not in ("mean", "median") or entry["interval"] not in INTERVALS:
        raise ValueError(f"statistics {dict(entry)}: centre is mean or median, interval one of {', '.join(INTERVALS)}")
    lists = {name: tuple(entry.get(name, ())) for name in ("keys", "shares")}
    return Convention(entry["centre"], entry["interval"], entry["over"], **lists)
