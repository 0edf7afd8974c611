"""Settings of the single-cell expression data; values of the paper are in ``configs/data/gtex.yaml``."""

from __future__ import annotations

import dataclasses
import json
import math
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from sparseid.errors import InputError
from sparseid.optional import absence
from sparseid.settings import DataSettings, Keys, Run, SettingsError, setting

OWN = ("groupby", "include_regex", "exclude", "counts", "z_genes", "tf_targets")
"""Settings that override those of the source."""

_FITTING: set[str] = set()
"""Settings and digests of files that were checked in this process without an error."""


@dataclass
class MagicSettings:
    """Smoothing of expression over similar cells."""

    knn: int = setting("Rank of the neighbour whose distance is a cell's bandwidth.", at_least=1)
    decay: float = setting("Exponent of the decrease of affinity with distance.", above=0)
    t: int = setting("Steps of the random walk; 0 disables smoothing.", at_least=0)
    components: int = setting("Number of principal components for distances.", at_least=0)


@dataclass
class HeldOutSettings:
    """A cell type excluded from training and predicted from its closest one."""

    index: int = setting("Index of the held-out type among eligible types; -1 for none.", default=-1, at_least=-1)
    min_population: int = setting("Minimum number of cells of a held-out type, before the cap.", at_least=0)
    min_neighbour: int = setting("Minimum number of cells of its closest type, before the cap.", at_least=0)
    contract: bool = setting("Also remove the node above it, which has one child left.", default=False)
    train_on: str = setting(
        "Types to train on: all others, or only the closest one (the paper's baseline).",
        default="all",
        choices=("all", "closest"),
    )


@dataclass
class GtexSettings(DataSettings):
    """Gene expression of single cells by type; labels simulated from the expression of a few genes."""

    name: str = "gtex"
    source: str = setting(
        "semi_synthetic (generated), atlas (GTEx, user-provided), pbmc68k or celltypist_sample (real, small).",
        default="semi_synthetic",
        choices=("semi_synthetic", "atlas", "pbmc68k", "celltypist_sample"),
    )
    path: str = setting(
        "File of the atlas; empty for $GTEX_H5AD or the file in data/gtex. The run hash covers its content.",
        default="",
        path=True,
    )
    layer: str = setting(
        "Matrix of the atlas with the expression: X, the name of a layer, or raw for the matrix before scaling.",
        default="X",
    )
    counts: bool = setting("The matrix contains counts, to be scaled and log-transformed here.", default=False)
    groupby: str = setting("Column of cell types; empty for the source's.", default="")
    include_regex: str = setting("Use only types whose name contains a match; empty for all.", default="")
    exclude: list[str] = setting("Types excluded in addition to cells without a type.", default=[])
    cap: int = setting("Maximum number of cells of a type, chosen at random.", at_least=4)
    z_genes: list[str] = setting("Candidate genes for latents; empty for the source's.", default=[])
    latents: int = setting("Number of genes chosen as latents.", at_least=1)
    z_choice: int = setting(
        "Number, from 0, of the choice of latents z among all choices of `latents` genes out of `z_genes`, in a fixed "
        "random order.",
        default=0,
        at_least=0,
    )
    tf_targets: str = setting(
        "Table of transcription factors and their targets; empty for $TF_TARGETS or the file in data/gtex (atlas), or "
        "the source's own inputs (others). The run hash covers its content.",
        default="",
        path=True,
    )
    tf_layout: str = setting("Layout of the table.", default="htftarget", choices=("htftarget", "dorothea"))
    magic: MagicSettings = setting("Smoothing of expression over similar cells.", default=MagicSettings)
    dendrogram: str = setting(
        "Cells from which the tree is computed.", default="after_cap", choices=("after_cap", "before_cap")
    )
    standardise: str = setting(
        "Scale inputs and latents to the mean and spread of the training cells (train), or not (none).",
        default="train",
        choices=("train", "none"),
    )
    S: int = setting("Number of weights that change along an arc.", default=1)
    delta_std: float = setting("Standard deviation of a change.", at_least=0)
    noise_std_y: float = setting("Standard deviation of the label noise.", at_least=0)
    held_out: HeldOutSettings = setting("A cell type excluded from training.", default=HeldOutSettings)

    loads = "sparseid.data.gtex.datamodule:GtexData"
    interface = "environments"
    obtained_by = "sparseid.data.gtex.obtain:gtex"

    def errors(self, run: Run) -> Iterator[SettingsError]:
        """Yield errors that do not depend on the cells."""
        from sparseid.data.paths import unusable

        if not 0 <= self.S <= self.latents:
            text = f"data.S must be between 0 and {self.latents}: a weight per latent can change along an arc"
            yield SettingsError(("data.S", "data.latents"), text)
        if self.held_out.train_on == "closest" and self.held_out.index < 0:
            text = "data.held_out.train_on=closest requires a held-out type: set data.held_out.index=0"
            yield SettingsError(("data.held_out.train_on", "data.held_out.index"), text)
        if self.tf_targets and (reason := unusable(Path(self.tf_targets))):
            text = f"the table of transcription factors {self.tf_targets} {reason}"
            yield SettingsError(("data.tf_targets",), text)
        yield from self._choice_of_genes()
        estimator = getattr(run.method, "estimator", "joint")
        if estimator != "joint":
            text = (
                f"method.estimator={estimator} compares pairs of types that are each other's nearest, of which a "
                "tree of cell types has too few: set method.estimator=joint"
            )
            yield SettingsError(("method.estimator", "data.name"), text)

    def _choice_of_genes(self) -> Iterator[SettingsError]:
        from sparseid.data.gtex.sources import SOURCES

        candidates = self.z_genes or SOURCES[self.source].latents
        if len(set(candidates)) < len(candidates):
            yield SettingsError(("data.z_genes",), "data.z_genes contains a gene twice: remove the duplicate")
        choices = math.comb(len(candidates), self.latents)
        if self.z_choice >= choices:
            text = f"{self.latents} of {len(candidates)} genes can be chosen in {choices} ways: lower data.z_choice"
            yield SettingsError(("data.z_choice", "data.latents", "data.z_genes"), text)
        if self.source != "atlas" and self.path:
            text = "data.path is the file of the atlas: set data.source=atlas"
            yield SettingsError(("data.path", "data.source"), text)
        if self.source != "atlas" and self.layer != "X":
            text = "data.layer is a matrix of the atlas: set data.source=atlas"
            yield SettingsError(("data.layer", "data.source"), text)

    def missing_files(self) -> Iterator[SettingsError]:
        """Yield errors of user-provided files that are missing or unusable, with the remedy.

        Files are checked once, not for every run of a sweep: table, columns and genes, and the values of small files.
        The values of the atlas are checked by its first run, whose error is stored and repeated here.
        """
        if text := absence("scanpy" if self.source == "pbmc68k" else "anndata", "cells"):
            yield SettingsError(("data.name", "data.source"), text)
            return
        if self.source != "atlas" and not any(getattr(self, name) for name in OWN):
            return  # a source's own settings match its file
        from sparseid.data.cache import digest
        from sparseid.data.gtex.sources import atlas_path, atlas_table_path

        try:
            if self.source == "atlas":
                atlas_path(self.path)
                atlas_table_path(self.tf_targets)
            names = (*OWN, "source", "path", "layer", "tf_layout", "cap", "dendrogram")
            settings = {name: getattr(self, name) for name in names} | dataclasses.asdict(self.magic)
            files = {name: digest(path) for name, path in self.user_files().items()}
            seen = json.dumps([settings, files], sort_keys=True)
            if seen not in _FITTING:
                from sparseid.data.gtex import prepare

                prepare.check_header(self)
                _FITTING.add(seen)
        except InputError as error:
            yield SettingsError(error.keys, str(error))

    def user_files(self) -> dict[str, Path]:
        """Return the readable ones of the atlas and the table of transcription factors, as far as they are used."""
        from sparseid.data.gtex.sources import atlas_place, table_place
        from sparseid.data.paths import unusable

        files = {}
        if self.source == "atlas":
            files = {"path": atlas_place(self.path), "tf_targets": table_place(self.tf_targets)}
        elif self.tf_targets:
            files = {"tf_targets": Path(self.tf_targets)}
        return {name: path for name, path in files.items() if not unusable(path)}

    def row_keys(self) -> Keys:
        """Add the settings of the phenotype, the held-out type and the source if it is not the paper's."""
        keys = super().row_keys() | {"S": self.S, "z_choice": self.z_choice}
        if self.held_out.index >= 0:
            keys["held_out"] = self.held_out.index
        if self.source != "atlas":  # distinguishes them from the paper's data
            keys["source"] = self.source
        return keys
