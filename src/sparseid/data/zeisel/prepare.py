"""From counted molecules to the matrix of cells by genes, in the steps of the Sparse VAE's code (process_zeisel.R)."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.stats import rankdata

from sparseid.data.cache import cached_arrays, digest
from sparseid.data.zeisel.reader import Cells, place_of, read_original, read_sample, varying
from sparseid.data.zeisel.settings import ORIGINAL
from sparseid.errors import InputError

if TYPE_CHECKING:
    from sparseid.data.zeisel.settings import ZeiselSettings

VERSION = 2
"""Raised when the steps change: what was prepared before is then made again."""
BLOCK = 1000
"""Genes that are correlated with all others at a time: all pairs at once would fill gigabytes."""

Array = NDArray[np.float64]


class Prepared(NamedTuple):
    """Normalised expression.

    Attributes
    ----------
    matrix
        (cells, genes) float32.
    genes, classes
        Names, of columns and of the class of each row.
    left_out
        (2,) genes that were read and are not among them: those that do not vary, and others.
    """

    matrix: NDArray[np.float32]
    genes: NDArray[np.str_]
    classes: NDArray[np.str_]
    left_out: NDArray[np.int64]


def prepared(config: ZeiselSettings) -> Prepared:
    """Return the matrix of a configuration; that of the original file is kept in the data folder.

    Raises
    ------
    InputError
        If the file cannot be used, or too few genes are left.
    """
    if config.source != ORIGINAL:
        cells = read_sample()
        return _matrix(cells, cells, config)
    path = place_of(config)

    def make() -> dict[str, NDArray]:
        cells = read_original(path)
        return _matrix(_informative(cells, config), cells, config)._asdict()

    if not path.is_file():
        read_original(path)  # says that it is not there
    settings = dataclasses.asdict(config) | {"path": "", "enrichment": False, "gene_sets": ""}
    return Prepared(**cached_arrays("zeisel", [VERSION, settings, digest(path)], make))


def _informative(cells: Cells, config: ZeiselSettings) -> Cells:
    """Return the genes that are seen often enough, go together with others, and vary most for their mean."""
    seen = _of(cells, cells.counts.sum(axis=1) >= config.min_molecules)
    together = _of(seen, correlated_with(seen.counts, config.correlation) >= config.correlated_genes)
    excess = noise(together.counts, config.noise_exponent, config.noise_floor)
    _enough(len(excess), config.noisy_genes, "data.noisy_genes")
    return _of(together, np.sort(np.argsort(-excess, kind="stable")[: config.noisy_genes]))


def _matrix(cells: Cells, read: Cells, config: ZeiselSettings) -> Prepared:
    """Return the cells normalised, with the genes that then vary most; a gene that does not vary is none of them.

    Parameters
    ----------
    cells, read
        With the genes to choose from, and with all that were read.
    """
    normalised = quantile_normalised(cells.counts)
    spread = normalised.std(axis=1)
    _enough(int((spread > 0).sum()), config.genes, "data.genes")
    kept = np.sort(np.argsort(-spread, kind="stable")[: config.genes])
    constant = int((~varying(read.counts)).sum())
    left_out = np.array([constant, len(read.genes) - constant - len(kept)])
    return Prepared(normalised[kept].T.astype(np.float32), cells.genes[kept], cells.classes, left_out)


def correlated_with(counts: NDArray[np.int32], least: float) -> NDArray[np.int64]:
    """Return for each of (genes, cells) how many genes, itself included, have a Pearson correlation above `least`.

    A gene with the same count in all cells correlates with none, nor with itself.
    """
    centred = counts - counts.mean(axis=1, keepdims=True)
    length = np.linalg.norm(centred, axis=1, keepdims=True)
    unit = np.divide(centred, length, out=np.zeros_like(centred), where=length > 0)
    blocks = [unit[start : start + BLOCK] @ unit.T > least for start in range(0, len(unit), BLOCK)]
    return np.concatenate([block.sum(axis=1) for block in blocks])


def noise(counts: NDArray[np.int32], exponent: float, floor: float) -> Array:
    """Return by how much log2 of a gene's coefficient of variation exceeds log2(mean^exponent + floor).

    Parameters
    ----------
    counts
        (genes, cells), each gene seen at least once.
    exponent, floor
        Of the curve through all genes.
    """
    mean = counts.mean(axis=1)
    with np.errstate(divide="ignore"):  # a gene that does not vary is last
        return np.log2(counts.std(axis=1) / mean) - np.log2(mean**exponent + floor)


def quantile_normalised(counts: NDArray[np.int32]) -> Array:
    """Return (genes, cells) in which every cell has the same values, the means over cells of the ordered counts.

    A gene gets the value at its rank in the cell; genes that share a count share the mean of their ranks, and a rank
    between two numbers gives the mean of their values.

    Examples
    --------
    >>> quantile_normalised(np.array([[1, 4], [2, 4], [9, 0]])).tolist()
    [[0.5, 4.75], [3.0, 4.75], [6.5, 0.5]]
    """
    values = np.sort(counts, axis=0).mean(axis=1)
    ranks = rankdata(counts, axis=0)
    return np.interp(ranks, np.arange(1, len(values) + 1), values)


def _of(cells: Cells, chosen: NDArray) -> Cells:
    return Cells(cells.counts[chosen], cells.genes[chosen], cells.classes)


def _enough(genes: int, wanted: int, key: str) -> None:
    if genes < wanted:
        raise InputError(f"{genes} genes that vary are left, fewer than {key}={wanted}: lower it", (key, "data.path"))
