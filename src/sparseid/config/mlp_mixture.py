"""Settings of masked mixtures of latents; numbers of a recipe stand in ``configs/data/mlp_mixture.yaml``."""

from __future__ import annotations

from dataclasses import dataclass, field

from omegaconf import MISSING


@dataclass
class MLPMixtureConfig:
    """Latents mixed by one small network per observation, which reads the latents that a mask allows it."""

    name: str = "mlp_mixture"
    latents: int = MISSING
    """Number n of latents."""
    mask: str = field(default="circulant", metadata={"file": True})  # see config.schema.FILE
    """Which observation reads which latent: n rows by name, identity, circulant (`band` latents each, in a circle),
    lower_triangular, ones_minus_identity, dense, dense_minus_edge, random (a Sufficiently Diverse one for each seed),
    groups (see `groups`), or the path of a csv file of 0 and 1, a line per observation,
    taken as it stands."""
    band: int = 2
    """Latents that an observation of the circulant mask reads."""
    groups: str = ""
    """For mask=groups: which latents each of two groups of observations reads, counted from 1: 12-23."""
    outputs_per_row: int = MISSING
    """Observations, each with a network of its own, for every row of a named mask: 1 (m = n) or 2 (m = 2n)."""
    latent_distribution: str = "normal"
    """normal, laplace or uniform, with mean 0 and variance 1."""
    rho: float = 0.0
    """Correlation of every two (normal) latents; above 0 not everything that the theory promises holds any more."""
    noise: float = 0.0
    """Standard deviation of what is added to each observation, of which the noiseless one has 1."""
    samples: int = MISSING
    """Training samples."""
    test_samples: int = MISSING
    hidden: int = MISSING
    """Units of a network's hidden layer."""
    layers: int = MISSING
    """Hidden layers of a network."""
    activation: str = "leaky_relu"
    """leaky_relu, or smooth_leaky: slope x + (1 - slope) softplus(x)."""
    slope: float = MISSING
    """Of the activation for negative inputs."""
    gain: float = MISSING
    """Factor of the orthogonal weights of hidden layers."""
    bias_std: float = MISSING
    """Standard deviation of the biases of hidden layers."""
    injective: str = "check"
    """check: networks are drawn until the mixture is injective on the training samples, which takes about twice as
    many observations as latents; dominant: in n observations one latent of its own dominates, which makes it so."""
