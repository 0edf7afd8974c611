"""Topics: the features with the largest weights of a latent, and their coherence."""

from __future__ import annotations

import itertools

import numpy as np
from numpy.typing import NDArray


def top_features(selector: NDArray[np.floating], count: int) -> NDArray[np.intp]:
    """Return the features with the largest absolute weights of each latent, largest first.

    Parameters
    ----------
    selector
        (features, latents)
    count
        Number of features per latent; of equal weights the first feature comes first.

    Returns
    -------
    NDArray
        (latents, count)

    Examples
    --------
    >>> top_features(np.array([[0.1, 0.0], [-2.0, 0.0], [0.5, 1.0]]), 2).tolist()
    [[1, 2], [2, 0]]
    """
    return np.argsort(-np.abs(selector), axis=0, kind="stable")[:count].T


def npmi(occurs: NDArray[np.bool_], groups: NDArray[np.integer]) -> NDArray[np.float64]:
    """Return the coherence of groups of features: their mean normalised pointwise mutual information.

    For a pair it is log(p_ij / (p_i p_j)) / -log p_ij, with the fractions p of rows in which features occur: -1 for
    features that never co-occur, 0 for independent ones, 1 for features that occur in exactly the same rows, 0 for
    features that both occur in all rows.

    Parameters
    ----------
    occurs
        (rows, features)
    groups
        (groups, members) columns of `occurs`, two or more members.

    Returns
    -------
    NDArray
        (groups,)

    Examples
    --------
    >>> occurs = np.array([[1, 1, 0], [1, 1, 0], [0, 0, 1]], dtype=bool)
    >>> npmi(occurs, np.array([[0, 1], [0, 2]])).tolist()
    [1.0, -1.0]
    """
    chosen, place = np.unique(groups, return_inverse=True)
    present = occurs[:, chosen].astype(np.float32)
    joint = (present.T @ present / len(present)).astype(np.float64)
    share = np.diag(joint)
    with np.errstate(divide="ignore", invalid="ignore"):
        pairs = np.log(joint / (share[:, None] * share)) / -np.log(joint)
    pairs = np.where(joint == 0, -1.0, np.where(joint == 1, 0.0, pairs))
    members = place.reshape(groups.shape)
    columns = itertools.combinations(range(groups.shape[1]), 2)
    return np.mean([pairs[members[:, i], members[:, j]] for i, j in columns], axis=0)
