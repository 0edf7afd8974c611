"""Projection of codes to the plane by t-SNE, and separation of the classes in it."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from sklearn.manifold import TSNE
from sklearn.metrics import silhouette_score

PERPLEXITY = 30.0
"""Perplexity of t-SNE: the default of R's Rtsne, which drew the Sparse VAE's figure."""


def tsne_plane(codes: NDArray[np.floating], seed: int = 0) -> NDArray[np.float64]:
    """Return the t-SNE projection (samples, 2) of codes; equal codes have the same position.

    Parameters
    ----------
    codes
        (samples, latents)
    seed
        Seed of the projection.

    Returns
    -------
    NDArray
        NaN for codes that are not finite.

    Raises
    ------
    ValueError
        If there are fewer than three distinct codes.
    """
    if not np.isfinite(codes).all():
        return np.full((len(codes), 2), np.nan)
    different, place = np.unique(codes, axis=0, return_inverse=True)
    if len(different) < 3:
        raise ValueError(f"t-SNE needs three or more distinct codes, got {len(different)}")
    perplexity = min(PERPLEXITY, (len(different) - 1) / 3)
    plane = TSNE(perplexity=perplexity, random_state=seed, n_jobs=1).fit_transform(different)
    return np.asarray(plane, dtype=np.float64)[place.ravel()]


def class_silhouette(plane: NDArray[np.floating], labels: NDArray) -> float:
    """Return the silhouette of the classes: in [-1, 1], 1 if they are far apart.

    Parameters
    ----------
    plane
        (samples, 2)
    labels
        (samples,) the class of each sample.

    Returns
    -------
    float
        NaN for a plane that is not finite, for a single class, or if every sample is its own class.

    Examples
    --------
    >>> plane = np.repeat([[0.0, 0.0], [5.0, 5.0]], 3, axis=0)
    >>> class_silhouette(plane, np.repeat(["a", "b"], 3))
    1.0
    """
    classes = len(np.unique(labels))
    if not np.isfinite(plane).all() or not 1 < classes < len(labels):
        return float("nan")
    return float(silhouette_score(plane, labels))
