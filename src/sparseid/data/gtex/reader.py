"""Reader of single cells in an ``.h5ad`` file: expression, genes and the type of each cell."""

from __future__ import annotations

import re
from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import sparse

from sparseid.data.h5ad import H5ad, open_h5ad
from sparseid.data.tables.numbers import says_missing
from sparseid.errors import InputError

FEWEST_CELLS = 4
"""Minimum number of cells of a type: two for training, one each for validation and test."""

COUNTS_PER_CELL = 1e4
"""Counts are scaled to this sum per cell before the logarithm, the usual normalisation."""

NO_TYPE = -1
"""Marks a cell whose type is not used."""

LISTED = 10
"""Maximum number of names in a message."""

WHOLE_AT_ONCE = 2**20
"""Number of values examined first: among so many logarithms hardly all are whole numbers."""


@dataclass(frozen=True, eq=False)
class Header:
    """Metadata of a file, without its values.

    Attributes
    ----------
    obs
        Annotations of the cells.
    genes
        Gene names, in the order of the columns of the chosen matrix.
    """

    obs: pd.DataFrame
    genes: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class Cells:
    """Cells of a file, including those of unused types, which are still neighbours of others.

    Attributes
    ----------
    expression
        (cells, genes) log(1 + scaled counts), sparse, float32.
    genes
        Gene names, in the order of the columns.
    types
        Names of the types used, sorted.
    codes
        (cells,) number of the type of each cell, -1 if it is not used.
    components
        (cells, components) principal components stored in the file, or None.
    """

    expression: sparse.csr_matrix
    genes: tuple[str, ...]
    types: tuple[str, ...]
    codes: NDArray[np.int64]
    components: NDArray[np.float64] | None

    @property
    def population(self) -> NDArray[np.int64]:
        """Number of cells of each type, (types,)."""
        return np.bincount(self.codes[self.codes != NO_TYPE], minlength=len(self.types))


def read_cells(
    path: Path,
    groupby: str,
    include_regex: str = "",
    exclude: Sequence[str] = (),
    matrix: str = "X",
    counts: bool = False,
    never: Sequence[str] = (),
) -> Cells:
    """Read the cells of a file.

    Parameters
    ----------
    path
        An ``.h5ad`` file.
    groupby
        Column of ``obs`` that holds the types.
    include_regex, exclude
        Types to use: those whose name contains a match of the expression, without those listed.
    matrix
        ``X``, the name of a layer, or ``raw`` for the matrix before scaling.
    counts
        Whether the matrix holds counts, to be scaled and log-transformed here.
    never
        Further types to exclude, which need not occur.

    Raises
    ------
    InputError
        If the file cannot be read, has no such column or matrix, values that are not finite or are negative, counts
        where logarithms are expected or vice versa, or fewer than two types of at least four cells each.
    """
    with _opened(path) as file:
        place = _place(file, matrix, path)
        genes = tuple(file.column_names(place))
        labels = column(file.annotations([groupby]), groupby, path)
        types, codes = select_types(labels, include_regex, exclude, groupby, never)
        expression = sparse.csr_matrix(file.matrix(place, len(labels), len(genes)), dtype=np.float32)
        stored = file.matrix("obsm/X_pca") if file.has("obsm/X_pca") else None
        components = None if stored is None else _components(stored, len(labels), path)
    check_values(expression, genes, path)
    check_scale(expression, counts, path)
    if counts:
        total = np.asarray(expression.sum(axis=1)).ravel()
        scale = np.divide(COUNTS_PER_CELL, total, out=np.zeros_like(total), where=total > 0)
        expression = sparse.csr_matrix(sparse.diags(scale) @ expression, dtype=np.float32)
        np.log1p(expression.data, out=expression.data)
    return Cells(expression, genes, types, codes, components)


def read_header(path: Path, matrix: str = "X", groupby: str = "") -> Header:
    """Read only annotations and gene names, in a second for a file of gigabytes; arguments as in `read_cells`.

    Annotations that cannot be read are left out, except for `groupby`. Files in the layout of anndata before 0.7 are
    read completely.

    Raises
    ------
    InputError
        If the file cannot be read or has no such matrix.
    """
    with _opened(path) as file:
        genes = tuple(file.column_names(_place(file, matrix, path)))
        return Header(file.annotations([groupby]), genes)


def _opened(path: Path) -> AbstractContextManager[H5ad]:
    return open_h5ad(path, ("data.path",), "download it again, or name another with data.path or GTEX_H5AD")


def _place(file: H5ad, matrix: str, path: Path) -> str:
    """Return the element of a matrix; the error for an unknown one lists those that there are."""
    layers = file.names("layers")
    if matrix in layers and matrix != "X":
        return f"layers/{matrix}"
    places = {"X": "X", "raw": "raw/X"}
    if matrix in places and file.has(places[matrix]):
        return places[matrix]
    what = {"X": "X", "raw": "raw matrix"}.get(matrix, f"layer {matrix!r}")
    others = [name for name, place in places.items() if name != matrix and file.has(place)]
    listing = f"its layers: {listed(layers) or 'none'}"
    choice = ". Choose one with data.layer=NAME" if layers or others else ""
    also = f"; it also has {' and '.join(others)}" if others else ""
    raise InputError(f"{path} has no {what}; {listing}{also}{choice}", ("data.layer", "data.path"))


def _components(stored: Any, cells: int, path: Path) -> NDArray[np.float64]:
    """Return the principal components stored in a file; refuse those without a defined correlation."""
    points = np.asarray(stored.toarray() if sparse.issparse(stored) else stored, np.float64)
    if points.ndim != 2 or points.shape[1] < 2:
        fault = "has fewer than two columns"
    elif len(points) != cells:
        fault = f"has {len(points)} rows for {cells} cells"
    elif not np.isfinite(points).all():
        fault = f"has NaN or infinite values in {np.count_nonzero(~np.isfinite(points).all(axis=1))} cells"
    else:
        return points
    text = f"{path}: obsm['X_pca'], the basis of the tree of types, {fault}. Correct it, or delete it from the file: "
    raise InputError(f"{text}principal components are then computed here", ("data.path",))


def column(obs: pd.DataFrame, groupby: str, path: Path) -> pd.Series:
    """Return a column of cell annotations; the error for an unknown one suggests the nearest names."""
    if groupby in obs.columns:
        return obs[groupby]
    lowered = {str(name).lower(): str(name) for name in obs.columns}
    near = [lowered[name] for name in get_close_matches(groupby.lower(), lowered, 3, 0.5)]
    labels = [str(name) for name in obs.columns if not pd.api.types.is_numeric_dtype(obs[name])]
    hint = f"did you mean: {', '.join(near)}" if near else f"columns of labels: {listed(labels) or 'none'}"
    text = f"{path} has no column {groupby!r} of cell types; {hint}. Name the column with data.groupby"
    raise InputError(text, ("data.groupby",))


def select_types(
    labels: pd.Series, include_regex: str, exclude: Sequence[str], groupby: str, never: Sequence[str] = ()
) -> tuple[tuple[str, ...], NDArray[np.int64]]:
    """Return the names of the types used, sorted, and the type numbers (cells,), -1 for other cells.

    Raises
    ------
    InputError
        If the expression is invalid, an excluded type does not occur, fewer than two types remain, or a type has fewer
        than four cells.
    """
    try:
        pattern = re.compile(include_regex)
    except re.error as error:
        text = f"data.include_regex={include_regex} is not a regular expression: {error}"
        raise InputError(text, ("data.include_regex",)) from error
    names = labels.astype("string")
    names = names.mask(names.map(says_missing, na_action="ignore").fillna(True).astype(bool))
    counts = names.value_counts()
    if unknown := [name for name in exclude if name not in counts.index]:
        near = get_close_matches(unknown[0], list(counts.index), 3, 0.5)
        hint = f"did you mean: {', '.join(near)}" if near else f"types: {listed(sorted(counts.index))}"
        raise InputError(f"data.exclude: {unknown[0]!r} is not a type of column {groupby!r}; {hint}", ("data.exclude",))
    used = sorted(name for name in counts.index if pattern.search(name) and name not in (*exclude, *never))
    if len(used) < 2:
        found = listed(sorted(counts.index)) or "none"
        text = f"a tree of cell types needs two, column {groupby!r} leaves {len(used)} (types: {found})"
        raise InputError(text, ("data.groupby", "data.include_regex", "data.exclude"))
    if small := [f"{name} ({counts[name]})" for name in used if counts[name] < FEWEST_CELLS]:
        text = f"types of fewer than {FEWEST_CELLS} cells cannot be split into training, validation and test: "
        numbers = pd.api.types.is_numeric_dtype(labels)
        hint = f"column {groupby!r} holds numbers: name one of labels with data.groupby" if numbers else ""
        text += f"{listed(small)}; {hint or 'list them in data.exclude'}"
        raise InputError(text, ("data.exclude", "data.groupby"))
    return tuple(used), pd.Categorical(names, categories=used).codes.astype(np.int64)


def listed(names: Sequence[str]) -> str:
    """Return at most ten names for a message, and the number of the others."""
    more = len(names) - LISTED
    return ", ".join(names[:LISTED]) + (f" and {more} more" if more > 0 else "")


def check_scale(expression: sparse.csr_matrix, counts: bool, path: Path) -> None:
    """Refuse counts where their logarithm is expected, and vice versa."""
    values = expression.data
    whole = not np.mod(values[:WHOLE_AT_ONCE], 1).any() and not np.mod(values[WHOLE_AT_ONCE:], 1).any()
    if whole and len(values) and not counts:
        text = "holds only whole numbers: counts, where their logarithm is expected. Set data.counts=true, and they"
        raise InputError(f"{path} {text} are scaled and log-transformed here", ("data.counts",))
    if counts and not whole:
        text = "data.counts=true expects whole numbers, but values of"
        raise InputError(f"{text} {path} are not, as after a logarithm: remove data.counts", ("data.counts",))


def check_values(expression: sparse.csr_matrix, genes: Sequence[str], path: Path) -> None:
    """Refuse values that are negative or not finite: counts and their logarithms are neither."""
    for wrong, what, hint in (
        (
            ~np.isfinite(expression.data),
            "NaN or infinite",
            "the file is damaged or has missing values; download it again, or fill them",
        ),
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
        text = f"{path} has no gene {listed(missing)}{hints} (its first gene is {genes[0] if genes else 'none'})"
        raise InputError(f"{text}; set {key} to existing genes", (key,))
    if double := [name for name, found in places.items() if len(found) > 1]:
        text = f"{path} has several columns named {', '.join(double)}: make the gene names unique"
        raise InputError(text, (key,))
    return np.array([places[name][0] for name in wanted], np.int64)
