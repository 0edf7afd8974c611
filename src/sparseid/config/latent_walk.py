"""Settings of time series for contrastive learning; numbers of the paper stand in ``configs/data/latent_walk.yaml``."""

from __future__ import annotations

from dataclasses import dataclass, field

from omegaconf import MISSING


@dataclass
class SamplingConfig:
    """How the samples of a batch are drawn from a time series."""

    time_offset: int = MISSING
    """Steps from a reference to its positive in time."""
    clamp_end: bool = False
    """Whether references may lie so near the end that the last sample is their positive in time (the authors' code)."""
    time_delta: int = MISSING
    """Steps between the two labels whose difference is added to a reference's label to find its positive by label."""
    label_positives: int = MISSING
    """Positives by label drawn beforehand for each reference; a batch takes one of them."""


@dataclass
class LatentWalkConfig:
    """Latents that walk at random in a box; z1 is mixed into x1, z1 and z2 into x2."""

    name: str = "latent_walk"
    latents: int = MISSING
    """Size of z = [z1, z2]."""
    setting: str = "a"
    """a: the labels are z2, whose map is scored (Table 1); b: the labels are z1 and z2 is scored unseen (Table 2)."""
    fixed_latents: int = MISSING
    """Size of the factor that does not grow with `latents`: z2 in setting a, and in setting b as `setting_b` says."""
    setting_b: str = "z1_fixed"
    """Which factor has `fixed_latents` in setting b: z1_fixed (the observed one) or z2_fixed (the scored one)."""
    samples: int = MISSING
    """Time steps of a seed, those held out included."""
    held_out: float = MISSING
    """Share of the walk, at its end, that is not trained on."""
    attribution_samples: int = MISSING
    """Training samples that attribution maps are averaged over, evenly spread in time."""
    sigma: float = MISSING
    """Standard deviation of a latent's step."""
    box: float = MISSING
    """Latents stay in [-box, box]."""
    boundary: str = "redraw"
    """What becomes of a step that would leave the box: redraw or reflect."""
    dim_x1: int = MISSING
    dim_x2: int = MISSING
    """Sizes of the two parts of an observation."""
    mixing: str = "shared"
    """shared: x2 = g2([z1, z2]), one network; additive: x2 = g21(z1) + g22(z2), two."""
    n_square_layers: int = MISSING
    """Square layers of a mixing network; between two of them is a leaky ReLU, behind the last only the expansion."""
    slope: float = MISSING
    """Of the leaky ReLU for negative inputs."""
    conditioning_draws: int = MISSING
    """Matrices drawn for a square layer."""
    conditioning_quantile: float = 0.0
    """Which of them is taken, by condition number: 0 is the best, 0.5 the median one."""
    gain_x1: float = 1.0
    gain_x2: float = 1.0
    """Factors of the two parts of an observation."""
    sampling: SamplingConfig = field(default_factory=SamplingConfig)


@dataclass
class ArraysConfig:
    """A time series of your own: an npz file with observations and labels, and the true map and latents if known."""

    name: str = "arrays"
    path: str = field(default="", metadata={"file": True})  # see config.schema.FILE
    """The file."""
    latents: int = 0
    """Size of an embedding; its last coordinates go with the labels. 0 takes it from ground_truth or latents."""
    held_out: float = MISSING
    """Share of the series, at its end, that is not trained on."""
    attribution_samples: int = MISSING
    """Training samples that attribution maps are averaged over, evenly spread in time."""
    sampling: SamplingConfig = field(default_factory=SamplingConfig)
