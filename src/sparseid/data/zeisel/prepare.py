"""Preparation of molecule counts: a matrix of cells by genes, in the steps of the Sparse VAE's process_zeisel.R."""

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

VERSION = 3
"""Incremented when the steps change; cached preparations are then recreated."""
BLOCK = 1000
"""Genes correlated with all others at a time: all pairs at once would take gigabytes."""

Array = NDArray[np.float64]


class Prepared(NamedTuple):
    """Normalised expression.

    Attributes
    ----------
    matrix
        (cells, genes) float32.
    genes, classes
        Names of the columns, and the class name of each row.
    left_out
        Numbers (2,) of genes that were read and dropped: those that do not vary, and others.
    """

    matrix: NDArray[np.float32]
    genes: NDArray[np.str_]
    classes: NDArray[np.str_]
    left_out: NDArray[np.int64]


def prepared(config: ZeiselSettings) -> Prepared:
    """Return the matrix of a configuration; that of the original file is cached in the data folder.

    Raises
    ------
    InputError
        If the file cannot be used, or too few genes remain.
    """
    if config.source != ORIGINAL:
        cells = read_sample()
        return _matrix(cells, cells, config)
    path = place_of(config)

    def make() -> dict[str, NDArray]:
        cells = read_original(path)
        return _matrix(_informative(cells, config), cells, config)._asdict()

    if not path.is_file():
        read_original(path)  # raises the error for a missing file
    settings = dataclasses.asdict(config) | {"path": "", "enrichment": False, "gene_sets": ""}
    return Prepared(**cached_arrays("zeisel", [VERSION, settings, digest(path)], make))


def _informative(cells: Cells, config: ZeiselSettings) -> Cells:
    """Return the genes that are frequent enough, correlated with others, and most variable for their mean."""
    seen = _of(cells, cells.counts.sum(axis=1) >= config.min_molecules)
    together = _of(seen, correlated_with(seen.counts, config.correlation) >= config.correlated_genes)
    excess = noise(together.counts, config.noise_exponent, config.noise_floor)
    steps = (
        f". Of {len(cells.genes)} genes, {len(seen.genes)} have data.min_molecules={config.min_molecules} "
        f"molecules or more; of those, {len(together.genes)} have a correlation above "
        f"data.correlation={config.correlation:g} with data.correlated_genes={config.correlated_genes} genes, "
        "themselves included"
    )
    _enough(len(excess), config.noisy_genes, "data.noisy_genes", steps)
    return _of(together, np.sort(np.argsort(-excess, kind="stable")[: config.noisy_genes]))


def _matrix(cells: Cells, read: Cells, config: ZeiselSettings) -> Prepared:
    """Return the normalised cells with the genes that then vary most, without constant genes.

    Parameters
    ----------
    cells, read
        Cells with the candidate genes, and with all genes that were read.
    """
    normalised = quantile_normalised(cells.counts)
    spread = normalised.std(axis=1)
    _enough(int((spread > 0).sum()), config.genes, "data.genes")
    kept = np.sort(np.argsort(-spread, kind="stable")[: config.genes])
    constant = int((~varying(read.counts)).sum())
    left_out = np.array([constant, len(read.genes) - constant - len(kept)])
    return Prepared(normalised[kept].T.astype(np.float32), cells.genes[kept], cells.classes, left_out)


def correlated_with(counts: NDArray[np.int32], least: float) -> NDArray[np.int64]:
    """Return, for each gene of (genes, cells), the number of genes, itself included, with a correlation above `least`.

    The correlation is Pearson's; constant genes have no correlation, not even with themselves.
    """
    centred = counts - counts.mean(axis=1, keepdims=True)
    length = np.linalg.norm(centred, axis=1, keepdims=True)
    unit = np.divide(centred, length, out=np.zeros_like(centred), where=length > 0)
    blocks = [unit[start : start + BLOCK] @ unit.T > least for start in range(0, len(unit), BLOCK)]
    return np.concatenate([np.zeros(0, np.int64), *(block.sum(axis=1) for block in blocks)])


def noise(counts: NDArray[np.int32], exponent: float, floor: float) -> Array:
    """Return the excess of log2 of each gene's coefficient of variation over log2(mean^exponent + floor).

    Parameters
    ----------
    counts
        (genes, cells), each gene with at least one molecule.
    exponent, floor
        Parameters of the curve through all genes.
    """
    mean = counts.mean(axis=1)
    with np.errstate(divide="ignore"):  # constant genes come last
        return np.log2(counts.std(axis=1) / mean) - np.log2(mean**exponent + floor)


def quantile_normalised(counts: NDArray[np.int32]) -> Array:
    """Return counts (genes, cells), quantile-normalised: every cell has the mean over cells of the sorted counts.

    A gene gets the value at its rank in the cell; genes with equal counts have the mean of their ranks, and a half rank
    gives the mean of the neighbouring values.

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


def _enough(genes: int, wanted: int, key: str, steps: str = "") -> None:
    if genes < wanted:
        raise InputError(
            f"{genes} varying genes remain, fewer than {key}={wanted}: lower it{steps}", (key, "data.path")
        )
