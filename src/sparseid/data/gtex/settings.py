"""Settings of the single-cell expression data; numbers that the paper fixes stand in ``configs/data/gtex.yaml``."""

from __future__ import annotations

import dataclasses
import json
import math
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from sparseid.errors import InputError
from sparseid.settings import DataSettings, Keys, Run, SettingsError, setting

OWN = ("groupby", "include_regex", "exclude", "counts", "z_genes", "tf_targets")
"""Settings by which the user asks a file for something else than its source does."""

_FITTING: set[str] = set()
"""Settings and digests of files that were looked at in this process and can be used, as far as that shows."""


@dataclass
class MagicSettings:
    """Smoothing of expression over similar cells."""

    knn: int = setting("Nearest cell whose distance is a cell's bandwidth.", at_least=1)
    decay: float = setting("Exponent with which affinity falls with distance.", above=0)
    t: int = setting("Steps of the random walk; 0 does not smooth.", at_least=0)
    components: int = setting("Principal components in which distances are measured.", at_least=0)


@dataclass
class HeldOutSettings:
    """A cell type excluded from training and predicted from its closest one."""

    index: int = setting("Which of the types that qualify, from 0 on; -1 holds out none.", default=-1, at_least=-1)
    min_population: int = setting("Least cells of a type that is held out, before capping.", at_least=0)
    min_neighbour: int = setting("Least cells of its closest type, before capping.", at_least=0)
    contract: bool = setting("Take out the node above it, too, which is left with one child.", default=False)
    train_on: str = setting(
        "Types that are trained on: all others, or only the closest one (the paper's baseline).",
        default="all",
        choices=("all", "closest"),
    )


@dataclass
class GtexSettings(DataSettings):
    """Expression of single cells by type; labels simulated from the expression of a few genes."""

    name: str = "gtex"
    source: str = setting(
        "semi_synthetic (created here), atlas (GTEx, provided by you), pbmc68k or celltypist_sample (real, small).",
        default="semi_synthetic",
        choices=("semi_synthetic", "atlas", "pbmc68k", "celltypist_sample"),
    )
    path: str = setting(
        "The atlas' file; empty is $GTEX_H5AD, else the file in data/gtex. A run is known by its content.", default=""
    )
    counts: bool = setting("The file holds counts, to be scaled and logged here, not their logarithm.", default=False)
    groupby: str = setting("Column of cell types; empty is the source's.", default="")
    include_regex: str = setting("Keep types whose name it is found in; empty keeps all.", default="")
    exclude: list[str] = setting("Types excluded in addition to cells without a type.", default=[])
    cap: int = setting("Most cells of a type, chosen at random.", at_least=4)
    z_genes: list[str] = setting("Genes that latents are chosen from; empty is the source's.", default=[])
    latents: int = setting("Genes chosen as latents.", at_least=1)
    z_choice: int = setting(
        "Which genes are the latents z: the number, from 0 on, of one of all choices of `latents` out of `z_genes`, "
        "which stand in a fixed random order.",
        default=0,
        at_least=0,
    )
    tf_targets: str = setting(
        "Table of transcription factors and their targets; empty is $TF_TARGETS or data/gtex for the atlas, the "
        "source's own choice of inputs for others. A run is known by its content.",
        default="",
    )
    tf_layout: str = setting("Columns of the table.", default="htftarget", choices=("htftarget", "dorothea"))
    magic: MagicSettings = setting("Smoothing of expression over similar cells.", default=MagicSettings)
    dendrogram: str = setting(
        "Cells that the tree is computed from.", default="after_cap", choices=("after_cap", "before_cap")
    )
    standardise: str = setting(
        "Scale inputs and latents to the mean and spread of the training cells (train), or not (none).",
        default="train",
        choices=("train", "none"),
    )
    S: int = setting("Weights that change along an arc.", default=1)
    delta_std: float = setting("Standard deviation of a change.", at_least=0)
    noise_std_y: float = setting("Standard deviation of the noise of labels.", at_least=0)
    held_out: HeldOutSettings = setting("A cell type excluded from training.", default=HeldOutSettings)

    loads = "sparseid.data.gtex.datamodule:GtexData"
    interface = "environments"
    obtained_by = "sparseid.data.gtex.obtain:gtex"

    def errors(self, run: Run) -> Iterator[SettingsError]:
        """Yield what makes the settings impossible, whatever the cells are and whether they are there."""
        from sparseid.data.paths import unusable

        if not 0 <= self.S <= self.latents:
            text = f"along an arc 0 to {self.latents} weights can change, one per latent: data.S must lie between"
            yield SettingsError(("data.S", "data.latents"), text)
        if self.held_out.train_on == "closest" and self.held_out.index < 0:
            text = "there is no closest type without a held-out one: write data.held_out.index=0"
            yield SettingsError(("data.held_out.train_on", "data.held_out.index"), text)
        if self.tf_targets and (reason := unusable(Path(self.tf_targets))):
            text = f"the table of transcription factors {self.tf_targets} {reason}"
            yield SettingsError(("data.tf_targets",), text)
        yield from self._choice_of_genes()
        estimator = getattr(run.method, "estimator", "joint")
        if estimator != "joint":
            text = (
                f"method.estimator={estimator} compares pairs of types that are each other's nearest, and a "
                "tree of cell types has too few of them: write method.estimator=joint"
            )
            yield SettingsError(("method.estimator", "data.name"), text)

    def _choice_of_genes(self) -> Iterator[SettingsError]:
        from sparseid.data.gtex.sources import SOURCES

        candidates = self.z_genes or SOURCES[self.source].latents
        if len(set(candidates)) < len(candidates):
            yield SettingsError(("data.z_genes",), "data.z_genes names a gene twice")
        choices = math.comb(len(candidates), self.latents)
        if self.z_choice >= choices:
            text = f"{self.latents} of {len(candidates)} genes can be chosen in {choices} ways: data.z_choice is none"
            yield SettingsError(("data.z_choice", "data.latents", "data.z_genes"), text)
        if self.source != "atlas" and self.path:
            text = "data.path names the atlas' file: write data.source=atlas"
            yield SettingsError(("data.path", "data.source"), text)

    def missing_files(self) -> Iterator[SettingsError]:
        """Yield which of the user's files is not there or cannot be used, with what to do.

        Files are looked at once, not for every run of a sweep: table, columns and genes, and the values of a file that
        is soon read; those of the atlas only the first run reads. An error of that run is remembered and yielded here
        from then on.
        """
        if self.source != "atlas" and not any(getattr(self, name) for name in OWN):
            return  # a source's own settings fit its file
        from sparseid.data.cache import digest
        from sparseid.data.gtex.sources import atlas_path, atlas_table_path

        try:
            if self.source == "atlas":
                atlas_path(self.path)
                atlas_table_path(self.tf_targets)
            names = (*OWN, "source", "path", "tf_layout", "cap", "dendrogram")
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
        """Return the atlas and the table of transcription factors, those that are read and can be read."""
        from sparseid.data.gtex.sources import atlas_place, table_place
        from sparseid.data.paths import unusable

        files = {}
        if self.source == "atlas":
            files = {"path": atlas_place(self.path), "tf_targets": table_place(self.tf_targets)}
        elif self.tf_targets:
            files = {"tf_targets": Path(self.tf_targets)}
        return {name: path for name, path in files.items() if not unusable(path)}

    def row_keys(self) -> Keys:
        """Add the phenotype's settings, the held-out type and cells that are not the paper's."""
        keys = super().row_keys() | {"S": self.S, "z_choice": self.z_choice}
        if self.held_out.index >= 0:
            keys["held_out"] = self.held_out.index
        if self.source != "atlas":  # never to be mistaken for the paper's data
            keys["source"] = self.source
        return keys
