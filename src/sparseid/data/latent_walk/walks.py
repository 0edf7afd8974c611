"""Random walks in a box, many at a time; each depends on its own steps only."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain

import numpy as np
from numpy.typing import NDArray

WINDOW = 32
"""Steps tried at a time; if sigma is a tenth of the box, one in 25 would leave it."""

Array = NDArray[np.float64]


def redrawn_walk(blocks: Iterator[Array], samples: int, box: float) -> Array:
    """Return positions (walks, samples) in [-box, box], beginning at 0; steps that would leave the box are redrawn.

    A walk takes its drawn steps in order and skips those that lead outside. Such steps are rare: whole windows are
    summed as if there were no such step, and used as far as they stay inside.

    Parameters
    ----------
    blocks
        Drawn steps, (walks, steps in a block) each; as many blocks are taken as necessary.
    """
    first = next(blocks)
    blocks = chain([first], blocks)
    positions = np.zeros((len(first), samples + first.shape[1] + WINDOW))
    filled = np.ones(len(first), dtype=np.int64)
    while (unfinished := np.flatnonzero(filled < samples)).size:
        _go_on(positions, filled, unfinished, next(blocks)[unfinished], box)
    return positions[:, :samples]


def _go_on(positions: Array, filled: NDArray[np.int64], rows: NDArray[np.int64], block: Array, box: float) -> None:
    """Extend the walks in `rows`, in place, by the steps of a block that stay inside; `filled` counts positions."""
    drawn, reach = block.shape[1], np.arange(WINDOW)
    tried = np.pad(block, ((0, 0), (0, WINDOW)), constant_values=np.inf)  # after the end no step stays inside
    each = np.arange(len(rows))
    source, target = each[:, None] * tried.shape[1] + reach, rows[:, None] * positions.shape[1] + reach
    at, end = np.zeros(len(rows), dtype=np.int64), filled[rows]
    window = np.empty((len(rows), 1 + WINDOW))
    window[:, 0] = positions[rows, end - 1]
    inside = np.zeros((len(rows), WINDOW + 1), dtype=bool)  # the last column stays False: a whole window inside
    while (at < drawn).any():
        window[:, 1:] = tried.take(source + at[:, None])
        np.cumsum(window, axis=1, out=window)
        np.less_equal(np.abs(window[:, 1:]), box, out=inside[:, :WINDOW])
        kept = inside.argmin(axis=1)
        positions.put(target + end[:, None], window[:, 1:])  # the rest is overwritten by the next steps
        window[:, 0] = window[each, kept]
        end += kept
        at = np.minimum(at + kept + (kept < WINDOW), drawn)
    filled[rows] = end


def reflected_walk(blocks: Iterator[Array], samples: int, box: float) -> Array:
    """Return positions (walks, samples) in [-box, box], beginning at 0; steps that would leave the box are reflected.

    This equals the free walk folded into the box, since the distribution of a step is symmetric.
    """
    block = next(blocks)
    parts = [np.zeros((len(block), 1)), block]
    while sum(part.shape[1] for part in parts) < samples:
        parts.append(next(blocks))
    free = np.cumsum(np.concatenate(parts, axis=1)[:, :samples], axis=1)
    return box - np.abs(np.mod(free + box, 4 * box) - 2 * box)
