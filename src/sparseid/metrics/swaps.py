"""Effects of units of a code on the factors of decoded images, as a classifier reads them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Read = NDArray[np.integer]
"""Levels of factors that were read, (..., factors)."""


def transfer_and_leak(before: Read, after: Read, factor: int) -> tuple[float, float]:
    """Return how well a swap of units transfers a factor from the first image of a batch, and what else it changes.

    Parameters
    ----------
    before, after
        (batches, images, factors) levels read in decoded images, and in those whose unit is that of the batch's first.
    factor
        The factor that the unit stands for.

    Returns
    -------
    transfer, leak
        Share of the images with the first image's level, among those where it differed before; mean share of images
        over the other factors whose level changes. NaN without such an image, or without another factor.

    Examples
    --------
    >>> before = np.array([[[0, 5], [1, 6], [2, 7]]])
    >>> transfer_and_leak(before, np.array([[[0, 5], [0, 6], [2, 5]]]), 0)
    (0.5, 0.5)
    """
    first, own, swapped = before[:, :1], before[:, 1:], after[:, 1:]
    differed = own[..., factor] != first[..., factor]
    arrived = (swapped == first)[..., factor]
    others = np.delete(own != swapped, factor, axis=-1)
    return (
        float(arrived[differed].mean()) if differed.any() else np.nan,
        float(others.mean()) if others.size else np.nan,
    )


def selectivity(before: Read, after: Read, factor: int) -> float:
    """Return the share of a factor in all changes by a traversal of its unit; 0 if nothing changes.

    Parameters
    ----------
    before, after
        (images, factors) and (images, values, factors) levels read in decoded images, and along the traversals.
    factor
        The factor that the unit stands for.

    Examples
    --------
    >>> selectivity(np.array([[0, 5]]), np.array([[[1, 5], [2, 5], [2, 6]]]), 0)
    0.75
    """
    changed = (after != before[:, None]).sum(axis=(0, 1))
    return float(changed[factor] / changed.sum()) if changed.any() else 0.0
