"""Reading single cells from an ``.h5ad`` file: expression, genes, and which type each cell is of."""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import sparse

from sparseid.data.paths import unusable
from sparseid.errors import InputError

FEWEST_CELLS = 4
"""Cells of a type of which two train, one validates and one tests."""

COUNTS_PER_CELL = 1e4
"""Counts are scaled to this sum per cell before the logarithm, as is usual."""

NO_TYPE = -1
"""Stands for a cell whose type is not used."""

LISTED = 10
"""Names that a message lists at most."""

WHOLE_AT_ONCE = 2**20
"""Values that are looked at first: in a logarithm one of them is hardly a whole number."""


class UnreadableError(InputError):
    """A file that could not be read this time; other faults lie in what it holds and stay until it changes."""


@dataclass(frozen=True, eq=False)
class Header:
    """What a file says without its values.

    Attributes
    ----------
    obs
        Annotations of the cells.
    genes
        Gene names, in the order of the columns of the matrix asked for.
    """

    obs: pd.DataFrame
    genes: tuple[str, ...]


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
    never: Sequence[str] = (),
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
    never
        Types that are left out, too, and that need not occur.

    Raises
    ------
    InputError
        If the file cannot be read, has no such column or matrix, values that are not finite or negative, counts where
        logarithms are expected or the other way round, or fewer than two types of at least four cells each.
    """
    data = open_cells(path)
    header = _header(data, matrix, path)
    types, codes = select_types(column(header.obs, groupby, path), include_regex, exclude, groupby, never)
    genes = header.genes
    expression = sparse.csr_matrix((data.raw if matrix == "raw" else data).X, dtype=np.float32)
    check_values(expression, genes, path)
    check_scale(expression, counts, path)
    if counts:
        total = np.asarray(expression.sum(axis=1)).ravel()
        scale = np.divide(COUNTS_PER_CELL, total, out=np.zeros_like(total), where=total > 0)
        expression = sparse.csr_matrix(sparse.diags(scale) @ expression, dtype=np.float32)
        np.log1p(expression.data, out=expression.data)
    components = _components(data.obsm["X_pca"], path) if "X_pca" in data.obsm else None
    return Cells(expression, genes, types, codes, components)


def read_header(path: Path, matrix: str = "X") -> Header:
    """Read annotations and gene names only, which takes a second for a file of gigabytes; arguments as `read_cells`.

    Files in the layout of anndata before 0.7 are read whole.
    """
    import h5py
    from anndata.io import read_elem

    with _refused(path), h5py.File(path) as file:
        if "encoding-type" in file["obs"].attrs:
            place = "raw/var" if matrix == "raw" else "var"
            if place in file:
                return Header(read_elem(file["obs"]), tuple(map(str, read_elem(file[place]).index)))
    return _header(open_cells(path), matrix, path)


def open_cells(path: Path) -> Any:
    """Return the whole file as an ``AnnData``; UnreadableError if it is not one."""
    import anndata  # takes a second to import

    with _refused(path):
        return anndata.read_h5ad(path)


@contextmanager
def _refused(path: Path) -> Iterator[None]:
    """Turn whatever HDF5 and anndata raise at a file that is damaged or something else into an UnreadableError."""
    import h5py

    if reason := unusable(path):
        raise UnreadableError(f"{path} {reason}", ("data.path",))
    if not h5py.is_hdf5(path):
        text = "it is no HDF5 file, whatever its name. Download it again, or name another with data.path or GTEX_H5AD"
        raise UnreadableError(f"{path} cannot be read as an .h5ad file: {text}", ("data.path",))
    try:
        with warnings.catch_warnings(action="ignore"):  # of files in older layouts, which are read all the same
            yield
    except Exception as error:
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        text = f"{path} cannot be read as an .h5ad file: {reason}. It may be damaged: download it again"
        raise UnreadableError(text, ("data.path",)) from error


def _header(data: Any, matrix: str, path: Path) -> Header:
    if matrix == "raw" and data.raw is None:
        raise InputError(f"{path} has no raw matrix", ("data.source",))
    return Header(data.obs, tuple(map(str, (data.raw if matrix == "raw" else data).var_names)))


def _components(stored: Any, path: Path) -> NDArray[np.float32]:
    """Return the principal components stored in a file; refuse those that no correlation can be computed of."""
    points = np.asarray(stored.toarray() if sparse.issparse(stored) else stored, np.float32)
    if points.ndim != 2 or points.shape[1] < 2:
        fault = "has fewer than two columns"
    elif not np.isfinite(points).all():
        fault = f"has NaN or infinite values in {np.count_nonzero(~np.isfinite(points).all(axis=1))} cells"
    else:
        return points
    text = f"{path}: obsm['X_pca'], of which the tree of types is made, {fault}. Mend it, or delete it from the file: "
    raise InputError(f"{text}principal components are then computed here", ("data.path",))


def column(obs: pd.DataFrame, groupby: str, path: Path) -> pd.Series:
    """Return a column of cell annotations; an unknown one is answered with the nearest names."""
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
    """Return the names of the types used, sorted, and (cells,) their numbers, -1 for other cells.

    Raises
    ------
    InputError
        If the expression is none, an excluded type does not occur, fewer than two types are left, or a type has fewer
        than four cells.
    """
    try:
        pattern = re.compile(include_regex)
    except re.error as error:
        text = f"data.include_regex={include_regex} is no regular expression: {error}"
        raise InputError(text, ("data.include_regex",)) from error
    names = labels.astype("string")
    counts = names.value_counts()
    if unknown := [name for name in exclude if name not in counts.index]:
        near = get_close_matches(unknown[0], list(counts.index), 3, 0.5)
        hint = f"did you mean: {', '.join(near)}" if near else f"types: {listed(sorted(counts.index))}"
        raise InputError(f"data.exclude: {unknown[0]!r} is no type of column {groupby!r}; {hint}", ("data.exclude",))
    used = sorted(name for name in counts.index if pattern.search(name) and name not in (*exclude, *never))
    if len(used) < 2:
        found = listed(sorted(counts.index)) or "none"
        text = f"a tree of cell types needs two, {len(used)} are left of column {groupby!r} (types: {found})"
        raise InputError(text, ("data.groupby", "data.include_regex", "data.exclude"))
    if small := [f"{name} ({counts[name]})" for name in used if counts[name] < FEWEST_CELLS]:
        text = f"types of fewer than {FEWEST_CELLS} cells cannot be split into training, validation and test: "
        numbers = pd.api.types.is_numeric_dtype(labels)
        hint = f"column {groupby!r} holds numbers: name one of labels with data.groupby" if numbers else ""
        text += f"{listed(small)}; {hint or 'list them in data.exclude'}"
        raise InputError(text, ("data.exclude", "data.groupby"))
    return tuple(used), pd.Categorical(names, categories=used).codes.astype(np.int64)


def listed(names: Sequence[str]) -> str:
    """Return names for a message: at most ten, and how many more there are."""
    more = len(names) - LISTED
    return ", ".join(names[:LISTED]) + (f" and {more} more" if more > 0 else "")


def check_scale(expression: sparse.csr_matrix, counts: bool, path: Path) -> None:
    """Refuse counts where their logarithm is expected, and the other way round."""
    values = expression.data
    whole = not np.mod(values[:WHOLE_AT_ONCE], 1).any() and not np.mod(values[WHOLE_AT_ONCE:], 1).any()
    if whole and len(values) and not counts:
        text = "holds whole numbers only: counts, where their logarithm is expected. Write data.counts=true, and they"
        raise InputError(f"{path} {text} are scaled and logged here", ("data.counts",))
    if counts and not whole:
        text = "data.counts=true expects whole numbers, but values of"
        raise InputError(f"{text} {path} are none, as after a logarithm: leave data.counts out", ("data.counts",))


def check_values(expression: sparse.csr_matrix, genes: Sequence[str], path: Path) -> None:
    """Refuse values that are not finite, or negative: counts and their logarithms are neither."""
    for wrong, what, hint in (
        (
            ~np.isfinite(expression.data),
            "NaN or infinite",
            "the file is damaged or was made with missing values; download it again, or fill them",
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
        raise InputError(f"{text}; set {key} to genes that it has", (key,))
    if double := [name for name, found in places.items() if len(found) > 1]:
        text = f"{path} has several columns named {', '.join(double)}: make the gene names unique"
        raise InputError(text, (key,))
    return np.array([places[name][0] for name in wanted], np.int64)
