"""Settings of the simulation on a tree; values of the paper are in ``configs/``."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from sparseid.settings import DataSettings, Keys, Run, SettingsError, setting

DEEPEST_TREE = 12
"""Maximum number of arcs from the root to a leaf: deeper trees have incidence matrices of gigabytes."""
FEWEST_SAMPLES = 4
"""Minimum number of samples of an environment for one in each of the three splits."""


@dataclass
class TreeSimulationSettings(DataSettings):
    """Simulated labels, linear in latents with weights that change along the arcs of a perfect binary tree."""

    name: str = "tree_simulation"
    depth: int = setting("Number of arcs from the root to a leaf.", at_least=1, at_most=DEEPEST_TREE)
    observed: str = setting(
        "Environments with data: nodes (all but the root) or leaves.", default="nodes", choices=("nodes", "leaves")
    )
    samples: int = setting("Samples per environment: half for training, a quarter for validation, the rest for tests.")
    features: int = setting("Size of the observation x.", at_least=1)
    latents: int = setting("Size of the latent z.", at_least=1)
    map: str = setting("Map from x to z, with a random matrix.", default="tanh", choices=("tanh", "linear"))
    changes: str = setting(
        "Weights that change along an arc: sparse (exactly S) or bernoulli (each with probability pi).",
        default="sparse",
        choices=("sparse", "bernoulli"),
    )
    S: int = setting("Number of weights that change along an arc.", default=1)
    pi: float = setting("Probability that a weight changes along an arc.", default=0.0, at_least=0, at_most=1)
    delta_std: float = setting("Standard deviation of a change.", at_least=0)
    noise_std_z: float = setting("Standard deviation of the latent noise.", at_least=0)
    noise_std_y: float = setting("Standard deviation of the label noise.", at_least=0)

    loads = "sparseid.data.tree_simulation.datamodule:TreeSimulationData"
    interface = "environments"

    def errors(self, run: Run) -> Iterator[SettingsError]:
        """Yield errors of incompatible changes, samples and batches."""
        if self.changes == "sparse" and self.pi > 0:
            text = "data.pi has no effect if exactly data.S weights change: set data.changes=bernoulli or data.pi=0"
            yield SettingsError(("data.pi", "data.changes"), text)
        if self.samples < FEWEST_SAMPLES:
            text = f"training, validation and test each need a sample: set data.samples to at least {FEWEST_SAMPLES}"
            yield SettingsError(("data.samples",), text)
        if not 0 <= self.S <= self.latents:
            text = f"data.S must be between 0 and {self.latents}: a weight per latent can change along an arc"
            yield SettingsError(("data.S", "data.latents"), text)
        environments = 2**self.depth if self.observed == "leaves" else 2 ** (self.depth + 1) - 2
        items = environments * (self.samples // 2)
        if 0 < items < run.trainer.batch_size:
            text = f"a seed has {items} training samples, less than one batch: lower trainer.batch_size"
            yield SettingsError(("trainer.batch_size", "data.samples", "data.depth"), text)

    def row_keys(self) -> Keys:
        """Add the number of weights that change, or their probability."""
        return super().row_keys() | ({"pi": self.pi} if self.changes == "bernoulli" else {"S": self.S})
