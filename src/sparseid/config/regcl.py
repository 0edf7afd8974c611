"""Settings of RegCL; numbers of the paper and its code stand in ``configs/method/regcl.yaml``."""

from __future__ import annotations

from dataclasses import dataclass

from omegaconf import MISSING


@dataclass
class RegCLConfig:
    """Regularised contrastive learning, and the baselines it is compared with."""

    name: str = "regcl"
    training: str = MISSING
    """hybrid: InfoNCE in time on the whole embedding and by label on the coordinates of the observed factor;
    supervised_contrastive: by label alone; supervised: mean squared error of the labels. The last two embed the
    observed factor only."""
    width_from: str = "output"
    """Hidden layers have 30, 30 and 10 units per dimension of the output, or per latent (latents)."""
    head: str = "clip"
    """What bounds the outputs: clip, tanh or identity."""
    head_scale: float = MISSING
    """Bound of the outputs."""
    similarity: str = "euclidean"
    """Of InfoNCE: euclidean (negative squared distance) or cosine."""
    temperature: float = MISSING
    """Of InfoNCE, constant."""
    positive_in_denominator: bool = False
    """Whether the positive is one of the terms that InfoNCE sums; only with it the loss has a minimum."""
    penalty_weight: float = MISSING
    """Lambda at the end of the ramp; 0 is the training without regularisation."""
    penalty_form: str = "code"
    """code: half the squared norm of the Jacobian's rows of each objective, so that in hybrid training the rows of the
    observed factor count twice; paper: the squared norm of the whole Jacobian (Eq. 3)."""
    penalty_estimator: str = "exact"
    """exact, or projection: on one random direction per sample."""
    penalty_samples: int = 0
    """References of a batch that the penalty is taken at; 0 is all of them."""
    ramp_on: float = MISSING
    ramp_off: float = MISSING
    """Shares of training at which lambda leaves 0 and reaches its end."""
    lr: float = MISSING
    """Of Adam, constant."""
