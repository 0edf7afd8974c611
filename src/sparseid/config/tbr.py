"""Settings of tree-based regularization and its simulation; numbers of the paper stand in ``configs/``."""

from __future__ import annotations

from dataclasses import dataclass

from omegaconf import MISSING


@dataclass
class TBRConfig:
    """Tree-based regularization: latents that are few weights' business along each arc of a tree of environments."""

    name: str = "tbr"
    variant: str = "tbr"
    """tbr, or baseline: one weight vector for all environments (the arc deltas are frozen at zero)."""
    estimator: str = "joint"
    """joint (the paper's); two_stage: fit without the penalty, then rotate the latents to the sparsest deltas;
    warm_start: joint training from where two_stage ends after warm_up_samples."""
    warm_up_samples: int = 0
    """Training samples without the penalty before the rotation of warm_start."""
    latents: int = MISSING
    """Learned latents."""
    hidden: list[int] = MISSING
    """Units of the encoder's hidden layers."""
    slope: float = MISSING
    """Of the leaky ReLU for negative inputs."""
    root_weights_std: float = MISSING
    """Standard deviation of the initial root weights; the arc deltas begin at zero."""
    latent_norm: str = "none"
    """Where the latents are scaled to unit spread, so that inflating them does not make the penalty cheaper: none
    (nowhere); in_penalty (only there: a change of a weight is counted times its latent's standard deviation); batchnorm
    (in the model, by batch norm, which also changes the fit without a penalty)."""
    penalty: str = "l1"
    """l1 (gradient of the absolute value) or prox_l1 (a proximal step after each of Adam's: exact zeros)."""
    penalty_weight: float = MISSING
    """Lambda: weight of the sum of absolute deltas beside the mean squared error of the batch."""
    lr: float = MISSING
    """Of Adam, constant."""
    test_weights: str = "last"
    """Weights that are tested: last, or best, for each member those of its lowest validation error."""


@dataclass
class TreeSimulationConfig:
    """Simulated labels, linear in latents with weights that change along the arcs of a perfect binary tree."""

    name: str = "tree_simulation"
    depth: int = MISSING
    """Arcs from the root to a leaf."""
    observed: str = "nodes"
    """Environments with data: nodes (all but the root) or leaves."""
    samples: int = MISSING
    """Samples per environment: a half trains, a quarter validates, the rest tests."""
    features: int = MISSING
    """Size of the observation x."""
    latents: int = MISSING
    """Size of the latent z."""
    map: str = "tanh"
    """From x to z: tanh or linear, of a random matrix."""
    changes: str = "sparse"
    """Which weights change along an arc: sparse (exactly S) or bernoulli (each with probability pi)."""
    S: int = 1
    """Weights that change along an arc."""
    pi: float = 0.0
    """Probability that a weight changes along an arc."""
    delta_std: float = MISSING
    """Standard deviation of a change."""
    noise_std_z: float = MISSING
    noise_std_y: float = MISSING
    """Standard deviations of the noise of latents and labels."""
