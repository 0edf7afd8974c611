"""SpliceAI's h5 files, read a chunk at a time."""

from __future__ import annotations

import re
from contextlib import suppress
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sparseid.data.cache import checked_once, digest
from sparseid.data.h5 import open_h5
from sparseid.errors import InputError

KEYS = ("data.path",)
CLASSES = 3
SITES = {1: "acceptor", 2: "donor"}
FEWEST_SITES = 20
"""Splice sites of a class from which the order of channels is checked."""
CANONICAL = {1: ("follow AG", "AG", (-2, -1)), 2: ("precede GT", "GT", (1, 2))}
"""Class -> what holds for nearly all of its sites, bases next to them, and where: an acceptor is the first base of an
exon, a donor the last."""
CHECKS = 1
"""Version of the checks of values: files that have passed another one are checked again."""
_NAME = re.compile(r"[XY](0|[1-9]\d*)")


class Chunk(NamedTuple):
    """Sequences of a chunk.

    Attributes
    ----------
    bases : (n, context + length + context, 4) uint8
        One-hot in the order A, C, G, T; N and positions beyond the transcript are zeros.
    labels : (n, length) uint8
        0 for none (also beyond the transcript, where Y is zeros), 1 for acceptor, 2 for donor.
    """

    bases: NDArray[np.uint8]
    labels: NDArray[np.uint8]


class ChunkFile:
    """A file with arrays ``X<i>`` (n, context + length + context, 4) and ``Y<i>`` (1, n, length, 3), i from 0.

    Other arrays are ignored. The values of a chunk are checked when it is read, those of all chunks by
    :meth:`check_values`.

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
        If the file cannot be read, or an array is missing, empty, of another shape or not of numbers.
    """

    def __init__(self, path: Path, length: int, context: int) -> None:
        self.path, self.length, self.context = path, length, context
        with open_h5(path, KEYS) as file:
            chunks = 1 + max((int(found[1]) for found in map(_NAME.fullmatch, file) if found), default=-1)
            if not chunks:
                raise InputError(f"{path} has no arrays X0, Y0: it is not a file of SpliceAI's data sets", KEYS)
            self.sizes = np.array([self._size(file, number) for number in range(chunks)])
        self.chunk = lru_cache(maxsize=2)(self._chunk)

    def check_values(self) -> None:
        """Check the values of all chunks: minutes for the whole genome, so once per content of the file.

        Raises
        ------
        InputError
            If a chunk is not one-hot, its channels seem to be in another order, or the file lacks a class of sites.
        """
        settings = {"file": digest(self.path), "context": self.context, "checks": CHECKS}
        checked_once("splicing", settings, self._check_values)

    def _check_values(self) -> None:
        canonical = np.zeros((len(SITES), 2), int)
        lacking = dict(SITES)
        for number in range(len(self.sizes)):
            chunk = self._chunk(number)
            canonical += self._canonical(chunk)
            lacking = {site: name for site, name in lacking.items() if not (chunk.labels == site).any()}
        _check_order(canonical, str(self.path))
        for site, name in lacking.items():
            text = f"no position is labelled as {name} (column {site} of Y): no accuracy can be computed"
            raise InputError(f"{self.path}: {text}; make the file anew", KEYS)

    def _size(self, file: Any, number: int) -> int:
        """Return the number of sequences of a chunk whose arrays have the right shapes."""
        x, y = (self._array(file, f"{letter}{number}").shape for letter in "XY")
        positions = self.length + 2 * self.context
        if len(x) == 3 and x[1] == 4 != x[2]:
            text = f"X{number} has shape {x}, channels before positions: write it as (n, {positions}, 4)"
            raise InputError(f"{self.path}: {text}", KEYS)
        if len(x) != 3 or x[1:] != (positions, 4) or y != (1, x[0], self.length, CLASSES):
            wanted = f"(n, {positions}, 4) and (1, n, {self.length}, {CLASSES})"
            text = f"X{number} and Y{number} have shapes {x} and {y} instead of {wanted}"
            stored = stored_lengths(self.path)
            if stored == (self.length, self.context):
                raise InputError(f"{self.path}: {text}: make the file anew", KEYS)
            rule = f"all chunks need {self.length:,} labelled nucleotides and {self.context:,} on either side"
            rule += "; X0 and Y0 have {:,} and {:,}".format(*stored) if stored else ""
            raise InputError(f"{self.path}: {text}: {rule}", (*KEYS, "data.length", "data.context"))
        if not x[0]:
            raise InputError(f"{self.path}: chunk {number} is empty; write the file without it", KEYS)
        return int(x[0])

    def _array(self, file: Any, name: str) -> Any:
        """Return an array of the file, without reading it."""
        array = file.get(name)
        if array is None:
            text = f"no array {name}: it is incomplete, copy it again (chunks are numbered from 0)"
            raise InputError(f"{self.path} has {text}", KEYS)
        if getattr(array, "shape", None) is None:
            text = f"{name} is a group or has no values, where an array should be: make the file anew"
            raise InputError(f"{self.path}: {text}", KEYS)
        if array.dtype.kind not in "biuf":
            text = f"{name} has values of type {array.dtype} instead of the numbers 0 and 1: make the file anew"
            raise InputError(f"{self.path}: {text}", KEYS)
        return array

    def _chunk(self, number: int) -> Chunk:
        """Read a chunk and check its values."""
        with open_h5(self.path, KEYS) as file:
            x, y = file[f"X{number}"][:], file[f"Y{number}"][0]
        where = f"{self.path}, chunk {number}"
        _check_one_hot(x, f"{where}: X{number}", "N must be four zeros, as SpliceAI writes it")
        _check_one_hot(y, f"{where}: Y{number}", "a position has one class, or zeros beyond the transcript")
        chunk = Chunk(x.astype(np.uint8), y.argmax(axis=2).astype(np.uint8))
        _check_order(self._canonical(chunk), where)
        return chunk

    def _canonical(self, chunk: Chunk) -> NDArray[np.int64]:
        """Return the number of acceptors and donors with the usual bases beside them, and of all: (2, 2)."""
        counts = []
        for site, (_, expected, offsets) in CANONICAL.items():
            items, positions = np.nonzero(chunk.labels == site)
            places = positions[:, None] + self.context + np.array(offsets)
            inside = (places >= 0).all(axis=1) & (places < chunk.bases.shape[1]).all(axis=1)
            beside = chunk.bases[items[inside, None], places[inside]]
            right = beside[:, [0, 1], ["ACGT".index(base) for base in expected]].all(axis=1)
            counts.append((right.sum(), len(right)))
        return np.array(counts)


def stored_lengths(path: Path) -> tuple[int, int] | None:
    """Return the numbers of labelled nucleotides and of those on either side in a file; None if they are unclear."""
    with suppress(InputError), open_h5(path, KEYS) as file:
        x: Any
        y: Any
        x, y = (getattr(file.get(name), "shape", None) or () for name in ("X0", "Y0"))
        if len(x) == 3 and len(y) == 4 and x[1] >= y[2] and (x[1] - y[2]) % 2 == 0:
            return y[2], (x[1] - y[2]) // 2
    return None


def _check_one_hot(values: NDArray[Any], what: str, rule: str) -> None:
    """Refuse values (n, positions, channels) other than one 1 or none per position, and those that are all zeros."""
    ones, right = np.zeros(values.shape[:2], np.uint8), np.ones(values.shape[:2], bool)
    for channel in np.moveaxis(values, 2, 0):
        one = channel == 1
        ones += one
        right &= one | (channel == 0)
    if not ones.any() and right.all():
        raise InputError(f"{what} has zeros only; make the file anew", KEYS)
    right &= ones <= 1
    if not right.all():
        sequence, position = np.argwhere(~right)[0]
        text = f"is not one-hot: {rule}; sequence {sequence}, position {position} (from 0) has"
        raise InputError(f"{what} {text} {' '.join(f'{float(value):g}' for value in values[sequence, position])}", KEYS)


def _check_order(canonical: NDArray[np.int64], where: str) -> None:
    """Refuse acceptors that do not follow AG or donors that do not precede GT, as nearly all do."""
    for (site, (rule, *_)), (right, sites) in zip(CANONICAL.items(), canonical, strict=True):
        if sites >= FEWEST_SITES and right < 0.5 * sites:
            text = f"only {100 * right / sites:.0f} % of the {SITES[site]}s {rule}"
            hint = "channels must be in the order A, C, G, T, and classes none, acceptor, donor"
            raise InputError(f"{where}: {text}: {hint}", KEYS)
