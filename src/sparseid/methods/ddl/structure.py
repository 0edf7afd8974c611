"""Identifiability theory of Diverse Dictionary Learning, as functions on 0/1 masks (NumPy).

A mask (m, n) states which of m observations reads which of n latents (Definition 2); ch(i) are the observations that
read latent i, I_k the latents that observation k reads. Two models with the same distribution of observations, the
learned one with no more edges than the truth, are related by Z = h(Z^); T = dZ / dZ^. The theorems state which entries
of T are zero once the learned latents are in the right order. Pairs (i, j) below are (true latent, learned latent in
that order), and all numbers count from 0.

Reading and matching of masks, Sufficient Diversity and atomic regions are in `sparseid.masks`, which data sets can
import as well, and are re-exported here.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sparseid.masks import (
    Evidence,
    Mask,
    as_mask,
    crowd,
    evidence,
    perfect_matching,
    read_mask,
    regions,
    sufficiently_diverse,
)

__all__ = [
    "Evidence",
    "Mask",
    "Separation",
    "as_mask",
    "atomic_regions",
    "crowd",
    "dependency_structure",
    "evidence",
    "implications",
    "indeterminacy",
    "index_set",
    "keeps_support",
    "perfect_matching",
    "read_mask",
    "regions",
    "separated_by",
    "separation",
    "structurally_sparse",
    "sufficiently_diverse",
]

Pairs = NDArray[np.bool_]
"""(n, n) bool: entry (i, j) concerns true latent i and learned latent j."""


class Separation(NamedTuple):
    """Proof that a true latent does not depend on a learned one: the condition of Definition 5, and the sets.

    Attributes
    ----------
    condition
        intersection (i), symmetric difference (ii) or complement (iii). (ii) requires independent latents.
    first, second
        The observations X_K and X_V.
    """

    condition: str
    first: int
    second: int


def dependency_structure(jacobians: NDArray[np.floating], threshold: float = 0.0) -> Mask:
    """Return (m, n) bool: whether entries of a Jacobian exceed a threshold anywhere (Definitions 1 and 2).

    Parameters
    ----------
    jacobians
        (..., m, n), at any number of points.
    threshold
        Absolute value up to which an entry counts as zero.

    Examples
    --------
    >>> dependency_structure(np.array([[[0.0, 2.0]], [[0.0, 0.0]]])).tolist()
    [[False, True]]
    """
    somewhere = (np.abs(jacobians) > threshold).any(axis=tuple(range(np.ndim(jacobians) - 2)))
    return np.asarray(somewhere)


def index_set(mask: Mask, observations: Sequence[int]) -> NDArray[np.bool_]:
    """Return (n,) bool: the latents that any of the observations reads (Definition 4).

    Examples
    --------
    >>> index_set(as_mask([[1, 0, 0], [0, 1, 0]]), [0, 1]).tolist()
    [True, True, False]
    """
    return np.asarray(mask[list(observations)].any(axis=0))


def separated_by(mask: Mask, first: Sequence[int], second: Sequence[int]) -> dict[str, Pairs]:
    """Return the pairs that two sets of observations X_K and X_V separate, by the condition (Definition 5).

    With I_K and I_V their latents, Z_i does not depend on Z^_j if

    * intersection (i): i is in both, j in only one of them;
    * symmetric difference (ii): i is in only one of them, j in both;
    * complement (iii): i is in only one of them, j in only the other.

    Examples
    --------
    >>> {name: np.argwhere(p).tolist() for name, p in separated_by(as_mask([[1, 0], [1, 1]]), [0], [1]).items()}
    {'intersection': [[0, 1]], 'symmetric difference': [[1, 0]], 'complement': []}
    """
    k, v = index_set(mask, first), index_set(mask, second)
    both, one, only_k, only_v = k & v, k ^ v, k & ~v, v & ~k
    return {
        "intersection": np.outer(both, one),
        "symmetric difference": np.outer(one, both),
        "complement": np.outer(only_k, only_v) | np.outer(only_v, only_k),
    }


def implications(mask: Mask, first: Sequence[int], second: Sequence[int]) -> dict[str, Pairs]:
    """Return the pairs that two sets of observations separate, by their practical meaning (Proposition 1).

    * object-centric: i belongs to one set of observations, j to only the other;
    * individual-centric: i belongs to only one of them, j to the other;
    * shared-centric: i belongs to both, j to only one of them.
    """
    k, v = index_set(mask, first), index_set(mask, second)
    only_k, only_v = k & ~v, v & ~k
    return {
        "object-centric": np.outer(k, only_v) | np.outer(v, only_k),
        "individual-centric": np.outer(only_k, v) | np.outer(only_v, k),
        "shared-centric": np.outer(k & v, only_k | only_v),
    }


def separation(mask: Mask, latent: int, other: int) -> Separation | None:
    """Return the proof that a true latent i does not depend on a learned one j; None if no two sets give one.

    Two single observations suffice for any pair of sets: i and j are separated if and only if both are read, and not by
    the same observations. Conditions (i) and (iii), which also hold for dependent latents, are preferred to (ii).

    Examples
    --------
    >>> lower_triangular = as_mask([[1, 0], [1, 1]])
    >>> separation(lower_triangular, 0, 1), separation(lower_triangular, 1, 0).condition
    (Separation(condition='intersection', first=1, second=0), 'symmetric difference')
    """
    mine, others = mask[:, latent], mask[:, other]
    if not mine.any() or not others.any():
        return None
    only_mine, only_others = np.flatnonzero(mine & ~others), np.flatnonzero(others & ~mine)
    if only_mine.size and only_others.size:
        return Separation("complement", int(only_mine[0]), int(only_others[0]))
    if only_mine.size:  # every observation that reads j reads i
        return Separation("intersection", int(np.flatnonzero(others)[0]), int(only_mine[0]))
    if only_others.size:
        return Separation("symmetric difference", int(np.flatnonzero(mine)[0]), int(only_others[0]))
    return None


def indeterminacy(mask: Mask) -> Pairs:
    """Return the pairs that some two sets of observations separate (set-theoretic indeterminacy, Theorem 1).

    These are pairs of latents in different atomic regions: both are read, and not by the same observations.

    Examples
    --------
    >>> indeterminacy(as_mask([[1, 1, 0], [1, 1, 1]])).astype(int).tolist()
    [[0, 0, 1], [0, 0, 1], [1, 1, 0]]
    """
    read = mask.any(axis=0)
    different = (mask[:, :, None] != mask[:, None, :]).any(axis=0)
    return np.asarray(different & np.outer(read, read))


def keeps_support(mask: Mask) -> Pairs:
    """Return the entries of T that may be non-zero without a new edge in the Jacobian: rule (R), ch(i) within ch(j).

    This follows from the structure alone, whatever the latents' distribution: conditions (i) and (iii) and clause
    3 of Sufficient Diversity are consequences, condition (ii) is not. A matrix T with this pattern, and for
    generic values no other, has supp(J T) within supp(J).

    Examples
    --------
    >>> keeps_support(as_mask([[1, 0], [1, 1]])).astype(int).tolist()
    [[1, 0], [1, 1]]
    """
    return np.asarray(~(mask[:, :, None] & ~mask[:, None, :]).any(axis=0))


def atomic_regions(mask: Mask, observations: Sequence[int] | None = None) -> list[list[int]]:
    """Return the atomic regions of the Venn diagram of the observations' latents (section 3.2).

    A region is a set of latents that are read by the same (one or more) of these observations. If every latent is
    read, each region is identified as a block: its latents may be mixed only with each other.

    Parameters
    ----------
    mask
        (m, n)
    observations
        Observations whose latents are the sets; None for all.

    Examples
    --------
    >>> three_sets = as_mask([[1, 0, 0, 1, 1, 0, 1], [0, 1, 0, 1, 0, 1, 1], [0, 0, 1, 0, 1, 1, 1]])
    >>> atomic_regions(three_sets, [0, 1])
    [[0, 4], [1, 5], [3, 6]]
    """
    return regions(mask if observations is None else mask[list(observations)])


def structurally_sparse(mask: Mask) -> bool:
    """Return whether clause 3 of Sufficient Diversity holds for every latent (structural sparsity, Zheng et al. 2022).

    This is so if and only if no latent's observations are a subset of another's.

    Examples
    --------
    >>> structurally_sparse(as_mask([[1, 0], [0, 1]])), structurally_sparse(as_mask([[1, 0], [1, 1]]))
    (True, False)
    """
    return all(any(one.clause == 3 for one in found) for found in evidence(mask))
