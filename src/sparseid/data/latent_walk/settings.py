"""Settings of the latent walk; numbers of the paper stand in ``configs/data/latent_walk.yaml``."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from sparseid.data.time_series import ContrastiveSettings, Factors
from sparseid.settings import Keys, Run, SettingsError
from sparseid.settings import setting as described  # a field below is called setting

FEWEST_LATENTS = 3
"""With two of them observed one is left, or with one observed two: less is no task."""


@dataclass
class LatentWalkSettings(ContrastiveSettings):
    """Latents that walk at random in a box; z1 is mixed into x1, z1 and z2 into x2."""

    name: str = "latent_walk"
    latents: int = described("Size of z = [z1, z2].", at_least=FEWEST_LATENTS)
    setting: str = described(
        "a: the labels are z2, whose map is scored (Table 1); b: the labels are z1 and z2 is scored unseen (Table 2).",
        default="a",
        choices=("a", "b"),
    )
    fixed_latents: int = described(
        "Size of the factor that does not grow with `latents`: z2 in setting a, and in setting b as `setting_b` says.",
        at_least=1,
    )
    setting_b: str = described(
        "Factor that has `fixed_latents` in setting b: z1_fixed (the observed one) or z2_fixed (the scored one).",
        default="z1_fixed",
        choices=("z1_fixed", "z2_fixed"),
    )
    samples: int = described("Time steps of a seed, those held out included.", at_least=1)
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
        "Square layers of a mixing network; between two of them is a leaky ReLU, behind the last only the expansion.",
        at_least=1,
    )
    slope: float = described("Slope of the leaky ReLU for negative inputs.", at_least=0)
    conditioning_draws: int = described("Matrices drawn for a square layer.", at_least=1)
    conditioning_quantile: float = described(
        "Quantile, by condition number, of the matrix that is taken: 0 is the best, 0.5 the median one.",
        default=0.0,
        at_least=0,
        at_most=1,
    )
    gain_x1: float = described("Factor of x1.", default=1.0, above=0)
    gain_x2: float = described("Factor of x2.", default=1.0, above=0)

    loads = "sparseid.data.latent_walk.datamodule:LatentWalkData"

    @property
    def factors(self) -> Factors:
        """The places of z1 and z2 in z = [z1, z2]."""
        z1_is_fixed = self.setting == "b" and self.setting_b == "z1_fixed"
        first = self.fixed_latents if z1_is_fixed else self.latents - self.fixed_latents
        return Factors(slice(0, first), slice(first, self.latents))

    def largest_label(self) -> tuple[float, str]:
        """Return the bound of latents."""
        return self.box, "data.box"

    def errors(self, run: Run) -> Iterator[SettingsError]:
        """Yield sizes that do not go together."""
        if not 0 < self.sigma <= self.box:
            text = "a step is not larger than the box: data.sigma must be above 0 and at most data.box"
            yield SettingsError(("data.sigma", "data.box"), text)
        yield from self._sizes()
        yield from self.length_errors(self.samples, run.trainer.batch_size, "data.samples")

    def _sizes(self) -> Iterator[SettingsError]:
        latents, features = self.latents, self.dim_x1 + self.dim_x2
        if self.fixed_latents >= latents:
            text = "each of the two factors has a latent: data.fixed_latents must be below data.latents"
            yield SettingsError(("data.fixed_latents", "data.latents"), text)
            return
        if latents > features:
            text = f"{features} observed features do not determine {latents} latents: lower data.latents"
            yield SettingsError(("data.latents", "data.dim_x1", "data.dim_x2"), text)
        z2 = self.factors.z2
        if z2.stop - z2.start > self.dim_x2:
            text = f"z2 has {z2.stop - z2.start} latents and only x2 depends on it: make data.dim_x2 as large at least"
            yield SettingsError(("data.dim_x2", "data.latents", "data.fixed_latents"), text)

    def row_keys(self) -> Keys:
        """Add the number of latents and the setting."""
        return super().row_keys() | {"dim": self.latents, "setting": self.setting}
