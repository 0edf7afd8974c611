"""Settings of the latent walk; values of the paper are in ``configs/data/latent_walk.yaml``."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from sparseid.data.time_series import ContrastiveSettings, Factors
from sparseid.settings import Keys, Run, SettingsError
from sparseid.settings import setting as described  # a field below is called setting

FEWEST_LATENTS = 3
"""Minimum number of latents: two observed and one to recover, or one observed and two."""


@dataclass
class LatentWalkSettings(ContrastiveSettings):
    """Latents on a random walk in a box; z1 is mixed into x1, z1 and z2 into x2."""

    name: str = "latent_walk"
    latents: int = described("Size of z = [z1, z2].", at_least=FEWEST_LATENTS)
    setting: str = described(
        "a: the labels are z2, whose map is scored (Table 1); b: the labels are z1, the map of unseen z2 is scored "
        "(Table 2).",
        default="a",
        choices=("a", "b"),
    )
    fixed_latents: int = described(
        "Size of the factor that does not grow with `latents`: z2 in setting a, the one of `setting_b` in setting b.",
        at_least=1,
    )
    setting_b: str = described(
        "Factor of size `fixed_latents` in setting b: z1_fixed (the observed one) or z2_fixed (the scored one).",
        default="z1_fixed",
        choices=("z1_fixed", "z2_fixed"),
    )
    samples: int = described("Number of time steps of a seed, including held-out ones.", at_least=1)
    sigma: float = described("Standard deviation of a latent's step.")
    box: float = described("Latents stay in [-box, box].", above=0)
    boundary: str = described(
        "Treatment of a step that would leave the box.", default="redraw", choices=("redraw", "reflect")
    )
    dim_x1: int = described("Size of x1, the first part of an observation.", at_least=1)
    dim_x2: int = described("Size of x2, the second part of an observation.", at_least=1)
    mixing: str = described(
        "shared: x2 = g2([z1, z2]), one network; additive: x2 = g21(z1) + g22(z2), two.",
        default="shared",
        choices=("shared", "additive"),
    )
    n_square_layers: int = described(
        "Number of square layers of a mixing network, with leaky ReLUs between them and the expansion after the last.",
        at_least=1,
    )
    slope: float = described("Slope of the leaky ReLU for negative inputs.", at_least=0)
    conditioning_draws: int = described("Number of matrices drawn for a square layer.", at_least=1)
    conditioning_quantile: float = described(
        "Quantile, by condition number, of the matrix that is used: 0 is the best, 0.5 the median.",
        default=0.0,
        at_least=0,
        at_most=1,
    )
    gain_x1: float = described("Factor of x1.", default=1.0, above=0)
    gain_x2: float = described("Factor of x2.", default=1.0, above=0)

    loads = "sparseid.data.latent_walk.datamodule:LatentWalkData"

    @property
    def factors(self) -> Factors:
        """Positions of z1 and z2 in z = [z1, z2]."""
        z1_is_fixed = self.setting == "b" and self.setting_b == "z1_fixed"
        first = self.fixed_latents if z1_is_fixed else self.latents - self.fixed_latents
        return Factors(slice(0, first), slice(first, self.latents))

    def largest_label(self) -> tuple[float, str]:
        """Return the bound of the latents."""
        return self.box, "data.box"

    def errors(self, run: Run) -> Iterator[SettingsError]:
        """Yield errors of incompatible sizes."""
        if not 0 < self.sigma <= self.box:
            text = "a step is not larger than the box: data.sigma must be above 0 and at most data.box"
            yield SettingsError(("data.sigma", "data.box"), text)
        yield from self._sizes()
        yield from self.length_errors(self.samples, run.trainer, "data.samples")

    def _sizes(self) -> Iterator[SettingsError]:
        latents, features = self.latents, self.dim_x1 + self.dim_x2
        if self.fixed_latents >= latents:
            text = "each of the two factors has a latent: data.fixed_latents must be below data.latents"
            yield SettingsError(("data.fixed_latents", "data.latents"), text)
            return
        if latents > features:
            text = f"{features} observed features cannot determine {latents} latents: lower data.latents"
            yield SettingsError(("data.latents", "data.dim_x1", "data.dim_x2"), text)
        z2 = self.factors.z2
        if z2.stop - z2.start > self.dim_x2:
            text = f"z2 has {z2.stop - z2.start} latents and only x2 depends on it: set data.dim_x2 to at least that"
            yield SettingsError(("data.dim_x2", "data.latents", "data.fixed_latents"), text)

    def row_keys(self) -> Keys:
        """Add the number of latents and the setting."""
        return super().row_keys() | {"dim": self.latents, "setting": self.setting}
