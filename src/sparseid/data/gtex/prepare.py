"""Preparation of a file of cells for all runs on it: smoothed expression of the genes used, types, tree.

The steps are those of TBR, section 4.1, in this order: smooth over all cells, choose types, cap their cells, cluster.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from sparseid.data.cache import cached_npz, digest
from sparseid.data.gtex.sources import SOURCES, SYNTHETIC, Source, atlas_table_path, synthetic_table
from sparseid.data.paths import data_folder, unusable
from sparseid.errors import InputError
from sparseid.files import write_json
from sparseid.streams import FIXED

if TYPE_CHECKING:
    from scipy import sparse

    from sparseid.data.gtex.dendrogram import Dendrogram
    from sparseid.data.gtex.reader import Cells
    from sparseid.data.gtex.settings import GtexSettings, MagicSettings
    from sparseid.data.gtex.tf_targets import Regulators

VERSION = 2
"""Incremented when the steps change; cached preparations are then recreated."""

KEYS = ("data.tf_targets", "data.tf_layout")

READ_AT_ONCE = 2**28
"""Bytes: a file up to this size is read completely before the launch, a larger one by the first run."""


@dataclass(frozen=True, eq=False)
class Prepared:
    """Cells of the types used, at most `cap` of each.

    Attributes
    ----------
    expression
        (cells, genes) float32, smoothed.
    genes
        Names of its columns: candidates for latents first.
    types
        Names of the types, (types,); a type has the number of its environment.
    codes
        Type of each cell, (cells,) int64.
    population
        Number of cells of each type before the cap, (types,).
    merges, correlation
        As in :class:`sparseid.data.gtex.dendrogram.Dendrogram`.
    """

    expression: NDArray[np.float32]
    genes: NDArray[np.str_]
    types: NDArray[np.str_]
    codes: NDArray[np.int64]
    population: NDArray[np.int64]
    merges: NDArray[np.float64]
    correlation: NDArray[np.float64]

    @property
    def dendrogram(self) -> Dendrogram:
        """Clustering of the types."""
        from sparseid.data.gtex.dendrogram import Dendrogram

        return Dendrogram(self.merges, self.correlation)


def prepared(config: GtexSettings) -> Prepared:
    """Return the prepared cells of a configuration, cached in the data folder.

    A file that was refused is refused again without being read: the error is cached in place of the cells.

    Raises
    ------
    InputError
        If the file or a setting cannot be used, see :mod:`sparseid.data.gtex.reader`.
    """
    from sparseid.data.h5ad import UnreadableError

    source = SOURCES[config.source]
    path = source.find(config.path)
    table = regulators_of(config)
    cache = _cache(path, config, table)

    def make(target: Path) -> None:
        _refuse_again(cache)
        try:
            made = prepare(path, source, config, table)
        except UnreadableError:  # may be readable next time
            raise
        except InputError as error:
            write_json(_verdict(cache), {"message": str(error), "keys": error.keys})
            raise
        with target.open("wb") as file:
            np.savez(file, **{field.name: getattr(made, field.name) for field in dataclasses.fields(made)})

    result = Prepared(**cached_npz(cache, make))
    _compare_with_paper(result, source)
    return result


def check_header(config: GtexSettings) -> None:
    """Check columns, genes and table before the launch, and the values of small files; repeat an earlier refusal.

    Raises
    ------
    InputError
        As :func:`prepared`. The values (NaN, counts instead of logarithms) of a file of more than `READ_AT_ONCE` bytes
        are checked by the first run only.
    """
    from sparseid.data.gtex.reader import column, gene_columns, read_header, select_types

    source = SOURCES[config.source]
    path = source.find(config.path)
    table = regulators_of(config)
    cache = _cache(path, config, table)
    _refuse_again(cache)
    groupby = config.groupby or source.groupby
    header = read_header(path, _matrix(source, config), groupby)
    labels = column(header.obs, groupby, path)
    select_types(labels, config.include_regex, config.exclude, groupby, source.exclude)
    latents = list(config.z_genes or source.latents)
    gene_columns(header.genes, latents, path, "data.z_genes")
    gene_columns(header.genes, _inputs(set(header.genes), latents, source, table), path, "data.tf_targets")
    if unusable(cache) and path.stat().st_size <= READ_AT_ONCE:
        _read(path, source, config)


def prepare(path: Path, source: Source, config: GtexSettings, table: Regulators | None) -> Prepared:
    """Read and prepare the cells of a file; arguments and errors are those of :func:`prepared`."""
    from sparseid.data.gtex.reader import NO_TYPE, gene_columns

    cells = _read(path, source, config)
    latents = list(config.z_genes or source.latents)
    expressed = np.diff(cells.expression.tocsc().indptr) > 0  # genes that no cell expresses carry no information
    columns = gene_columns(cells.genes, latents, path, "data.z_genes")
    if silent := [gene for gene, column in zip(latents, columns, strict=True) if not expressed[column]]:
        raise InputError(f"no cell of {path} expresses {', '.join(silent)}: choose other genes", ("data.z_genes",))
    inputs = _inputs({cells.genes[column] for column in np.flatnonzero(expressed)}, latents, source, table)
    columns = np.concatenate([columns, gene_columns(cells.genes, inputs, path, "data.tf_targets")])
    expression = _smoothed(cells.expression[:, expressed], (np.cumsum(expressed) - 1)[columns], config.magic)
    capped = cap(cells.codes, config.cap)
    clustered = capped if config.dendrogram == "after_cap" else np.flatnonzero(cells.codes != NO_TYPE)
    tree = _tree(cells, clustered)
    return Prepared(
        expression=expression[capped].astype(np.float32),
        genes=np.array([*latents, *inputs]),
        types=np.array(cells.types),
        codes=cells.codes[capped],
        population=cells.population,
        merges=tree.merges,
        correlation=tree.correlation,
    )


def regulators_of(config: GtexSettings) -> Regulators | None:
    """Return the table of transcription factors; None if the source has its own inputs."""
    from sparseid.data.gtex.tf_targets import read_tf_targets

    if config.source == "atlas":
        return read_tf_targets(atlas_table_path(config.tf_targets), config.tf_layout)
    if config.tf_targets:
        return read_tf_targets(config.tf_targets, config.tf_layout)
    return read_tf_targets(synthetic_table()) if config.source == SYNTHETIC else None


def cap(codes: NDArray[np.int64], most: int) -> NDArray[np.int64]:
    """Return the cells up to the cap, ascending: all of small types, a fixed random choice of large ones."""
    kept = []
    for number in range(codes.max() + 1):
        cells = np.flatnonzero(codes == number)
        kept.append(FIXED.numpy("gtex/cap", number).permutation(cells)[:most])
    return np.sort(np.concatenate(kept))


def _read(path: Path, source: Source, config: GtexSettings) -> Cells:
    """Return the cells of a file, with the source's settings as defaults."""
    from sparseid.data.gtex.reader import read_cells

    groupby, counts = config.groupby or source.groupby, source.counts or config.counts
    matrix = _matrix(source, config)
    return read_cells(path, groupby, config.include_regex, config.exclude, matrix, counts, source.exclude)


def _matrix(source: Source, config: GtexSettings) -> str:
    return source.matrix if config.layer == "X" else config.layer


def _inputs(expressed: set[str], latents: list[str], source: Source, table: Regulators | None) -> list[str]:
    """Return the genes that can be inputs: expressed factors of the candidates, without the candidates."""
    if table is None:
        return [gene for gene in source.inputs if gene not in latents]
    if unknown := [gene for gene in latents if expressed.isdisjoint(table.get(gene, ()))]:
        text = (
            f"the table of transcription factors has no regulator, among the genes expressed, of {', '.join(unknown)}"
        )
        raise InputError(f"{text}: exclude them with data.z_genes=[...]", (*KEYS, "data.z_genes"))
    factors = {factor for gene in latents for factor in table[gene]}
    return sorted(factors & expressed - set(latents))


def _smoothed(
    expression: sparse.csr_matrix, columns: NDArray[np.int64], settings: MagicSettings
) -> NDArray[np.float64]:
    from sparseid.data.gtex.magic import magic

    try:
        return magic(expression, columns, settings.knn, settings.decay, settings.t, settings.components)
    except ValueError as error:
        raise InputError(str(error), ("data.magic.knn",)) from error


def _tree(cells: Cells, clustered: NDArray[np.int64]) -> Dendrogram:
    from sparseid.data.gtex.dendrogram import centred_components, dendrogram

    points = centred_components(cells.expression) if cells.components is None else cells.components
    try:
        return dendrogram(points[clustered], cells.codes[clustered])
    except ValueError as error:
        text = f"the types {', '.join(cells.types)} have no tree: {error}. Correct or delete obsm['X_pca']"
        raise InputError(text, ("data.path",)) from error


def _cache(path: Path, config: GtexSettings, table: Regulators | None) -> Path:
    """Return the cache file of prepared cells; its name depends on the settings and the content of the source file."""
    names = ("source", "groupby", "include_regex", "exclude", "counts", "cap", "z_genes", "dendrogram")
    settings = [getattr(config, name) for name in names] + ([] if config.layer == "X" else [config.layer])
    parts = [VERSION, digest(path), settings, dataclasses.asdict(config.magic)]
    text = json.dumps([parts, table if table is None else dict(table)], sort_keys=True)
    return data_folder() / "cache" / "gtex" / f"prepared-{hashlib.sha256(text.encode()).hexdigest()[:16]}.npz"


def _verdict(cache: Path) -> Path:
    return cache.with_name(cache.name.replace("prepared-", "refused-")).with_suffix(".json")


def _refuse_again(cache: Path) -> None:
    verdict = _verdict(cache)
    if not unusable(verdict):
        found = json.loads(verdict.read_text(encoding="utf-8"))
        raise InputError(found["message"], tuple(found["keys"]))


def _compare_with_paper(cells: Prepared, source: Source) -> None:
    if difference := source.difference(len(cells.types), len(cells.codes)):
        warnings.warn(
            f"{difference}: check the column and the filter (data.groupby, data.include_regex, data.exclude). "
            f"Cells of each type: {', '.join(f'{t} {n}' for t, n in zip(cells.types, cells.population, strict=True))}",
            stacklevel=3,
        )
