"""Settings of the single-cell expression data; numbers that the paper fixes stand in ``configs/data/gtex.yaml``."""

from __future__ import annotations

from dataclasses import dataclass, field

from omegaconf import MISSING


@dataclass
class MagicConfig:
    """Smoothing of expression over similar cells."""

    knn: int = MISSING
    """Nearest cell whose distance is a cell's bandwidth."""
    decay: float = MISSING
    """Exponent with which affinity falls with distance."""
    t: int = MISSING
    """Steps of the random walk; 0 does not smooth."""
    components: int = MISSING
    """Principal components in which distances are measured."""


@dataclass
class HeldOutConfig:
    """A cell type left out of training and predicted from its closest one."""

    index: int = -1
    """Which of the types that qualify, from 0 on; -1 holds out none."""
    min_population: int = MISSING
    """Least cells of a type that is held out, before capping."""
    min_neighbour: int = MISSING
    """Least cells of its closest type, before capping."""
    contract: bool = False
    """Whether the node above it, left with one child, is taken out too."""
    train_on: str = "all"
    """all other types, or closest: only the closest one (the paper's baseline)."""


@dataclass
class GtexConfig:
    """Expression of single cells by type; labels simulated from the expression of a few genes."""

    name: str = "gtex"
    source: str = "semi_synthetic"
    """semi_synthetic (made here), atlas (GTEx, supplied by you), pbmc68k or celltypist_sample (real, small)."""
    path: str = ""
    """The atlas' file; empty is $GTEX_H5AD, else the file in data/gtex. A run is known by its content."""
    counts: bool = False
    """Whether the file holds counts, to be scaled and logged here, and not their logarithm."""
    groupby: str = ""
    """Column of cell types; empty is the source's."""
    include_regex: str = ""
    """Keep types whose name it is found in; empty keeps all."""
    exclude: list[str] = field(default_factory=list)
    """Types left out beside those without a type."""
    cap: int = MISSING
    """Most cells of a type, chosen at random."""
    z_genes: list[str] = field(default_factory=list)
    """Genes that latents are chosen from; empty is the source's."""
    latents: int = MISSING
    """Genes chosen as latents."""
    z_choice: int = 0
    """Which genes are the latents z: the number, from 0 on, of one of all choices of `latents` out of `z_genes`, which
    stand in a fixed random order."""
    tf_targets: str = ""
    """Table of transcription factors and their targets; empty is $TF_TARGETS or data/gtex for the atlas, the source's
    own choice of inputs for others. A run is known by its content."""
    tf_layout: str = "htftarget"
    """Columns of the table: htftarget or dorothea."""
    magic: MagicConfig = field(default_factory=MagicConfig)
    dendrogram: str = "after_cap"
    """Cells that the tree is made of: after_cap or before_cap."""
    standardise: str = "train"
    """Scale inputs and latents to the mean and spread of the training cells (train), or not (none)."""
    S: int = 1
    """Weights that change along an arc."""
    delta_std: float = MISSING
    """Standard deviation of a change."""
    noise_std_y: float = MISSING
    """Standard deviation of the noise of labels."""
    held_out: HeldOutConfig = field(default_factory=HeldOutConfig)
