"""Settings of the Sparse VAE and its baselines; numbers of paper and code are in ``configs/method/sparse_vae.yaml``."""

from __future__ import annotations

from dataclasses import dataclass, field

from omegaconf import MISSING


@dataclass
class SpikeAndSlabConfig:
    """Prior of the selectors; sparse_vae only."""

    lambda0: float = MISSING
    """Rate of the spike."""
    lambda1: float = MISSING
    """Rate of the slab, below lambda0."""
    a: float = 1.0
    b: float = 0.0
    """Of the Beta prior of the slab's share of each latent; b = 0 is the number of features."""
    laplace_normaliser: str = "code"
    """paper (the two densities as written) or code (without their factors lambda0 and lambda1)."""
    warm_up: float = 0.0
    """Share of training before the prior comes into force; 0 is the published recipe."""


@dataclass
class VSCConfig:
    """Variational sparse coding; vsc only."""

    variant: str = "authors"
    """authors (of the Sparse VAE, whose numbers are published) or original (Tonolini et al.)."""
    train_pseudo_inputs: bool = False
    """Whether pseudo-inputs and their selector are trained, or stay as they were drawn."""


@dataclass
class OIVAEConfig:
    """OI-VAE; oi_vae only. Every feature is a group of its own."""

    units: int = 8
    """Units of a group's network."""
    penalty_weight: float = 1.0
    """Weight of the group lasso."""
    selector_lr: float = 1e-4
    """Of plain gradient descent on the group's selectors; `lr` is that of everything else."""


@dataclass
class SparseVAEConfig:
    """The Sparse VAE, or one of the models that it is compared with."""

    name: str = "sparse_vae"
    model: str = "sparse_vae"
    """sparse_vae, vae, vsc, oi_vae or nmf."""
    latents: int = MISSING
    """Factors K."""
    hidden: int = MISSING
    """Units of every hidden layer."""
    lr: float = MISSING
    """Of Adam, constant."""
    beta: float = 1.0
    """Weight of the divergence of a vae; other than 1 it is a beta-VAE."""
    kl_reduction: str = "mean"
    """Over latents, of the divergence from a standard normal: mean (the authors' code) or sum (the textbook's)."""
    feature_share: float = 1.0
    """Share of Gaussian features that a step of sparse_vae reconstructs: an unbiased estimate at that share of the
    cost."""
    restarts: int = 1
    """Trainings per seed, of which that with the lowest training objective is measured."""
    prior: SpikeAndSlabConfig = field(default_factory=SpikeAndSlabConfig)
    vsc: VSCConfig = field(default_factory=VSCConfig)
    oi_vae: OIVAEConfig = field(default_factory=OIVAEConfig)
