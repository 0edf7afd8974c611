"""Sources of cells: the atlas of the paper, a synthetic one, and two small real data sets."""

from __future__ import annotations

import importlib.util
import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from sparseid.data.places import data_folder, made_once, samples_folder, unusable
from sparseid.errors import InputError

if TYPE_CHECKING:
    from sparseid.config.gtex import GtexConfig

ATLAS_FILE = "GTEx_8_tissues_snRNAseq_atlas_071421.public_obs.h5ad"
"""Name of the atlas (Eraslan et al., Science 2022) on the GTEx portal: Analysis V9, snRNA-Seq Data."""

TABLE_FILE = "TF-Target-information.txt"
"""Name of hTFtarget's table of transcription factors and their targets."""

HOUSEKEEPING = ("C1orf43", "CHMP2A", "EMC7", "PSMB2", "PSMB4", "REEP5", "SNRPD3", "VCP", "VPS29")
"""Candidates for latents (TBR, Table 2): eleven of Eisenberg & Levanon 2013 without the two weakly regulated ones."""

STAND_IN = "semi_synthetic"
STAND_IN_VERSION = 1
"""Incremented when the cells of the synthetic atlas change: part of its file name."""

PBMC_FACTORS = """
BBX EGR1 FLI1 FOS GATA2 GATA3 HES1 HES4 HHEX HMGA1 IRF1 IRF7 IRF8 JUNB KLF3 KLF6 LYL1 NFE2 POU2AF1 SOX4 SP100 SP110
SP140 SPI1 SPIB TSC22D1 ZNF22 ZNF511 ZNF524 ZNF600 ZNF710
"""
"""Transcription factors among the 765 genes of pbmc68k_reduced."""

PBMC_LATENTS = "CDK6 HPCAL1 DAAM1 CSK MAD1L1 CD74 HLA-DPB1 HLA-DMA HLA-DPA1"
"""Genes of pbmc68k_reduced that many of these regulate; six of the nine housekeeping genes are missing there."""

CELLTYPIST_FACTORS = """
ATF1 ATF2 ATF3 ATF4 BACH1 BBX BCL6 BHLHE40 BRD4 CEBPA CEBPB CEBPD CREB1 CREM CTCF EGR2 ELF1 ELK4 ETS1 ETV6 FLI1 FOSL2
FOXO3 FOXP1 HIF1A HMGA1 HSF1 ID2 ID3 IKZF1 IRF1 IRF2 IRF5 IRF7 IRF8 JUN JUNB JUND KLF13 KLF6 MAF MAFB MAFF MAX MAZ MBD4
MEF2A MXD1 MXI1 NFATC3 NFE2L2 NFKB1 NR3C1 PBX3 POU2F2 REL REST RXRA SP1 SP100 SP110 SP3 SPI1 SREBF2 STAT1 STAT2 STAT3
STAT6 TCF12 TSC22D1 USF2 XBP1 YY1 ZBTB7A ZEB2 ZNF511
"""
"""Well-known transcription factors expressed in at least 15 % of the 559 cells."""


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


def placed_files(config: GtexConfig) -> dict[str, Path]:
    """Return the user-provided files of a run by the settings that name them, without unreadable ones."""
    files = {}
    if config.source == "atlas":
        files = {"path": _atlas_place(config.path), "tf_targets": _table_place(config.tf_targets)}
    elif config.tf_targets:
        files = {"tf_targets": Path(config.tf_targets)}
    return {name: path for name, path in files.items() if not unusable(path)}


def _atlas_place(path: str) -> Path:
    return Path(path or os.environ.get("GTEX_H5AD") or data_folder() / "gtex" / ATLAS_FILE)


def _table_place(path: str) -> Path:
    return Path(path or os.environ.get("TF_TARGETS") or data_folder() / "gtex" / TABLE_FILE)


def atlas_path(path: str) -> Path:
    """Return the atlas' file: `path`, else ``$GTEX_H5AD``, else the portal's name in ``data/gtex``.

    Raises
    ------
    InputError
        If it is missing or cannot be read; the message has the remedy.
    """
    found = _atlas_place(path)
    if reason := unusable(found):
        raise InputError(f"the atlas {reason}: {found}\n{HOW_TO_GET_THE_ATLAS}", ("data.path", "data.source"))
    return found


def atlas_table_path(path: str) -> Path:
    """Return the table of transcription factors for the atlas: `path`, else ``$TF_TARGETS``, else in ``data/gtex``.

    Raises
    ------
    InputError
        If it is missing or cannot be read; the message has the remedy.
    """
    found = _table_place(path)
    if reason := unusable(found):
        text = f"the atlas needs a table of transcription factors and their targets, which {reason}: {found}"
        raise InputError(f"{text}\n{HOW_TO_GET_THE_ATLAS}", ("data.tf_targets", "data.tf_layout"))
    return found


def stand_in_path() -> Path:
    """Return the file of the synthetic atlas, created on first use."""

    def make(path: Path) -> None:
        from sparseid.data.gtex.stand_in import write_stand_in

        write_stand_in(path)

    return made_once(data_folder() / "cache" / "gtex" / f"{STAND_IN}-v{STAND_IN_VERSION}.h5ad", make)


def stand_in_table() -> Path:
    """Return the synthetic atlas' table of transcription factors, created on first use."""

    def make(path: Path) -> None:
        from sparseid.data.gtex.stand_in import write_tf_targets

        write_tf_targets(path)

    return made_once(data_folder() / "cache" / "gtex" / f"{STAND_IN}-v{STAND_IN_VERSION}-tf_targets.tsv", make)


def _pbmc68k(_: str) -> Path:
    package = importlib.util.find_spec("scanpy")  # an import takes seconds; only its file is needed
    if package is None or package.origin is None:
        raise InputError("data.source=pbmc68k is a file of the package scanpy, which is not installed")
    path = Path(package.origin).parent / "datasets" / "10x_pbmc68k_reduced.h5ad"
    if not path.is_file():
        raise InputError(f"this version of scanpy has no {path.name}; 1.10 and 1.11 have", ("data.source",))
    return path


SOURCES: dict[str, Source] = {
    STAND_IN: Source(
        find=lambda _: stand_in_path(),
        groupby="Broad cell type",
        exclude=("Unknown",),
        latents=HOUSEKEEPING,
        expected=(43, 15256),
        note="made by this project in the layout of the atlas: not the paper's data",
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

HOW_TO_GET_THE_ATLAS = f"""\
  1. On gtexportal.org, Downloads, single-cell data (GTEx Analysis V9, snRNA-Seq Data), download
     {ATLAS_FILE}
  2. Set GTEX_H5AD=/path/to/it in the shell of your runs, or place or link it as data/gtex/{ATLAS_FILE};
     make data DATASETS=gtex GTEX_H5AD=/path/to/it checks it first.
  3. The table of transcription factors of hTFtarget (Zhang et al. 2020) may not be redistributed: download it from its
     site and set TF_TARGETS=/path/to/it, or place it as data/gtex/{TABLE_FILE}. DoRothEA's, written as
     text, works as well with data.tf_layout=dorothea (make data ... TF_LAYOUT=dorothea checks it); the runs are then
     not those of the figures.
  4. Memory: not measured on the atlas. Its matrix takes 8 bytes per value above 0, 1.7 GB if a nucleus has 1000 genes;
     the file's other matrices (raw, counts) are read too, smoothing makes two more copies and twice 209,126 x 8 bytes
     per gene used (0.7 GB for 200): have 16 GB or more. It is done once, later runs read the result from data/cache.
  None of this is needed for data.source=semi_synthetic, pbmc68k or celltypist_sample."""
