"""What the picture of exchanged motifs (figure 6) is drawn from."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray


def exchange_arrays(
    images: NDArray[np.floating],
    before: NDArray[np.floating],
    after: NDArray[np.floating],
    labels: Sequence[Sequence[int]],
    expected: Sequence[Sequence[int]],
    decoded: Sequence[Sequence[int]],
) -> dict[str, np.ndarray]:
    """Return the arrays ``perturbed_*`` of a run, which `papers.sparling.exchanges` draws.

    Parameters
    ----------
    images : (m, H, W)
        The items as they are drawn; of sounds (m, bands, frames).
    before, after : (m, C, h, w)
        Motif maps before and after the exchange, motifs' marks only: an entry keeps its place and changes its channel.
    labels, expected, decoded
        Tokens of each item: its label, what it should become, and what was decoded from the map after the exchange.

    Returns
    -------
    dict
        ``perturbed_images``; ``perturbed_cells`` (2,): h and w; ``perturbed_entries`` (E, 5) int: item, row, column,
        channel before and after (-1 where there was none); ``perturbed_labels``, ``perturbed_expected`` and
        ``perturbed_predictions`` (m, L) padded with -1.
    """
    items, channels, rows, columns = np.nonzero(after)
    there = before[items, :, rows, columns]
    came_from = np.where((there > 0).any(axis=1), there.argmax(axis=1), -1)
    kept = there[np.arange(len(items)), channels] > 0  # where several channels were active, this one stayed
    return {
        "perturbed_images": images,
        "perturbed_cells": np.array(after.shape[2:]),
        "perturbed_entries": np.stack([items, rows, columns, np.where(kept, channels, came_from), channels], axis=1),
        "perturbed_labels": _padded(labels),
        "perturbed_expected": _padded(expected),
        "perturbed_predictions": _padded(decoded),
    }


def _padded(tokens: Sequence[Sequence[int]]) -> NDArray[np.int64]:
    longest = max(map(len, tokens), default=0)
    padded = [[*of_item, *[-1] * (longest - len(of_item))] for of_item in tokens]
    return np.array(padded, np.int64).reshape(len(padded), longest)
