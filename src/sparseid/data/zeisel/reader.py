"""Reader of the cells: the laboratory's original file, or the project's sample."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sparseid.data.download import download
from sparseid.data.paths import data_folder, samples_folder, unusable
from sparseid.data.tables.names import others
from sparseid.data.tables.numbers import says_missing
from sparseid.data.text_frames import frame_of_text
from sparseid.data.zeisel.settings import SAMPLE
from sparseid.errors import InputError
from sparseid.text import open_text, tabbed

if TYPE_CHECKING:
    from sparseid.data.zeisel.settings import ZeiselSettings

SAMPLE_FILE = "zeisel_558.npz"
FILE = "expression_mRNA_17-Aug-2014.txt"
URL = f"https://storage.googleapis.com/linnarsson-lab-www-blobs/blobs/cortex/{FILE}"
MIRROR = f"https://s3.amazonaws.com/scrnaseq-public-datasets/manual-data/zeisel/{FILE}"
"""Copy at a collection of public data sets."""
CLASS = "level1class"
"""Name of the line with the classes of the cells."""
MOST_HEADER_LINES = 30
"""Maximum number of first lines in which the classes are searched."""

KEYS = ("data.path", "data.source")
MOST = 2**31 - 1
"""Maximum number of molecules of a gene in a cell, beyond any cell's."""
FEWEST_CELLS = 5
"""Minimum number of cells of a class, for fivefold cross-validated accuracy (`metrics.classification`)."""


class Cells(NamedTuple):
    """Molecules counted in cells.

    Attributes
    ----------
    counts
        (genes, cells) int32.
    genes
        (genes,) names.
    classes
        (cells,) names.
    """

    counts: NDArray[np.int32]
    genes: NDArray[np.str_]
    classes: NDArray[np.str_]


def place_of(config: ZeiselSettings) -> Path:
    """Return the path of the laboratory's file."""
    return Path(config.path) if config.path else data_folder() / "zeisel" / FILE


def by_hand() -> str:
    """Return instructions for the file."""
    return f"""\
  By hand: get {URL}
  or {MIRROR}
  (about 120 MB), and place it as {data_folder() / "zeisel" / FILE},
  or name it: data.path=/path/to/it
  None of this is needed for data.source={SAMPLE}"""


def fetch(address: str = URL) -> Path:
    """Return the file in the data folder, downloaded if missing; it has no published checksum.

    Raises
    ------
    InputError
        If it cannot be downloaded.
    """
    return download(address, data_folder() / "zeisel" / FILE, None, by_hand(), [MIRROR] if address == URL else [])


def read_sample() -> Cells:
    """Return all cells with the 558 genes that vary most among 4,000, which have numbers instead of names."""
    with np.load(samples_folder() / SAMPLE_FILE) as arrays:
        names = np.array([f"row {number}" for number in arrays["gene_row"]])
        return Cells(arrays["counts"].T.astype(np.int32), names, arrays["cell_class"])


def read_original(path: Path) -> Cells:
    """Return the cells of the laboratory's file: lines about cells, a blank line, then one line per gene.

    Raises
    ------
    InputError
        If it is missing, has no line of classes, a gene lacks a whole number per cell, no gene varies, or a class has
        too few cells.
    """
    if reason := unusable(path):
        raise InputError(f"{path} {reason}\n  make data DATASETS=zeisel\n  downloads it.\n{by_hand()}", KEYS)
    classes, genes_from = _header(path)
    try:
        table = frame_of_text(path, "\t", KEYS, skip=genes_from, na_filter=False, dtype={0: str})
        values = table.iloc[:, 2:]
        if any(kind.kind != "i" for kind in values.dtypes):
            raise ValueError("a count is not a whole number")
        counts = values.to_numpy(np.int64)
        if counts.shape[1] != len(classes) or counts.min() < 0 or counts.max() > MOST:
            text = f"{len(classes)} cells, {counts.shape[1]} counts of a gene, none negative or above {MOST}"
            raise ValueError(f"{text}, are needed")
        counts = counts.astype(np.int32)
    except (ValueError, OverflowError) as error:
        where = _wrong_line(path, genes_from, len(classes)) or f": {error}"
        told = "A gene is its name, a number and the molecules in each cell, whole numbers, with tabs between"
        raise InputError(f"{path}{where}. {told}. Is the file complete?", KEYS) from error
    if unnamed := [cell for cell, name in enumerate(classes.tolist(), start=1) if says_missing(name)]:
        name = classes[unnamed[0] - 1].strip()
        text = f"{path}: cell {unnamed[0]} has no {CLASS}{f' but {name!r}' if name else ''} ({others(len(unnamed))})"
        raise InputError(f"{text}: name its class, or leave the cell out", KEYS)
    if not varying(counts).any():
        raise InputError(f"no gene of {path} varies: each has the same count in all cells", KEYS)
    names, cells = np.unique(classes, return_counts=True)
    if len(names) < 2 or cells.min() < FEWEST_CELLS:
        rare = f"class '{names[cells.argmin()]}' has {cells.min()} of {cells.sum()} cells"
        text = f"{path}: {rare}; to predict them, two classes or more of at least {FEWEST_CELLS} cells each are needed"
        raise InputError(f"{text}: remove rare ones", KEYS)
    return Cells(counts, table[0].to_numpy(np.str_), classes)


def varying(counts: NDArray[np.int32]) -> NDArray[np.bool_]:
    """Return a mask (genes,) of the genes of (genes, cells) that are not constant over cells."""
    return (counts != counts[:, :1]).any(axis=1)


def _wrong_line(path: Path, genes_from: int, cells: int) -> str:
    """Return the error of the first gene line without a whole number per cell; empty if all are correct."""
    with open_text(path, KEYS, western=True) as file:
        for number, line in enumerate(file, start=1):
            gene, *numbers = tabbed(line)
            counts = numbers[1:]
            if number <= genes_from or not line.strip():
                continue
            if len(counts) != cells:
                return f", line {number}, {gene!r}: {len(counts)} counts for {cells} cells"
            for cell, count in enumerate(counts, start=1):
                if not count.strip().isdecimal():
                    return f", line {number}, {gene!r}: {count!r}, of cell {cell}, is not a whole number"
                if int(count) > MOST:
                    return f", line {number}, {gene!r}: {count}, of cell {cell}, is more than a cell can hold ({MOST})"
    return ""


def _header(path: Path) -> tuple[NDArray[np.str_], int]:
    """Return the class of each cell, and the number of the first line of a gene."""
    classes = None
    with open_text(path, KEYS, western=True) as file:
        for number, line in zip(range(MOST_HEADER_LINES), file, strict=False):
            label, *values = tabbed(line)
            if not label and values:  # lines about cells have their name in the second field
                label, *values = values
            if label == CLASS and classes is not None:
                raise InputError(f"{path}, line {number + 1}: a second line {CLASS}: remove one of them", KEYS)
            if label == CLASS:
                classes = np.array(values)
            if not any([label, *values]) and classes is not None:
                return classes, number + 1
    text = f"{path}: no line {CLASS} with a blank line after it among the first {MOST_HEADER_LINES}"
    raise InputError(f"{text}: it is not {FILE}\n{by_hand()}", KEYS)
