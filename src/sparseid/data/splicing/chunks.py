"""SpliceAI's h5 files, read a chunk at a time."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sparseid.data.paths import unusable
from sparseid.errors import InputError

KEYS = ("data.path",)
CLASSES = 3
FEWEST_SITES = 20
"""Splice sites of a class in a chunk from which the order of channels is checked."""
CANONICAL = {1: ("AG", (-2, -1)), 2: ("GT", (1, 2))}
"""Class -> bases next to nearly all of its sites, and where: an acceptor is the first base of an exon, a donor the
last."""


class Chunk(NamedTuple):
    """Sequences of a chunk.

    Attributes
    ----------
    bases : (n, context + length + context, 4) uint8
        One-hot in the order A, C, G, T; N and positions beyond the transcript are zeros.
    labels : (n, length) uint8
        0 for none, 1 for acceptor, 2 for donor.
    """

    bases: NDArray[np.uint8]
    labels: NDArray[np.uint8]


class ChunkFile:
    """A file with arrays ``X<i>`` (n, context + length + context, 4) and ``Y<i>`` (1, n, length, 3), i from 0.

    Parameters
    ----------
    path
        The file.
    length, context
        Numbers of labelled nucleotides, and of those on either side.

    Attributes
    ----------
    sizes : (chunks,) int64
        Number of sequences of each chunk.

    Raises
    ------
    InputError
        If the file cannot be read, or an array is missing, empty or of another shape.
    """

    def __init__(self, path: Path, length: int, context: int) -> None:
        self.path, self.length, self.context = path, length, context
        with self._opened() as file:
            chunks = sum(name.startswith("X") for name in file)
            if not chunks:
                raise InputError(f"{path} has no arrays X0, Y0: it is not a file of SpliceAI's data sets", KEYS)
            self.sizes = np.array([self._size(file, number) for number in range(chunks)])
        self.chunk = lru_cache(maxsize=2)(self._chunk)

    @contextmanager
    def _opened(self) -> Iterator[Any]:
        import h5py

        if reason := unusable(self.path):
            raise InputError(f"{self.path} {reason}", KEYS)
        try:
            with h5py.File(self.path) as file:
                yield file
        except (OSError, RuntimeError) as error:
            reason = str(error).splitlines()[0]
            text = f"{self.path} cannot be read as an h5 file: {reason}. It may be truncated: copy it again"
            raise InputError(text, KEYS) from error

    def _size(self, file: Any, number: int) -> int:
        """Return the number of sequences of a chunk whose arrays have the right shapes."""
        names = f"X{number}", f"Y{number}"
        if missing := [name for name in names if name not in file]:
            raise InputError(f"{self.path} has no array {missing[0]}: it is incomplete, copy it again", KEYS)
        x, y = (file[name].shape for name in names)
        positions = self.length + 2 * self.context
        wanted = f"(n, {positions}, 4) and (1, n, {self.length}, {CLASSES})"
        if len(x) == 3 and x[1] == 4 != x[2]:
            text = f"X{number} has shape {x}, channels before positions: write it as (n, {positions}, 4)"
            raise InputError(f"{self.path}: {text}", KEYS)
        if len(x) != 3 or x[1:] != (positions, 4) or y != (1, x[0], self.length, CLASSES):
            text = f"X{number} and Y{number} have shapes {x} and {y} instead of {wanted}"
            raise InputError(f"{self.path}: {text}; see data.length and data.context", KEYS)
        if not x[0]:
            raise InputError(f"{self.path}: chunk {number} is empty; write the file without it", KEYS)
        return int(x[0])

    def _chunk(self, number: int) -> Chunk:
        """Read a chunk and check its values."""
        with self._opened() as file:
            x, y = file[f"X{number}"][:], file[f"Y{number}"][0]
        where = f"{self.path}, chunk {number}"
        for name, values in (("X", x), ("Y", y)):
            total = values.sum(axis=2)
            if not np.isin(values, (0, 1)).all() or (total > 1).any():
                text = f"{name}{number} is not one-hot"
                hint = "N must be four zeros, as SpliceAI writes it" if name == "X" else "a position has one class"
                raise InputError(f"{where}: {text}: {hint}", KEYS)
        chunk = Chunk(x.astype(np.uint8), y.argmax(axis=2).astype(np.uint8))
        self._check_order(chunk, where)
        return chunk

    def _check_order(self, chunk: Chunk, where: str) -> None:
        """Refuse a chunk whose acceptors do not follow AG or whose donors do not precede GT, as nearly all do."""
        for site, (expected, offsets) in CANONICAL.items():
            items, positions = np.nonzero(chunk.labels == site)
            if len(items) < FEWEST_SITES:
                continue
            places = positions[:, None] + self.context + np.array(offsets)
            inside = (places >= 0).all(axis=1) & (places < chunk.bases.shape[1]).all(axis=1)
            beside = chunk.bases[items[inside, None], places[inside]]
            right = beside[:, [0, 1], ["ACGT".index(base) for base in expected]].all(axis=1)
            if right.mean() < 0.5:
                name = {1: "acceptors follow", 2: "donors precede"}[site]
                text = f"only {100 * right.mean():.0f} % of the {name} {expected}"
                hint = "channels must be in the order A, C, G, T, and classes none, acceptor, donor"
                raise InputError(f"{where}: {text}: {hint}", KEYS)
