"""Settings of the mouse cortex cells; numbers of the paper's code stand in ``configs/data/zeisel.yaml``."""

from __future__ import annotations

from dataclasses import dataclass

from omegaconf import MISSING


@dataclass
class ZeiselConfig:
    """Expression of genes in 3,005 cells of seven classes (Zeisel et al. 2015)."""

    name: str = "zeisel"
    source: str = "sample"
    """sample (all cells, other genes without names, held by the project) or original (the paper's, you place it)."""
    path: str = ""
    """The original's text file; empty is the one in data/zeisel. A run is known by its content."""
    genes: int = MISSING
    """Genes kept at last: those that vary most after normalisation."""
    noisy_genes: int = MISSING
    """Genes kept before it: those that vary most for their mean."""
    min_molecules: int = MISSING
    """Genes with fewer molecules in all cells are left out."""
    correlation: float = MISSING
    """Pearson correlation above which two genes count as correlated."""
    correlated_genes: int = MISSING
    """Genes correlated with fewer, themselves included, are left out."""
    noise_exponent: float = MISSING
    noise_floor: float = MISSING
    """Of the curve log2(mean^exponent + floor) that a gene's log2 coefficient of variation is compared with."""
    enrichment: bool = False
    """Whether to count the gene sets that some factor's genes are enriched for; needs names, of the original."""
    gene_sets: str = ""
    """Their GMT file; empty is the one in data/zeisel. A run is known by its content."""
