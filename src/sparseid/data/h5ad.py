"""The h5ad files of users: annotations, names and matrices, each read when it is needed: others may be unreadable."""

from __future__ import annotations

import warnings
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager, suppress
from itertools import zip_longest
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from sparseid.data.paths import unusable
from sparseid.data.sparse import sparse_fault, summed
from sparseid.errors import InputError
from sparseid.optional import absence


class UnreadableError(InputError):
    """A file that cannot be read now; other errors concern its content and persist until it changes."""


@contextmanager
def open_h5ad(path: Path, keys: tuple[str, ...], remedy: str = "copy it again") -> Iterator[H5ad]:
    """Open a file; turn the errors of HDF5 and anndata for a damaged or foreign one into an UnreadableError.

    Parameters
    ----------
    path
        The file.
    keys
        Settings at fault if it cannot be read.
    remedy
        Remedy for a damaged file.

    Raises
    ------
    InputError
        If the file, or an element that is read within the context, cannot be read.
    """
    import h5py

    if missing := absence("anndata", "cells"):
        raise UnreadableError(f"{path} cannot be read: {missing}", keys)
    if reason := unusable(path):
        raise UnreadableError(f"{path} {reason}", keys)
    unreadable = f"{path} cannot be read as an .h5ad file"
    if not h5py.is_hdf5(path):
        raise UnreadableError(f"{unreadable}: it is not an HDF5 file, or truncated: {remedy}", keys)
    try:
        with warnings.catch_warnings(action="ignore"), h5py.File(path) as file:  # about older layouts
            yield H5ad(file, path, keys, remedy)
    except (InputError, MemoryError):
        raise
    except Exception as error:
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise UnreadableError(f"{unreadable}: {reason}. It may be damaged: {remedy}", keys) from error


class H5ad:
    """Elements of an open file.

    Parameters
    ----------
    file
        An open file of h5py.
    path, keys, remedy
        As of `open_h5ad`.
    """

    def __init__(self, file: Any, path: Path, keys: tuple[str, ...], remedy: str) -> None:
        import anndata  # takes a second to import

        self._file, self._path, self._keys, self._remedy = file, path, keys, remedy
        if missing := [name for name in ("obs", "var") if name not in file]:
            text = f"it has no {' and no '.join(missing)}: write it with anndata"
            raise UnreadableError(f"{path} cannot be read as an .h5ad file: {text}", keys)
        old = "encoding-type" not in file["obs"].attrs  # layout of anndata before 0.7, whose elements say less
        self._whole = anndata.read_h5ad(path) if old else None

    def names(self, group: str) -> list[str]:
        """Return the names of the matrices in a group, such as ``layers``."""
        if self._whole is not None:
            return list(getattr(self._whole, group))
        return list(self._file[group]) if group in self._file else []

    def has(self, place: str) -> bool:
        """Return whether there is a matrix, such as ``X``, ``raw/X`` or ``layers/counts``."""
        group, _, name = place.partition("/")
        if group in ("layers", "obsm"):
            return name in self.names(group)
        if place not in ("X", "raw/X"):
            return False
        if self._whole is not None:
            return getattr(self._whole, group) is not None
        return place in self._file and _text(self._file[place].attrs.get("encoding-type")) != "null"

    def row_names(self) -> list[str]:
        """Return the names of the rows."""
        return self._index("obs")

    def column_names(self, place: str) -> list[str]:
        """Return the names of the columns of a matrix, which is not one of ``obsm``."""
        return self._index("raw/var" if place == "raw/X" else "var")

    def annotations(self, needed: Collection[str] = ()) -> pd.DataFrame:
        """Return the annotations of the rows that can be read; an error if one of `needed` is not among them."""
        if self._whole is not None:
            return self._whole.obs
        stored = self._file["obs"]
        if _text(stored.attrs["encoding-version"]) == "0.1.0":  # categories are stored elsewhere
            return self._read("obs")
        rows, columns = None, {}
        with suppress(Exception):
            rows = len(self.row_names())
        for name in map(_text, stored.attrs["column-order"]):
            try:
                column = self._read(f"obs/{name}")
            except Exception:
                if name in needed:
                    raise
            else:
                if name in needed or rows in (None, len(column)):
                    columns[name] = column
        return pd.DataFrame(columns)

    def matrix(self, place: str, rows: int | None = None, columns: int | None = None) -> Any:
        """Return a matrix, an array or a sparse matrix that has one value for each of its places.

        Parameters
        ----------
        place
            Its element.
        rows, columns
            Its shape; None if any is right.

        Raises
        ------
        InputError
            If it is of another shape or not of real numbers, or its index arrays are damaged.
        """
        wanted = rows, columns
        self._check_shape(place, self._stored_shape(place), wanted)  # it may be too large to be read
        values = self._read(place)
        self._check_shape(place, values.shape, wanted)
        if fault := sparse_fault(values):
            text = f"{self._path}: its {place} is no sparse matrix: {fault}"
            raise InputError(f"{text}. The file is damaged, {self._remedy}", self._keys)
        if (kind := getattr(values, "dtype", np.dtype(float))).kind not in "fiub":
            raise InputError(f"{self._path}: its {place} has values of type {kind}, not numbers", self._keys)
        try:
            return summed(values)
        except InputError as error:
            raise InputError(f"{self._path}: its {place}: {error}", self._keys) from error

    def _stored_shape(self, place: str) -> Sequence[int] | None:
        if self._whole is not None:
            return None
        stored = self._file[place]
        shape: Sequence[int] | None = stored.attrs.get("shape", getattr(stored, "shape", None))
        return shape

    def _check_shape(self, place: str, shape: Sequence[int] | None, wanted: tuple[int | None, int | None]) -> None:
        if shape is None or all(want in (None, found) for want, found in zip_longest(wanted, shape)):
            return
        named = " and ".join(f"{n} {axis}" for n, axis in zip(wanted, ("cells", "genes"), strict=True) if n is not None)
        text = f"{self._path} has {named}, but its {place} is of shape {tuple(map(int, shape))}"
        raise InputError(f"{text}: the file is damaged, {self._remedy}", self._keys)

    def _index(self, frame: str) -> list[str]:
        if self._whole is not None:
            owner = self._whole.raw if frame == "raw/var" else self._whole
            return [str(name) for name in (owner.obs_names if frame == "obs" else owner.var_names)]
        return [str(name) for name in self._read(f"{frame}/{_text(self._file[frame].attrs['_index'])}")]

    def _read(self, place: str) -> Any:
        from anndata.io import read_elem

        if self._whole is not None:
            group, _, name = place.partition("/")
            whole = getattr(self._whole, group)
            return whole if not name else whole.X if group == "raw" else whole[name]
        try:
            return _decoded(read_elem(self._file[place]))
        except Exception as error:
            raise ValueError(f"{place}: {error}") from error


def _text(value: Any) -> str:
    """Return a text, which files of other programs hold as bytes."""
    return value.decode("utf-8") if isinstance(value, bytes) else str(value)


def _decoded(values: Any) -> Any:
    """Return a column or names with texts for bytes, anything else unchanged."""
    if isinstance(values, pd.Categorical):
        return values.rename_categories(_decoded(np.asarray(values.categories)))
    if isinstance(values, np.ndarray) and values.dtype.kind in "SO" and any(isinstance(one, bytes) for one in values):
        return np.array([_text(one) for one in values], object)
    return values
