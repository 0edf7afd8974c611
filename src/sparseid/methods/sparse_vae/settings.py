"""Settings of the Sparse VAE and its baselines; values of paper and code are in ``configs/method/sparse_vae.yaml``."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from sparseid.settings import DataSettings, Keys, MethodSettings, Run, SettingsError, setting

TRAINED_INPUTS = ("zeisel",)
"""Data sets on which the authors' VSC trains its pseudo-inputs."""


@dataclass
class SpikeAndSlabSettings:
    """Prior of the selectors (only sparse_vae)."""

    lambda0: float = setting("Rate of the spike.", above=0)
    lambda1: float = setting("Rate of the slab, below lambda0.", above=0)
    a: float = setting(
        "First parameter of the Beta prior of the slab's fraction in each latent.", default=1.0, at_least=0
    )
    b: float = setting("Second parameter; 0 for the number of features.", default=0.0, at_least=0)
    laplace_normaliser: str = setting(
        "Densities of spike and slab: paper (normalised) or code (without their factors lambda0 and lambda1).",
        default="code",
        choices=("code", "paper"),
    )
    warm_up: float = setting(
        "Fraction of training before the prior is used; 0 as published.",
        default=0.0,
        at_least=0,
        at_most=1,
    )


@dataclass
class VSCSettings:
    """Variational sparse coding (only vsc)."""

    variant: str = setting(
        "authors (by the authors of the Sparse VAE, with published results) or original (Tonolini et al.).",
        default="authors",
        choices=("authors", "original"),
    )
    train_pseudo_inputs: bool = setting(
        "Train the pseudo-inputs and their selector; otherwise they stay at their initial values.", default=False
    )


@dataclass
class OIVAESettings:
    """OI-VAE with a group per feature (only oi_vae)."""

    units: int = setting("Units of a group's network.", default=8, at_least=1)
    penalty_weight: float = setting("Weight of the group lasso.", default=1.0, at_least=0)
    selector_lr: float = setting(
        "Learning rate of plain gradient descent on the group's selectors; `lr` is that of all other parameters.",
        default=1e-4,
        at_least=0,
    )


@dataclass
class SparseVAESettings(MethodSettings):
    """The Sparse VAE, or one of its baselines."""

    name: str = "sparse_vae"
    model: str = setting("Model.", default="sparse_vae", choices=("sparse_vae", "vae", "vsc", "oi_vae", "nmf"))
    latents: int = setting("Number of factors K.", at_least=1)
    hidden: int = setting("Units of every hidden layer.", at_least=1)
    lr: float = setting("Adam's learning rate, constant.", above=0)
    beta: float = setting("Weight of the divergence of a vae; a beta-VAE unless it is 1.", default=1.0, at_least=0)
    kl_reduction: str = setting(
        "Reduction over latents of the divergence from a standard normal: mean (authors' code) or sum (textbook).",
        default="mean",
        choices=("mean", "sum"),
    )
    feature_share: float = setting(
        "Fraction of Gaussian features that a step of sparse_vae reconstructs: an unbiased estimate at that fraction "
        "of the cost.",
        default=1.0,
        above=0,
        at_most=1,
    )
    restarts: int = setting(
        "Number of trainings per seed; the one with the lowest training objective is evaluated.", default=1, at_least=1
    )
    prior: SpikeAndSlabSettings = setting("Prior of the selectors.", default=SpikeAndSlabSettings)
    vsc: VSCSettings = setting("Variational sparse coding.", default=VSCSettings)
    oi_vae: OIVAESettings = setting("OI-VAE.", default=OIVAESettings)

    loads = "sparseid.methods.sparse_vae.module:SparseVAEModule"
    stops_early = True
    interfaces = ("feature_matrix",)

    def errors(self, run: Run) -> Iterator[SettingsError]:
        """Yield errors of the settings, by themselves or with the data."""
        if self.prior.lambda0 <= self.prior.lambda1:
            text = "the spike must be narrower than the slab: set method.prior.lambda0 above method.prior.lambda1"
            yield SettingsError(("method.prior.lambda0", "method.prior.lambda1"), text)
        gaussian = run.data.likelihood == "gaussian"
        if self.feature_share < 1 and not (gaussian and self.model == "sparse_vae"):
            text = "only the Sparse VAE on Gaussian features can skip features in a step: set "
            keys = ("method.feature_share", "method.model", "data.name")
            yield SettingsError(keys, f"{text}method.feature_share=1")
        if self.beta != 1 and self.model != "vae":
            text = f"{self.model} has no beta: set method.beta=1 or method.model=vae"
            yield SettingsError(("method.beta", "method.model"), text)
        if self.model in ("oi_vae", "nmf") and not gaussian:
            text = f"{self.model} has no likelihood of counts: choose another method.model for {run.data.name}"
            yield SettingsError(("method.model", "data.name"), text)
        if self.model == "nmf" and run.data.negative:
            text = f"NMF needs non-negative data: choose another method.model for {run.data.name}"
            yield SettingsError(("method.model", "data.name"), text)
        if self.model == "nmf" and self.restarts > 1:
            text = "all restarts of NMF have the same result: set method.restarts=1"
            yield SettingsError(("method.restarts", "method.model"), text)
        if run.trainer.precision != "32":
            text = "the masked decoder requires single precision: set trainer.precision=32"
            yield SettingsError(("trainer.precision",), text)

    def row_keys(self, data: DataSettings) -> Keys:
        """Return the method's name, including deviations from the settings published for the data."""
        beta: Keys = {"beta": self.beta} if self.model == "vae" and self.beta != 1 else {}
        trained, published = self.vsc.train_pseudo_inputs, data.name in TRAINED_INPUTS
        recipe = {
            "original": self.model == "vsc" and self.vsc.variant == "original",
            "trained_inputs": self.model == "vsc" and trained and not published,
            "untrained_inputs": self.model == "vsc" and published and not trained,
            "kl_sum": self.kl_reduction == "sum" and self.model in ("sparse_vae", "vae"),
            "paper_prior": self.model == "sparse_vae" and self.prior.laplace_normaliser == "paper",
            "warm_up": self.model == "sparse_vae" and self.prior.warm_up > 0,
            "restarts": self.restarts > 1,
        }
        own = data.name == "matrix"  # no setting is published for it
        name = "beta_vae" if beta else self.model
        return {"method": "_".join([name, *(part for part, holds in recipe.items() if holds and not own)]), **beta}
