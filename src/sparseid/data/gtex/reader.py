"""Reading single cells from an ``.h5ad`` file: expression, genes, and which type each cell is of."""

from __future__ import annotations

import re
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import sparse

from sparseid.errors import InputError

FEWEST_CELLS = 4
"""Cells of a type of which two train, one validates and one tests."""

COUNTS_PER_CELL = 1e4
"""Counts are scaled to this sum per cell before the logarithm, as is usual."""

NO_TYPE = -1
"""Stands for a cell whose type is not used."""


@dataclass(frozen=True, eq=False)
class Cells:
    """Cells of a file, those of unused types too: they are still neighbours of others.

    Attributes
    ----------
    expression
        (cells, genes) log(1 + scaled counts), sparse, float32.
    genes
        Gene names, in the order of the columns.
    types
        Names of the types that are used, sorted.
    codes
        (cells,) number of the type of each cell, -1 if it is not used.
    components
        (cells, components) principal components stored in the file, or None.
    """

    expression: sparse.csr_matrix
    genes: tuple[str, ...]
    types: tuple[str, ...]
    codes: NDArray[np.int64]
    components: NDArray[np.float32] | None

    @property
    def population(self) -> NDArray[np.int64]:
        """(types,) cells of each type."""
        return np.bincount(self.codes[self.codes != NO_TYPE], minlength=len(self.types))


def read_cells(
    path: Path,
    groupby: str,
    include_regex: str = "",
    exclude: Sequence[str] = (),
    matrix: str = "X",
    counts: bool = False,
) -> Cells:
    """Read a file.

    Parameters
    ----------
    path
        An ``.h5ad`` file.
    groupby
        Column of ``obs`` that holds the types.
    include_regex, exclude
        Which types are used: those in whose name the expression is found, without those listed.
    matrix
        ``X``, or ``raw`` for the matrix before scaling.
    counts
        Whether the matrix holds counts, to be scaled and logged here.

    Raises
    ------
    InputError
        If the file cannot be read, has no such column or matrix, values that are not finite or negative, or fewer than
        two types of at least four cells each.
    """
    data = open_cells(path)
    types, codes = select_types(column(data.obs, groupby, path), include_regex, exclude, groupby)
    if matrix == "raw" and data.raw is None:
        raise InputError(f"{path} has no raw matrix")
    source = data.raw if matrix == "raw" else data
    genes = tuple(map(str, source.var_names))
    expression = sparse.csr_matrix(source.X, dtype=np.float32)
    check_values(expression, genes, path)
    if counts:
        total = np.asarray(expression.sum(axis=1)).ravel()
        scale = np.divide(COUNTS_PER_CELL, total, out=np.zeros_like(total), where=total > 0)
        expression = sparse.csr_matrix(sparse.diags(scale) @ expression, dtype=np.float32)
        np.log1p(expression.data, out=expression.data)
    components = np.asarray(data.obsm["X_pca"], np.float32) if "X_pca" in data.obsm else None
    return Cells(expression, genes, types, codes, components)


def open_cells(path: Path) -> Any:
    """Return the whole file as an ``AnnData``; InputError if it is not one."""
    import anndata  # takes a second to import

    if not path.is_file():
        raise InputError(f"there is no file {path}", ("data.path",))
    try:
        with warnings.catch_warnings(action="ignore"):  # of files in older layouts, which are read all the same
            return anndata.read_h5ad(path)
    except Exception as error:  # whatever HDF5 and anndata raise at a file that is damaged or something else
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise InputError(f"{path} cannot be read as an .h5ad file: {reason}", ("data.path",)) from error


def column(obs: pd.DataFrame, groupby: str, path: Path) -> pd.Series:
    """Return a column of cell annotations; an unknown one is answered with the nearest names."""
    if groupby in obs.columns:
        return obs[groupby]
    lowered = {str(name).lower(): str(name) for name in obs.columns}
    near = [lowered[name] for name in get_close_matches(groupby.lower(), lowered, 3, 0.5)]
    labels = [str(name) for name in obs.columns if not pd.api.types.is_numeric_dtype(obs[name])]
    hint = f"did you mean: {', '.join(near)}" if near else f"columns of labels: {', '.join(labels) or 'none'}"
    raise InputError(f"{path} has no column {groupby!r} of cell types; {hint}", ("data.groupby",))


def select_types(
    labels: pd.Series, include_regex: str, exclude: Sequence[str], groupby: str
) -> tuple[tuple[str, ...], NDArray[np.int64]]:
    """Return the names of the types used, sorted, and (cells,) their numbers, -1 for other cells.

    Raises
    ------
    InputError
        If the expression is none, fewer than two types are left, or a type has fewer than four cells.
    """
    try:
        pattern = re.compile(include_regex)
    except re.error as error:
        text = f"data.include_regex={include_regex} is no regular expression: {error}"
        raise InputError(text, ("data.include_regex",)) from error
    names = labels.astype("string")
    counts = names.value_counts()
    used = sorted(name for name in counts.index if pattern.search(name) and name not in exclude)
    if len(used) < 2:
        found = ", ".join(sorted(counts.index)) or "none"
        text = f"a tree of cell types needs two, {len(used)} are left of column {groupby!r} (types: {found})"
        raise InputError(text, ("data.groupby", "data.include_regex", "data.exclude"))
    if small := [f"{name} ({counts[name]})" for name in used if counts[name] < FEWEST_CELLS]:
        text = f"types of fewer than {FEWEST_CELLS} cells cannot be split into training, validation and test: "
        raise InputError(f"{text}{', '.join(small)}; list them in data.exclude", ("data.exclude", "data.groupby"))
    return tuple(used), pd.Categorical(names, categories=used).codes.astype(np.int64)


def check_values(expression: sparse.csr_matrix, genes: Sequence[str], path: Path) -> None:
    """Refuse values that are not finite, or negative: counts and their logarithms are neither."""
    for wrong, what, hint in (
        (~np.isfinite(expression.data), "NaN or infinite", "the file is damaged or was made with missing values"),
        (expression.data < 0, "negative", "scaled expression cannot be smoothed; counts or their logarithm are needed"),
    ):
        if wrong.any():
            first = int(expression.indices[np.argmax(wrong)])
            text = f"{path} has {np.count_nonzero(wrong)} {what} values, the first in gene {genes[first]}: {hint}"
            raise InputError(text, ("data.path",))


def gene_columns(genes: Sequence[str], wanted: Sequence[str], path: Path, key: str) -> NDArray[np.int64]:
    """Return the columns of genes by name.

    Raises
    ------
    InputError
        If a gene is missing, with the nearest names, or occurs twice.
    """
    places: dict[str, list[int]] = {name: [] for name in wanted}
    for number, name in enumerate(genes):
        if name in places:
            places[name].append(number)
    if missing := [name for name, found in places.items() if not found]:
        near = {name: get_close_matches(name, genes, 1, 0.7) for name in missing[:3]}
        hints = "".join(f"; did you mean {found[0]} for {name}?" for name, found in near.items() if found)
        raise InputError(f"{path} has no gene {', '.join(missing)}{hints}", (key,))
    if double := [name for name, found in places.items() if len(found) > 1]:
        text = f"{path} has several columns named {', '.join(double)}: make the gene names unique"
        raise InputError(text, (key,))
    return np.array([places[name][0] for name in wanted], np.int64)
