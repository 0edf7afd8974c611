"""Gate on explained variance: the map of a poor embedding is not informative about attribution (RegCL, section 3)."""

from __future__ import annotations

import math
from collections.abc import Sequence

from sparseid.measurements import Measurement

R2_GATE = 95.0
"""Minimum percentage of explained variance of the labels; the paper asks for "close to 100 %"."""


def gate_remarks(measurements: Sequence[Measurement]) -> list[str]:
    """Return the warnings about the run's maps: too little of the labels is explained, or R2 is undefined.

    Examples
    --------
    >>> r2 = [Measurement("r2", (99, 88)[seed], keys={"explained": "labels"}, seed=seed) for seed in (0, 1)]
    >>> gate_remarks(r2)
    ['R2 of the labels is below 95 % in 1 of 2 seeds (lowest: 88.0 %, seed 1): their maps are those of a poor fit']
    """
    explained = [
        (float(m.value), m.seed)
        for m in measurements
        if m.metric == "r2" and m.keys["explained"] == "labels" and m.value is not None
    ]
    if any(math.isnan(value) for value, _ in explained):
        return ["R2 of the labels is undefined: a label is constant in the held-out samples"]
    below = [entry for entry in explained if entry[0] < R2_GATE]
    if not below:
        return []
    lowest, seed = min(below)
    seeds = f"{len(below)} of {len(explained)} seeds (lowest: {lowest:.1f} %, seed {seed})"
    return [f"R2 of the labels is below {R2_GATE:g} % in {seeds}: their maps are those of a poor fit"]
