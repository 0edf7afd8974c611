"""Settings of masked mixtures of latents; default values are in ``configs/data/mlp_mixture.yaml``."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from sparseid.errors import InputError
from sparseid.settings import DataSettings, Keys, Run, SettingsError, setting
from sparseid.spelling import unlisted

if TYPE_CHECKING:
    from sparseid.masks import Mask

FEWEST_SAMPLES = 10
"""Minimum number of training and of test samples for meaningful correlations."""

NAMED = (
    "identity",
    "lower_triangular",
    "ones_minus_identity",
    "dense",
    "dense_minus_edge",
    "circulant",
    "random",
    "groups",
)
"""Named masks; any other value is a file."""

DIVERSE = ("identity", "circulant", "lower_triangular", "ones_minus_identity", "random")
"""Masks that are Sufficiently Diverse (circulant ones unless they are dense)."""


@dataclass
class MLPMixtureSettings(DataSettings):
    """Latents mixed by one small network per observation, which reads only the latents allowed by a mask."""

    name: str = "mlp_mixture"
    latents: int = setting("Number n of latents.", at_least=2)
    mask: str = setting(
        "Mask of the latents that each observation reads: n rows by name, identity, circulant (`band` consecutive "
        "latents, cyclically), lower_triangular, ones_minus_identity, dense, dense_minus_edge, random (a Sufficiently "
        "Diverse one per seed), groups (see `groups`), or the path of a csv file of 0 and 1, a line per observation.",
        default="circulant",
        file=True,
    )
    band: int = setting("Number of latents that an observation of the circulant mask reads.", default=2)
    groups: str = setting(
        "For mask=groups: digits of the latents (from 1) that each of two groups of observations reads: 12-23.",
        default="",
    )
    outputs_per_row: int = setting(
        "Number of observations, each with its own network, per row of a named mask: 1 (m = n) or 2 (m = 2n).",
        at_least=1,
    )
    latent_distribution: str = setting(
        "Distribution of a latent, with mean 0 and variance 1.",
        default="normal",
        choices=("normal", "laplace", "uniform"),
    )
    rho: float = setting(
        "Correlation of every two (normal) latents; above 0, some guarantees of the theory no longer hold.",
        default=0.0,
        at_least=0,
        below=1,
    )
    noise: float = setting(
        "Noise standard deviation, relative to noiseless observations of unit variance.", default=0.0, at_least=0
    )
    samples: int = setting("Number of training samples.", at_least=FEWEST_SAMPLES)
    test_samples: int = setting("Number of test samples.", at_least=FEWEST_SAMPLES)
    hidden: int = setting("Units of a network's hidden layer.", at_least=1)
    layers: int = setting("Number of hidden layers of a network.", at_least=1)
    activation: str = setting(
        "Activation: leaky_relu, or smooth_leaky: slope x + (1 - slope) softplus(x).",
        default="leaky_relu",
        choices=("leaky_relu", "smooth_leaky"),
    )
    slope: float = setting("Slope of the activation for negative inputs.", above=0, at_most=1)
    gain: float = setting("Factor of the orthogonal weights of hidden layers.", above=0)
    bias_std: float = setting("Standard deviation of the biases of hidden layers.", at_least=0)
    injective: str = setting(
        "check: redraw networks until the mixture is injective on the training samples, which requires about twice as "
        "many observations as latents; dominant: let a different latent dominate each of n observations; none: take "
        "the networks as they are drawn, though as many as latents almost always fold them.",
        default="check",
        choices=("check", "dominant", "none"),
    )
    dominance: float = setting(
        "For injective=dominant: largest sum of absolute derivatives of an observation's network, relative to that of "
        "its dominant latent. Below 1 every mixture is injective; from 1 on, networks are redrawn until one is on the "
        "training samples.",
        default=0.9,
        above=0,
    )

    loads = "sparseid.data.mlp_mixture.datamodule:MLPMixtureData"
    interface = "mixture"

    @property
    def mask_is_file(self) -> bool:
        """Return whether the mask is the path of a file."""
        return self.mask.endswith(".csv")

    def errors(self, run: Run) -> Iterator[SettingsError]:
        """Yield conflicting settings; without any, the reasons why the mask violates the assumptions of the theory."""
        found = list(self._clashes())
        yield from found or self._mask_errors()  # errors of the mask would follow from a conflict

    def _clashes(self) -> Iterator[SettingsError]:
        if not self.mask_is_file and (text := unlisted("data.mask", self.mask, (*NAMED, "the path of a csv file"))):
            yield SettingsError(("data.mask",), text)
        if self.mask == "circulant" and not 1 <= self.band <= self.latents:
            yield SettingsError(("data.band", "data.latents"), "data.band must be between 1 and data.latents")
        if self.rho > 0 and self.latent_distribution != "normal":
            text = "only normal latents can be correlated: set data.rho=0 or data.latent_distribution=normal"
            yield SettingsError(("data.rho", "data.latent_distribution"), text)
        if self.dominance != MLPMixtureSettings.dominance and self.injective != "dominant":
            text = "data.dominance has no effect here: set data.injective=dominant, or remove it"
            yield SettingsError(("data.dominance", "data.injective"), text)
        if self.groups and self.mask != "groups":
            text = "data.groups has no effect here: set data.mask=groups, or remove it"
            yield SettingsError(("data.groups", "data.mask"), text)

    def _mask_errors(self) -> Iterator[SettingsError]:
        import numpy as np

        from sparseid.data.mlp_mixture.masks import mask_of
        from sparseid.masks import observation_names, why_not_injective

        fold = "as many free networks as latents almost always fold them: set data.injective=dominant, or"
        if self.injective == "check" and self.outputs_per_row == 1 and not self.mask_is_file:
            yield SettingsError(("data.injective", "data.outputs_per_row"), f"{fold} data.outputs_per_row=2")
        if self.mask == "random" or (self.mask_is_file and not Path(self.mask).is_file()):
            return  # drawn to satisfy the assumptions; `missing_files` reports a missing file
        try:
            mask = mask_of(self, seed=0)
        except InputError as error:
            yield SettingsError(error.keys or ("data.mask",), str(error))
            return
        keys = ("data.groups" if self.mask == "groups" else "data.mask",)
        empty = np.flatnonzero(~mask.any(axis=1)).tolist()
        if empty:
            verb = "reads" if len(empty) == 1 else "read"
            text = f"{observation_names(empty)} of this mask {verb} no latent and would be constant: remove it"
            yield SettingsError(keys, text)
        reasons = list(why_not_injective(mask))
        for reason in reasons:
            text = f"{reason}; no mixture with this mask is injective, and nothing could be identified"
            yield SettingsError(keys, text)
        if self.mask_is_file and self.injective == "check" and not reasons and len(mask) == self.latents:
            text = f"{fold} give the mask more lines, about {2 * self.latents}"
            yield SettingsError(("data.injective", "data.mask"), text)

    def missing_files(self) -> Iterator[SettingsError]:
        """Yield an error if the file of the mask is missing."""
        if self.mask_is_file and not Path(self.mask).is_file():
            yield SettingsError(("data.mask",), f"data.mask={self.mask} does not exist")

    def warnings(self, mask: Mask) -> Iterator[str]:
        """Yield warnings about the identifiability of a member's data, for the run's log.

        Parameters
        ----------
        mask
            (observations, latents) of the member.
        """
        from sparseid.masks import latent_names, regions, sufficiently_diverse

        if self.mask_is_file:
            yield f"the {len(mask)} lines of {self.mask} are the observations (data.outputs_per_row is for named masks)"
        mixed = [region for region in regions(mask) if len(region) > 1]
        if mixed:
            listed = "; ".join(latent_names(region) for region in mixed)
            yield f"the same observations read {listed}: these can be separated from other latents, not from each other"
        elif not sufficiently_diverse(mask):
            yield "the mask is not Sufficiently Diverse, though no two latents are read by the same observations"
        if self.injective == "none":
            yield (
                "the networks are taken as drawn (data.injective=none): the theory assumes an injective mixture, and "
                "as many networks as latents almost always fold them"
            )
        if self.rho > 0:
            yield (
                f"latents correlate (data.rho={self.rho:g}): condition (ii) of set-theoretic indeterminacy and clauses "
                "1 and 2 of Sufficient Diversity no longer hold, since they assume independent latents. What remains: "
                "a true latent depends on a learned one only if every observation that reads the one reads the other"
            )
            if self.mask == "groups":
                yield (
                    "with correlated latents, R2 between blocks is above 0 even for perfect separation: only the "
                    "Jacobian test measures disentanglement here"
                )

    def row_keys(self) -> Keys:
        """Add the keys of the synthetic experiments; a mask file is identified by its name."""
        dense = self.mask == "dense" or (self.mask == "circulant" and self.band >= self.latents)
        keys = super().row_keys() | {
            "dim": self.latents,
            "structure": "dense" if dense else "diverse" if self.mask in DIVERSE else "other",
            "mask": f"circulant{self.band}" if self.mask == "circulant" else Path(self.mask).stem,
        }
        if not self.mask_is_file:
            keys["m"] = self.outputs_per_row * self.latents
        if self.groups:
            keys["groups"] = self.groups
        return keys | {"noise": self.noise, "rho": self.rho}
