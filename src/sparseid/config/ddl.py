"""Settings of Diverse Dictionary Learning; numbers and where they come from are in ``configs/method/ddl.yaml``."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from omegaconf import MISSING

from sparseid.config.problems import Problem, between, one_of

if TYPE_CHECKING:
    from sparseid.config.schema import RunConfig


@dataclass
class DDLConfig:
    """A variational autoencoder with a penalty on which outputs of its decoder depend on which latents."""

    name: str = "ddl"
    hidden: int = MISSING
    """Units of every hidden layer."""
    layers: int = MISSING
    """Hidden layers of encoder and decoder each."""
    lr: float = MISSING
    """Of Adam at the start."""
    schedule: str = "constant"
    """constant, or cosine: the learning rate falls to 0 over the training."""
    beta: float = MISSING
    """Weight of the divergence, summed over latents, beside the sum of squared errors."""
    alpha: float = MISSING
    """Weight of the penalty; 0 is none."""
    penalty: str = "dependency"
    """dependency (the paper's), latent, orojar, hessian_penalty or none."""
    jacobian: str = "exact"
    """How the dependency penalty is computed: exact, or from random coordinates: an unbiased estimate."""
    coordinates: int = 1
    """Coordinates of each sample that the estimate is made from."""


def ddl_problems(run: RunConfig) -> Iterator[Problem]:
    """Yield what makes the settings of Diverse Dictionary Learning impossible."""
    method: DDLConfig = run.method
    yield from one_of(method, "method.", penalty=("dependency", "latent", "orojar", "hessian_penalty", "none"))
    yield from one_of(method, "method.", schedule=("constant", "cosine"), jacobian=("exact", "coordinates"))
    yield from between(method, "method.", 1, math.inf, "hidden", "layers")
    yield from between(method, "method.", 0, math.inf, "beta")
    if not 0 <= method.alpha < math.inf:
        text = "method.alpha must be at least 0: a penalty of negative weight would reward dense dependencies"
        yield Problem(("method.alpha",), text)
    if not 0 < method.lr < math.inf:
        yield Problem(("method.lr",), "method.lr must be above 0")
    if method.penalty == "none" and method.alpha:
        text = "without a penalty there is nothing to weigh: write method.alpha=0, or pick a method.penalty"
        yield Problem(("method.penalty", "method.alpha"), text)
    if method.jacobian == "coordinates":
        if method.penalty != "dependency":
            text = f"only the dependency penalty can be estimated from coordinates, not {method.penalty}: "
            yield Problem(("method.jacobian", "method.penalty"), text + "write method.jacobian=exact")
        if not 1 <= method.coordinates <= run.data.latents:
            text = f"there are {run.data.latents} latents: method.coordinates must be between 1 and {run.data.latents}"
            yield Problem(("method.coordinates", "data.latents"), text)
    if run.trainer.precision != "32":
        text = "absolute Jacobians near zero need single precision: write trainer.precision=32"
        yield Problem(("trainer.precision",), text)
