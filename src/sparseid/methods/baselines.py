"""Simple baselines next to a method's numbers, and warnings if it is not better than one of them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Literal

import numpy as np

from sparseid.measurements import Key, Measurement

NAMES = {
    "mean": "the mean of the training rows",
    "pca": "PCA with as many components",
    "popularity": "the popularity of the features",
    "nmf": "NMF with as many components",
    "most_frequent": "the most frequent label",
    "environment_means": "the mean label of each environment",
    "ridge": "a ridge regression of each environment",
    "label_ridge": "a ridge regression of the labels",
}
"""Row key ``method`` of each baseline -> its name in warnings."""


def of_baseline(name: str, metric: str, value: float, unit: str, n: int, seeds: Sequence[int]) -> list[Measurement]:
    """Return a measurement of a baseline next to that of each seed: the same metric, under its own key ``method``."""
    return [Measurement(metric, value, unit, n, {"method": name}, seed) for seed in seeds]


def unbeaten(
    measurements: Iterable[Measurement], metric: str, label: str, better: Literal["low", "high"] = "low"
) -> Iterator[str]:
    """Yield a warning for each baseline that the method's mean over seeds is not better than.

    A baseline is compared with the method's measurements that have the baseline's other keys.

    Parameters
    ----------
    measurements
        Those of the method, and of its baselines under their key ``method``.
    metric
        Name of the compared metric.
    label
        Its name in the warning.
    better
        Whether low or high values are better.
    """
    found = [
        (dict(measurement.keys), measurement.value)
        for measurement in measurements
        if measurement.metric == metric and measurement.value is not None
    ]
    baselines: dict[tuple[tuple[str, Key], ...], list[float]] = {}
    for keys, value in found:
        if "method" in keys:
            baselines.setdefault(tuple(keys.items()), []).append(value)
    for entry, values in baselines.items():
        others = dict(entry)
        name = str(others.pop("method"))
        own = [value for keys, value in found if "method" not in keys and others.items() <= keys.items()]
        if own and (np.mean(own) >= np.mean(values) if better == "low" else np.mean(own) <= np.mean(values)):
            yield (
                f"not better than a baseline: {label} {np.mean(own):.4g} on held-out data, that of {NAMES[name]} is "
                f"{np.mean(values):.4g}"
            )
