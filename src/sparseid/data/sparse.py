"""Sparse matrices of users: their index arrays, which SciPy's compiled code trusts, and repeated entries."""

from __future__ import annotations

from typing import Any

import numpy as np

from sparseid.errors import InputError


def sparse_fault(matrix: Any) -> str:
    """Return why the index arrays of a sparse matrix do not describe one; empty if they do, or there are none.

    Reading such a matrix is undefined: wrong values, or the end of the process.

    Examples
    --------
    >>> from scipy.sparse import csr_array
    >>> matrix = csr_array([[0, 1], [2, 0]])
    >>> matrix.indices[1] = 7
    >>> sparse_fault(matrix)
    'an index of a column is 7, of 2 columns'
    """
    matrix = in_memory(matrix)
    kind = getattr(matrix, "format", "")
    if kind == "coo":
        axes = zip(("row", "column"), matrix.coords, matrix.shape, strict=True)
        return next((fault for name, of_axis, size in axes if (fault := _outside(of_axis, size, name))), "")
    if kind not in ("csr", "csc"):
        return ""
    outer, inner = matrix.shape if kind == "csr" else matrix.shape[::-1]
    pointers, indices = matrix.indptr, matrix.indices
    if pointers.dtype.kind not in "iu" or indices.dtype.kind not in "iu":
        return f"indptr and indices are {pointers.dtype} and {indices.dtype}, not integers"
    if pointers.shape != (outer + 1,):
        return f"indptr is of shape {pointers.shape}, not {(outer + 1,)}"
    if indices.shape != matrix.data.shape or indices.ndim != 1:
        return f"there are indices of shape {indices.shape} for values of shape {matrix.data.shape}"
    if pointers[0] != 0 or pointers[-1] != len(indices):
        return f"indptr goes from {pointers[0]} to {pointers[-1]}, not from 0 to the {len(indices)} values"
    if (pointers[1:] < pointers[:-1]).any():
        return "indptr decreases"
    return _outside(indices, inner, "column" if kind == "csr" else "row")


def summed(matrix: Any) -> Any:
    """Return a sparse matrix whose entries at one place are added, as SciPy does, but in a type that holds the sums.

    Raises
    ------
    InputError
        If a sum of integers is beyond 64 bits.

    Examples
    --------
    >>> from scipy.sparse import csr_array
    >>> repeated = csr_array((np.array([200, 100], np.uint8), [0, 0], [0, 2]), shape=(1, 1))
    >>> repeated.toarray().item(), summed(repeated).toarray().item()
    (44, 300)
    """
    if getattr(matrix, "has_canonical_format", True):
        return matrix
    wide = {"i": np.int64, "u": np.uint64, "f": np.float64}.get(matrix.dtype.kind, matrix.dtype)
    added = matrix.astype(np.promote_types(matrix.dtype, wide), copy=True)
    added.sum_duplicates()
    if added.dtype.kind in "iu":
        about = matrix.astype(np.float64)
        about.sum_duplicates()
        if (np.abs(about.data) >= np.iinfo(added.dtype).max).any():
            raise InputError("values at one place add up to more than 64 bits hold: add them before, or rescale them")
    return added


def dense(matrix: Any) -> Any:
    """Return an array of a sparse matrix, see `summed`; anything else unchanged."""
    matrix = in_memory(matrix)
    return summed(matrix).toarray() if hasattr(matrix, "toarray") else matrix


def in_memory(matrix: Any) -> Any:
    """Return a sparse matrix of an AnnData that is still in its file (``backed``) as one of SciPy; others unchanged."""
    return matrix.to_memory() if hasattr(matrix, "to_memory") else matrix


def _outside(indices: Any, size: int, name: str) -> str:
    if not len(indices):
        return ""
    ends = int(np.min(indices)), int(np.max(indices))
    wrong = next((end for end in ends if not 0 <= end < size), None)
    return "" if wrong is None else f"an index of a {name} is {wrong}, of {size} {name}s"
