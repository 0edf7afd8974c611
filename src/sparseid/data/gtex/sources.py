"""Sources of cells: the atlas of the paper, a synthetic one in its layout, and two real but small data sets."""

from __future__ import annotations

import importlib.util
import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from sparseid.data.cache import cached_file
from sparseid.data.gtex.genes import CELLTYPIST_FACTORS, HOUSEKEEPING, PBMC_FACTORS, PBMC_LATENTS
from sparseid.data.paths import data_folder, samples_folder, unusable
from sparseid.errors import InputError
from sparseid.homes import expanded
from sparseid.optional import need

ATLAS_FILE = "GTEx_8_tissues_snRNAseq_atlas_071421.public_obs.h5ad"
"""Name of the atlas (Eraslan et al., Science 2022) on the GTEx portal: Analysis V9, snRNA-Seq Data."""

TABLE_FILE = "TF-Target-information.txt"
"""Name of hTFtarget's table of transcription factors and their targets."""

SYNTHETIC = "semi_synthetic"
SYNTHETIC_VERSION = 1
"""Incremented when the synthetic cells change; part of their file's name."""


@dataclass(frozen=True)
class Source:
    """A file of cells and its reading options.

    Attributes
    ----------
    find
        Maps ``data.path`` to the file.
    groupby, exclude
        Column of types, and its labels that are not types, if they occur.
    latents
        Candidate genes for latents.
    inputs
        Transcription factors used as inputs if there is no table of those that regulate the latents.
    matrix, counts
        As in :func:`sparseid.data.gtex.reader.read_cells`.
    expected
        Numbers of types, and of cells after the cap, in the paper; None if they are not compared.
    note
        Notice for tables of results on it; empty for the paper's data.
    """

    find: Callable[[str], Path]
    groupby: str
    latents: tuple[str, ...]
    exclude: tuple[str, ...] = ()
    inputs: tuple[str, ...] = ()
    matrix: str = "X"
    counts: bool = False
    expected: tuple[int, int] | None = None
    note: str = ""

    def difference(self, types: int, cells: int) -> str:
        """Describe the difference of the types, and their cells after the cap, from the paper's; empty if none."""
        if self.expected is None or (types, cells) == self.expected:
            return ""
        return f"{types} types with {cells} cells, where the paper has {self.expected[0]} with {self.expected[1]}"

    def note_on(self, types: int, cells: int) -> str:
        """Return the notice for tables of results on these cells; empty if their numbers are the paper's."""
        difference = self.difference(types, cells)
        return "; ".join(filter(None, (self.note, difference and f"{difference}: not the paper's cells")))


def atlas_place(path: str) -> Path:
    """Return the path of the atlas."""
    return Path(expanded(path or os.environ.get("GTEX_H5AD") or data_folder() / "gtex" / ATLAS_FILE))


def table_place(path: str) -> Path:
    """Return the path of the atlas' table of transcription factors."""
    return Path(expanded(path or os.environ.get("TF_TARGETS") or data_folder() / "gtex" / TABLE_FILE))


def atlas_path(path: str) -> Path:
    """Return the atlas' file: `path`, else ``$GTEX_H5AD``, else the portal's name in ``data/gtex``.

    Raises
    ------
    InputError
        If it is missing or cannot be read; the message has the remedy.
    """
    found = atlas_place(path)
    if reason := unusable(found):
        raise InputError(f"the atlas {reason}: {found}\n{_how_to_get_the_atlas()}", ("data.path", "data.source"))
    return found


def atlas_table_path(path: str) -> Path:
    """Return the table of transcription factors for the atlas: `path`, else ``$TF_TARGETS``, else in ``data/gtex``.

    Raises
    ------
    InputError
        If it is missing or cannot be read; the message has the remedy.
    """
    found = table_place(path)
    if reason := unusable(found):
        text = f"the atlas needs a table of transcription factors and their targets, which {reason}: {found}"
        raise InputError(f"{text}\n{_how_to_get_the_atlas()}", ("data.tf_targets", "data.tf_layout"))
    return found


def synthetic_atlas() -> Path:
    """Return the file of synthetic cells, created on first use."""

    def create(path: Path) -> None:
        from sparseid.data.gtex.synthetic import write_atlas

        write_atlas(path)

    return cached_file(data_folder() / "cache" / "gtex" / f"{SYNTHETIC}-v{SYNTHETIC_VERSION}.h5ad", create)


def synthetic_table() -> Path:
    """Return the table of transcription factors for the synthetic cells, created on first use."""

    def create(path: Path) -> None:
        from sparseid.data.gtex.synthetic import write_tf_targets

        write_tf_targets(path)

    return cached_file(data_folder() / "cache" / "gtex" / f"{SYNTHETIC}-v{SYNTHETIC_VERSION}-tf_targets.tsv", create)


def _pbmc68k(_: str) -> Path:
    need("scanpy", "cells", ("data.source",))
    package = importlib.util.find_spec("scanpy")  # an import takes seconds; only its file is needed
    assert package is not None
    assert package.origin is not None
    path = Path(package.origin).parent / "datasets" / "10x_pbmc68k_reduced.h5ad"
    if not path.is_file():
        raise InputError(f"this version of scanpy has no {path.name}; 1.10 and 1.11 have", ("data.source",))
    return path


SOURCES: dict[str, Source] = {
    SYNTHETIC: Source(
        find=lambda _: synthetic_atlas(),
        groupby="Broad cell type",
        exclude=("Unknown",),
        latents=HOUSEKEEPING,
        expected=(43, 15256),
        note="synthetic, in the layout of the atlas: not the paper's data",
    ),
    "atlas": Source(
        find=atlas_path,
        groupby="Broad cell type",
        exclude=("Unknown",),
        latents=HOUSEKEEPING,
        expected=(43, 15256),  # paper 4.1
    ),
    "pbmc68k": Source(
        find=_pbmc68k,
        groupby="bulk_labels",
        latents=tuple(PBMC_LATENTS.split()),
        inputs=tuple(PBMC_FACTORS.split()),
        matrix="raw",
        note="700 blood cells of ten types (10x Genomics PBMC 68k, reduced), other latents: not the paper's data",
    ),
    "celltypist_sample": Source(
        find=lambda _: samples_folder() / "celltypist_sample.h5ad",
        groupby="cluster",
        latents=HOUSEKEEPING,
        inputs=tuple(CELLTYPIST_FACTORS.split()),
        counts=True,
        note="559 immune cells in ten clusters (CellTypist's sample): not the paper's data",
    ),
}


def _how_to_get_the_atlas() -> str:
    """Return instructions for the atlas and its table."""
    folder = data_folder() / "gtex"
    return f"""\
  1. On gtexportal.org, Downloads, single-cell data (GTEx Analysis V9, snRNA-Seq Data), download
     {ATLAS_FILE}
  2. Set GTEX_H5AD=/path/to/it in the shell of your runs, or place or link it as
     {folder / ATLAS_FILE};
     make data DATASETS=gtex GTEX_H5AD=/path/to/it checks it first.
  3. The table of transcription factors of hTFtarget (Zhang et al. 2020) may not be redistributed: download it from its
     site and set TF_TARGETS=/path/to/it, or place it as
     {folder / TABLE_FILE}. DoRothEA's, written as text, works as well
     with data.tf_layout=dorothea (make data ... TF_LAYOUT=dorothea checks it); the runs are then not
     those of the figures.
  4. Memory: not measured on the atlas. Its matrix takes 8 bytes per value above 0, 1.7 GB if a nucleus has 1000 genes;
     the file's other matrices are not read. Smoothing makes two more copies and twice 209,126 x 8 bytes per gene used
     (0.7 GB for 200): have 16 GB or more. It is done once, later runs read the result from
     {data_folder() / "cache"}.
  None of this is needed for data.source=semi_synthetic, pbmc68k or celltypist_sample."""
