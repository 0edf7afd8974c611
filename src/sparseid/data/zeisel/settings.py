"""Settings of the mouse cortex cells; values of the paper's code are in ``configs/data/zeisel.yaml``."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from sparseid.errors import InputError
from sparseid.settings import FeatureMatrixSettings, Keys, Run, SettingsError, setting

SAMPLE, ORIGINAL = "sample", "original"


@dataclass
class ZeiselSettings(FeatureMatrixSettings):
    """Gene expression of 3,005 cells of seven classes (Zeisel et al. 2015)."""

    name: str = "zeisel"
    source: str = setting(
        "sample (the project's: all cells, but other genes without names) or original (the paper's, user-provided).",
        default=SAMPLE,
        choices=(SAMPLE, ORIGINAL),
    )
    path: str = setting(
        "Text file of the original; empty for the one in data/zeisel. The run hash covers its content.",
        default="",
        path=True,
    )
    genes: int = setting("Final number of genes: those that vary most after normalisation.", at_least=2)
    noisy_genes: int = setting("Number of genes before that: those that vary most for their mean.", at_least=2)
    min_molecules: int = setting("Genes with fewer molecules in all cells together are skipped.", at_least=1)
    correlation: float = setting("Pearson correlation above which two genes count as correlated.", at_least=-1, below=1)
    correlated_genes: int = setting("Genes correlated with fewer genes, including themselves, are skipped.", at_least=1)
    noise_exponent: float = setting(
        "Exponent of the curve log2(mean^exponent + floor) for comparison with a gene's log2 coefficient of variation.",
        at_most=0,
    )
    noise_floor: float = setting("Floor of that curve.", at_least=0)
    enrichment: bool = setting(
        "Count the gene sets that some factor's genes are enriched for; requires the original's names.", default=False
    )
    gene_sets: str = setting(
        "GMT file of gene sets; empty for the one in data/zeisel. The run hash covers its content.",
        default="",
        path=True,
    )

    loads = "sparseid.data.zeisel.datamodule:ZeiselData"
    obtained_by = "sparseid.data.zeisel.obtain:zeisel"

    def errors(self, run: Run) -> Iterator[SettingsError]:
        """Yield an error for files that are named but would not be read."""
        if self.source == SAMPLE and self.path:
            text = f"data.path is the original file: set data.source={ORIGINAL}"
            yield SettingsError(("data.path", "data.source"), text)
        if self.source == SAMPLE and self.enrichment:
            text = f"the sample's genes have no names to look up in sets: set data.source={ORIGINAL}"
            yield SettingsError(("data.enrichment", "data.source"), text)
        if self.gene_sets and not self.enrichment:
            text = "data.gene_sets is not read: set data.enrichment=true"
            yield SettingsError(("data.gene_sets", "data.enrichment"), text)

    def missing_files(self) -> Iterator[SettingsError]:
        """Yield errors of user-provided files that are missing or unusable, with the remedy; each is read once."""
        if self.source != ORIGINAL:
            return
        from sparseid.data.zeisel.gene_sets import place_of_sets, read_gene_sets
        from sparseid.data.zeisel.prepare import prepared

        try:
            prepared(self)
            if self.enrichment:
                read_gene_sets(place_of_sets(self))
        except InputError as error:
            yield SettingsError(error.keys, str(error))

    def user_files(self) -> dict[str, Path]:
        """Return the readable ones of the files of cells and gene sets, as far as they are used."""
        if self.source != ORIGINAL:
            return {}
        from sparseid.data.paths import unusable
        from sparseid.data.zeisel.gene_sets import place_of_sets
        from sparseid.data.zeisel.reader import place_of

        files = {"path": place_of(self)} | ({"gene_sets": place_of_sets(self)} if self.enrichment else {})
        return {name: path for name, path in files.items() if not unusable(path)}

    def row_keys(self) -> Keys:
        """Add the source of the cells."""
        return super().row_keys() | {"source": self.source}
