"""The measurements of figure 8: what became of the motifs of each kind."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from sparseid.measurements import Key, Measurement
from sparseid.metrics.confusion import kind_shares

LEAST_MISTAKEN = 0.1
"""Percent of a kind from which on the share that falls to another kind is listed; there are K (K - 1) pairs."""

SYMBOLS = {"(": "lparen", ")": "rparen", "+": "plus"}
"""Kinds whose row key is a word, as in the paper's ``targets.yaml``."""


def kind_measurements(matrix: NDArray[np.integer], names: Sequence[str]) -> list[Measurement]:
    """Return the shares of each kind, in percent, under the keys ``symbol`` and ``to``.

    ``diagonal_share`` (to: aligned) and ``none_share`` (to: none, missed sites) of every kind; ``other_channel_share``
    (to: another kind) of pairs from :data:`LEAST_MISTAKEN` on. Of the activations outside every box (symbol: none):
    ``row_share``, their share of all pairs (to: all), and ``other_channel_share`` of the channel that has most of them
    (to: busiest_channel).

    Parameters
    ----------
    matrix : (K + 1, C + 1) int
        Counts of :class:`sparseid.metrics.motifs.MotifCounts`.
    names
        The K kinds.
    """
    shares, counts = kind_shares(matrix), np.asarray(matrix).sum(axis=1)
    pairs = int(counts.sum())

    def share(metric: str, value: float, n: int, symbol: Key, to: Key) -> Measurement:
        return Measurement(metric, 100 * value, "percent", n, {"symbol": symbol, "to": to})

    measured = []
    symbols = [SYMBOLS.get(name, name) for name in names]
    for kind, name in enumerate(symbols):
        n, of_kind = int(counts[kind]), shares.to_kind[kind]
        measured.append(share("diagonal_share", float(of_kind[kind]), n, name, "aligned"))
        measured.append(share("none_share", float(shares.missed[kind]), n, name, "none"))
        measured += [
            share("other_channel_share", float(of_kind[other]), n, name, other_name)
            for other, other_name in enumerate(symbols)
            if other != kind and 100 * of_kind[other] >= LEAST_MISTAKEN
        ]
    n = int(counts[-1])
    measured.append(share("row_share", float(shares.row_shares[-1]), pairs, "none", "all"))
    measured.append(share("other_channel_share", shares.busiest_outside, n, "none", "busiest_channel"))
    return measured
