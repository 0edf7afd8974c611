"""What a dependency structure identifies: the theory of Diverse Dictionary Learning as functions on 0/1 masks (NumPy).

A mask (m, n) says which of m observations reads which of n latents (Definition 2); ch(i) are the observations that
read latent i, I_k the latents that observation k reads. Two models with the same distribution of observations, the
learned one with no more edges than the truth, are related by Z = h(Z^); T = dZ / dZ^. What the theorems say is which
entries of T are zero once the learned latents are in the right order. Pairs (i, j) below are (true latent, learned
latent in that order), and all numbers count from 0.

Reading and matching masks, Sufficient Diversity and atomic regions stand in `sparseid.masks`, where data sets can ask
for them, too; they are offered here again.
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
"""(n, n) bool: entry (i, j) is about true latent i and learned latent j."""


class Separation(NamedTuple):
    """Why a true latent is no function of a learned one: the condition of Definition 5, and sets that show it.

    Attributes
    ----------
    condition
        intersection (i), symmetric difference (ii) or complement (iii). (ii) rests on independent latents.
    first, second
        The observations X_K and X_V.
    """

    condition: str
    first: int
    second: int


def dependency_structure(jacobians: NDArray[np.floating], threshold: float = 0.0) -> Mask:
    """Return (m, n) bool: which entries of a Jacobian are anywhere larger than a threshold (Definitions 1 and 2).

    Parameters
    ----------
    jacobians
        (..., m, n), at any number of points.
    threshold
        Size up to which an entry counts as zero.

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

    With I_K and I_V their latents, Z_i is no function of Z^_j if

    * intersection (i): i is in both, j in one of them alone;
    * symmetric difference (ii): i is in one of them alone, j in both;
    * complement (iii): i is in one of them alone, j in the other alone.

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
    """Return the pairs that two sets of observations separate, by what it means in practice (Proposition 1).

    * object-centric: i belongs to one set of observations, j to the other alone;
    * individual-centric: i belongs to one of them alone, j to the other;
    * shared-centric: i belongs to both, j to one of them alone.
    """
    k, v = index_set(mask, first), index_set(mask, second)
    only_k, only_v = k & ~v, v & ~k
    return {
        "object-centric": np.outer(k, only_v) | np.outer(v, only_k),
        "individual-centric": np.outer(only_k, v) | np.outer(only_v, k),
        "shared-centric": np.outer(k & v, only_k | only_v),
    }


def separation(mask: Mask, latent: int, other: int) -> Separation | None:
    """Return why a true latent i is no function of a learned one j; None if no two sets of observations say so.

    Two single observations say all that sets could say: i and j are separated if and only if both are read, and not by
    the same observations. Conditions (i) and (iii), which hold for dependent latents, too, are preferred to (ii).

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
    if only_mine.size:  # whatever reads j reads i
        return Separation("intersection", int(np.flatnonzero(others)[0]), int(only_mine[0]))
    if only_others.size:
        return Separation("symmetric difference", int(np.flatnonzero(mine)[0]), int(only_others[0]))
    return None


def indeterminacy(mask: Mask) -> Pairs:
    """Return the pairs that some two sets of observations separate (set-theoretic indeterminacy, Theorem 1).

    They are those of latents in different atomic regions: both are read, and not by the same observations.

    Examples
    --------
    >>> indeterminacy(as_mask([[1, 1, 0], [1, 1, 1]])).astype(int).tolist()
    [[0, 0, 1], [0, 0, 1], [1, 1, 0]]
    """
    read = mask.any(axis=0)
    different = (mask[:, :, None] != mask[:, None, :]).any(axis=0)
    return np.asarray(different & np.outer(read, read))


def keeps_support(mask: Mask) -> Pairs:
    """Return where T may be non-zero without a new edge in the Jacobian: rule (R), ch(i) is a subset of ch(j).

    This much follows from the structure alone, whatever the latents' distribution: conditions (i) and (iii) and clause
    3 of Sufficient Diversity are consequences, condition (ii) is not. A matrix T with this pattern, and no other for
    generic values, has supp(J T) within supp(J).

    Examples
    --------
    >>> keeps_support(as_mask([[1, 0], [1, 1]])).astype(int).tolist()
    [[1, 0], [1, 1]]
    """
    return np.asarray(~(mask[:, :, None] & ~mask[:, None, :]).any(axis=0))


def atomic_regions(mask: Mask, observations: Sequence[int] | None = None) -> list[list[int]]:
    """Return the atomic regions of the Venn diagram of the observations' latents (section 3.2).

    A region is a set of latents that the same of these observations read, at least one of them. If every latent is
    read, each region is identified as a block: its latents may be mixed with each other and with no others.

    Parameters
    ----------
    mask
        (m, n)
    observations
        Whose latents are the sets; all of them if None.

    Examples
    --------
    >>> three_sets = as_mask([[1, 0, 0, 1, 1, 0, 1], [0, 1, 0, 1, 0, 1, 1], [0, 0, 1, 0, 1, 1, 1]])
    >>> atomic_regions(three_sets, [0, 1])
    [[0, 4], [1, 5], [3, 6]]
    """
    return regions(mask if observations is None else mask[list(observations)])


def structurally_sparse(mask: Mask) -> bool:
    """Whether clause 3 of Sufficient Diversity holds for every latent (structural sparsity, Zheng et al. 2022).

    It is so if and only if no latent's observations are a subset of another's.

    Examples
    --------
    >>> structurally_sparse(as_mask([[1, 0], [0, 1]])), structurally_sparse(as_mask([[1, 0], [1, 1]]))
    (True, False)
    """
    return all(any(one.clause == 3 for one in found) for found in evidence(mask))
