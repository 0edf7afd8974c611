"""Settings of RegCL; values of the paper and its code are in ``configs/method/regcl.yaml``."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

from sparseid.settings import DataSettings, Keys, MethodSettings, Run, SettingsError, setting


@dataclass
class TuningSettings:
    """Choice of lambda by the paper's rule, for each member of the stack on the data sets of the others."""

    penalty_weight: list[float] = setting(
        "Candidates of lambda that every member is trained with, rising from 0: the last one before the held-out loss "
        "rises is tested. Empty: method.penalty_weight alone.",
        default=[],
    )
    tolerance: float = setting(
        "Rise of the mean held-out loss that counts as none, in standard deviations over data sets of the loss without "
        "the penalty.",
        default=1.0,
        above=0,
    )


@dataclass
class RegCLSettings(MethodSettings):
    """Regularised contrastive learning and its baselines."""

    name: str = "regcl"
    training: str = setting(
        "hybrid: InfoNCE in time on the whole embedding and by label on the coordinates of the observed factor; "
        "supervised_contrastive: only by label; supervised: mean squared error of the labels. The last two embed only "
        "the observed factor.",
        choices=("supervised", "supervised_contrastive", "hybrid"),
    )
    width_from: str = setting(
        "Hidden layers have 30, 30 and 10 units per dimension of the output (output) or per latent (latents).",
        default="output",
        choices=("output", "latents"),
    )
    head: str = setting("Function that bounds the outputs.", default="clip", choices=("clip", "tanh", "identity"))
    head_scale: float = setting("Bound of the outputs.", above=0)
    similarity: str = setting(
        "Similarity in InfoNCE: euclidean (negative squared distance) or cosine.",
        default="euclidean",
        choices=("euclidean", "cosine"),
    )
    temperature: float = setting("Temperature of InfoNCE, constant.", above=0)
    positive_in_denominator: bool = setting(
        "Include the positive in the sum of InfoNCE, which gives the loss a minimum.", default=False
    )
    penalty_weight: float = setting("Lambda at the end of the ramp; 0 for no regularisation.", at_least=0)
    penalty_form: str = setting(
        "code: half the squared norm of the Jacobian's rows of each objective, so that in hybrid training the rows of "
        "the observed factor count twice; paper: the squared norm of the whole Jacobian (Eq. 3).",
        default="code",
        choices=("code", "paper"),
    )
    penalty_estimator: str = setting(
        "exact, or projection on one random direction per sample.", default="exact", choices=("exact", "projection")
    )
    penalty_samples: int = setting(
        "Number of references of a batch at which the penalty is computed; 0 for all.", default=0, at_least=0
    )
    ramp_on: float = setting("Fraction of training at which lambda starts to rise.", at_least=0, at_most=1)
    ramp_off: float = setting("Fraction of training at which lambda reaches its final value.", at_least=0, at_most=1)
    lr: float = setting("Adam's learning rate, constant.", above=0)
    tuning: TuningSettings = setting("Choice of lambda by the held-out loss.", default=TuningSettings)

    loads = "sparseid.methods.regcl.module:RegCLModule"
    interfaces = ("contrastive",)
    stops_early = True

    def errors(self, run: Run) -> Iterator[SettingsError]:
        """Yield errors of the settings, by themselves or with the data."""
        batch_size = run.trainer.batch_size
        yield from self._labels_in_reach(run)
        yield from self._tuning(run)
        if self.ramp_on > self.ramp_off:
            text = "the ramp of the penalty ends before it begins: set method.ramp_off to at least method.ramp_on"
            yield SettingsError(("method.ramp_on", "method.ramp_off"), text)
        if self.penalty_samples > batch_size:
            text = f"method.penalty_samples must be at most {batch_size}, the references of a batch (0: all of them)"
            yield SettingsError(("method.penalty_samples", "trainer.batch_size"), text)
        if self.training != "supervised" and batch_size == 1:
            text = "contrastive training needs negatives: set trainer.batch_size to at least 2"
            yield SettingsError(("trainer.batch_size", "method.training"), text)
        unbounded = self.head == "identity" and self.similarity == "euclidean" and not self.positive_in_denominator
        if unbounded and self.training != "supervised":
            text = (
                "without a bounded head this loss has no minimum and the embedding grows without bound: set "
                "method.head=clip or tanh, or method.positive_in_denominator=true"
            )
            yield SettingsError(("method.head", "method.positive_in_denominator"), text)
        if self.training != "hybrid" and getattr(run.data, "setting", "a") == "b":
            text = "in setting b the scored latents have no labels: set method.training=hybrid to learn them in time"
            yield SettingsError(("method.training", "data.setting"), text)
        if run.trainer.precision != "32":
            text = "squared distances and Jacobians of RegCL require single precision: set trainer.precision=32"
            yield SettingsError(("trainer.precision",), text)

    def _labels_in_reach(self, run: Run) -> Iterator[SettingsError]:
        """Yield an error if supervised outputs are bounded below the labels; contrastive ones need not reach them."""
        if self.training != "supervised" or self.head == "identity":
            return
        largest, source = run.data.largest_label()
        if largest > self.head_scale:
            bound = f"method.head_scale={self.head_scale:g}"
            text = f"labels reach {largest:g}, outputs are bounded by {bound}: raise it or set method.head=identity"
            yield SettingsError(("method.head_scale", "method.head", source), text)

    def _tuning(self, run: Run) -> Iterator[SettingsError]:
        weights, key = self.tuning.penalty_weight, "method.tuning.penalty_weight"
        if not weights:
            return
        rising = all(first < second for first, second in pairwise(weights))  # False for NaN
        if weights[0] != 0 or len(weights) < 2 or not rising or math.isinf(weights[-1]):
            yield SettingsError((key,), f"{key} lists at least two numbers that rise from 0: [0.0,0.1,1.0]")
        if len(run.seeds) < 3:
            text = "lambda is chosen for a data set on at least two others: set three seeds or more, or omit "
            yield SettingsError(("seeds", key), text + key)

    @property
    def candidates(self) -> list[float]:
        """Lambdas to train each member with."""
        return self.tuning.penalty_weight or [self.penalty_weight]

    def row_keys(self, data: DataSettings) -> Keys:
        """Add the training and the regularisation."""
        training = "hybrid_contrastive" if self.training == "hybrid" else self.training
        regularisation = "regularised" if any(self.candidates) else "none"
        return super().row_keys(data) | {"training": training, "regularisation": regularisation}
