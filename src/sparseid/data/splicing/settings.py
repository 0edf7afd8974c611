"""Settings of splicing; values of the paper's code are in ``configs/experiment/at/sparling/fig12.paper.yaml``."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from sparseid.errors import InputError
from sparseid.settings import Keys, MotifSettings, Run, SettingsError, setting

WIDEST = 8
"""Maximum width of synthetic motifs: all 4^width sequences of that length are enumerated."""


@dataclass
class SplicingSettings(MotifSettings):
    """Nucleotide sequences, each of whose positions is labelled as acceptor, donor or neither."""

    name: str = "splicing"
    source: str = setting(
        "synthetic (random sequences and a rule, with known motifs) or spliceai (the paper's kind of files, "
        "user-provided).",
        default="synthetic",
        choices=("synthetic", "spliceai"),
    )
    path: str = setting(
        "Folder of the files of spliceai; empty for data/splicing. The run hash covers their content.",
        default="",
        path=True,
    )
    length: int = setting("Number of labelled nucleotides of a sequence.", at_least=1, spatial=True)
    context: int = setting("Number of nucleotides without labels on either side of them.", at_least=0, spatial=True)
    prevalence: float = setting("Fraction of the positions that are sites of a motif.", above=0, below=1)
    footprint: int = setting("Number of nucleotides on either side of a site that belong to it.", at_least=0)
    regulators: int = setting(
        "Number of motifs besides the two of splice sites (synthetic).", default=0, at_least=0, at_most=100
    )
    motif_width: int = setting("Width of a motif, in nucleotides (synthetic).", default=0, at_least=0, at_most=WIDEST)
    reach: int = setting(
        "Maximum distance at which a motif acts on a splice site, in nucleotides (synthetic).", default=0, at_least=0
    )
    validation_from: str = setting(
        "Validation items of spliceai: train (those of training in another order, as published) or held_out (the last "
        "tenth of the chunks, which then do not train).",
        default="train",
        choices=("train", "held_out"),
    )

    loads = "sparseid.data.splicing.datamodule:SplicingData"
    interface: ClassVar[str] = "position_labels"
    obtained_by = "sparseid.data.splicing.obtain:splicing"

    @property
    def spatial(self) -> tuple[int, int]:
        """Number of nucleotides of a sequence with its context, and 1."""
        return self.length + 2 * self.context, 1

    def errors(self, run: Run) -> Iterator[SettingsError]:
        """Yield errors of synthetic motifs."""
        if self.source != "synthetic":
            return
        if self.regulators < 1 or self.motif_width < 2 or self.reach < 1:
            text = "synthetic sequences need data.regulators=1, data.motif_width=2 and data.reach=1 or more"
            yield SettingsError(("data.regulators", "data.motif_width", "data.reach"), text)
            return
        if self.prevalence * 4**self.motif_width < 1:
            text = (
                f"of the {4**self.motif_width} sequences of data.motif_width={self.motif_width} nucleotides not even "
                "one would be a site: raise data.prevalence or data.motif_width"
            )
            yield SettingsError(("data.prevalence", "data.motif_width"), text)
        if self.context < self.reach + self.motif_width:
            text = (
                "labels must follow from the sequence that a model sees: set data.context to data.reach + "
                f"data.motif_width = {self.reach + self.motif_width} or more"
            )
            yield SettingsError(("data.context", "data.reach", "data.motif_width"), text)

    def missing_files(self) -> Iterator[SettingsError]:
        """Yield an error if a file of spliceai is missing or unusable."""
        if self.source != "spliceai":
            return
        from sparseid.data.splicing.files import check_files

        try:
            check_files(self)
        except InputError as error:
            yield SettingsError(error.keys, str(error))

    def user_files(self) -> dict[str, Path]:
        """Return the user-provided files."""
        if self.source != "spliceai":
            return {}
        from sparseid.data.splicing.files import existing_files

        return existing_files(self)

    def row_keys(self) -> Keys:
        """Return the domain of the paper's figure, and the source if it is not the paper's."""
        keys = super().row_keys()
        return keys if self.source == "spliceai" else keys | {"source": self.source}
