"""Check whether a file is the paper's atlas: columns, genes, counts (``make data DATASETS=gtex``)."""

from __future__ import annotations

from collections.abc import Generator, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from sparseid.data.gtex.reader import FEWEST_CELLS, Cells, gene_columns, read_cells, read_header
from sparseid.data.gtex.sources import SOURCES
from sparseid.data.gtex.tf_targets import read_tf_targets

if TYPE_CHECKING:
    from sparseid.data.gtex.sources import Source

CAP = 1000
"""Maximum number of cells of a type (TBR, section 4.1)."""
MOST_TYPES = 500
"""Columns with more labels than this do not hold cell types."""


def check_atlas(path: Path, table: Path | None = None, layout: str = "htftarget") -> Generator[str, None, bool]:
    """Yield the results of the checks of a file, a line each; the file is not changed.

    The generator returns whether these are the paper's cells, as far as their numbers show.

    Parameters
    ----------
    path
        An ``.h5ad`` file.
    table, layout
        Table of transcription factors, if any; as in :func:`sparseid.data.gtex.tf_targets.read_tf_targets`.

    Raises
    ------
    InputError
        At the first defect that makes the file unusable.
    """
    source = SOURCES["atlas"]
    cells = read_cells(path, source.groupby, never=source.exclude)
    yield f"{path}: {cells.expression.shape[0]} cells, {len(cells.genes)} genes, values finite and not negative"
    found = (len(cells.types), int(np.minimum(cells.population, CAP).sum()))
    yield f"column {source.groupby!r}: {found[0]} types, {found[1]} cells of at most {CAP} each"
    if difference := source.difference(*found):
        yield f"  {difference}. Columns of labels, with types and cells of at most {CAP} each:"
        yield from (f"    {line}" for line in candidates(read_header(path).obs))
    gene_columns(cells.genes, source.latents, path, "data.z_genes")
    yield f"genes: {', '.join(source.latents)}"
    if table is not None:
        yield from _factors(table, layout, cells, source)
    return not difference


def candidates(obs: pd.DataFrame) -> Iterator[str]:
    """Yield the counts of every column that may hold types: the paper's column is the one with its numbers."""
    for name in obs.columns:
        if pd.api.types.is_numeric_dtype(obs[name]):
            continue
        counts = obs[name].astype("string").value_counts()
        if 2 <= len(counts) <= MOST_TYPES:
            small = int((counts < FEWEST_CELLS).sum())
            note = f", {small} of fewer than {FEWEST_CELLS} cells" if small else ""
            yield f"{name}: {len(counts)} types, {int(counts.clip(upper=CAP).sum())} cells{note}"


def _factors(table: Path, layout: str, cells: Cells, source: Source) -> Iterator[str]:
    regulators = read_tf_targets(table, layout)
    genes = set(cells.genes)
    numbers = {gene: len(genes.intersection(regulators.get(gene, ()))) for gene in source.latents}
    yield f"transcription factors in the atlas (paper: 18 to 95): {', '.join(f'{g} {n}' for g, n in numbers.items())}"
