"""Settings of tree-based regularization; values of the paper are in ``configs/``."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product

from sparseid.settings import DataSettings, Keys, MethodSettings, Run, SettingsError, setting


@dataclass
class TuningSettings:
    """Candidate settings that every member of the stack is trained with; its lowest validation error decides."""

    penalty_weight: list[float] = setting("Candidates of lambda; empty for method.penalty_weight alone.", default=[])
    lr: list[float] = setting("Candidates of the learning rate; empty for method.lr alone.", default=[])


@dataclass
class TBRSettings(MethodSettings):
    """Tree-based regularization: only few weights of the latents change along each arc of a tree of environments."""

    name: str = "tbr"
    variant: str = setting(
        "tbr, or baseline: one weight vector for all environments (the arc deltas are frozen at zero).",
        default="tbr",
        choices=("tbr", "baseline"),
    )
    estimator: str = setting(
        "joint (the paper's); two_stage: fit without the penalty, then rotate the latents to the sparsest deltas; "
        "warm_start: joint training from the result of two_stage after warm_up_samples.",
        default="joint",
        choices=("joint", "two_stage", "warm_start"),
    )
    warm_up_samples: int = setting("Training samples without penalty before the rotation of warm_start.", default=0)
    latents: int = setting("Number of learned latents.", at_least=1)
    hidden: list[int] = setting("Units of the encoder's hidden layers.")
    slope: float = setting("Slope of the leaky ReLU for negative inputs.", at_least=0)
    root_weights_std: float = setting(
        "Standard deviation of the initial root weights; the initial arc deltas are zero.", at_least=0
    )
    latent_norm: str = setting(
        "Normalisation of the latents, so that inflating them does not reduce the penalty: none; in_penalty (in the "
        "penalty a change of a weight is multiplied by its latent's standard deviation); batchnorm (batch norm in the "
        "model, which also changes the fit without a penalty).",
        default="none",
        choices=("none", "in_penalty", "batchnorm"),
    )
    penalty: str = setting(
        "l1 (gradient of the absolute value) or prox_l1 (a proximal step after each of Adam's: exact zeros).",
        default="l1",
        choices=("l1", "prox_l1"),
    )
    penalty_weight: float = setting(
        "Lambda: weight of the sum of absolute deltas relative to the mean squared error of the batch.", at_least=0
    )
    lr: float = setting("Adam's learning rate, constant.", above=0)
    test_weights: str = setting(
        "Weights that are tested: last, or best (for each member those of its lowest validation error).",
        default="last",
        choices=("last", "best"),
    )
    tuning: TuningSettings = setting("Settings to choose by the validation error.", default=TuningSettings)

    loads = "sparseid.methods.tbr.module:TBRModule"
    stops_early = True
    interfaces = ("environments",)

    def errors(self, run: Run) -> Iterator[SettingsError]:
        """Yield errors of the settings, by themselves or with the batches."""
        if min(self.hidden, default=1) < 1:
            text = "method.hidden lists the units of each hidden layer, at least 1"
            yield SettingsError(("method.hidden",), text)
        if self.variant == "baseline" and self.estimator != "joint":
            text = f"the baseline has no deltas to make sparse: method.estimator={self.estimator} needs "
            yield SettingsError(("method.variant", "method.estimator"), f"{text}method.variant=tbr")
        yield from self._warm_start(run)
        yield from self._tuning()
        if self.latent_norm != "none" and run.trainer.batch_size < 2:
            text = "the scale of latents needs at least two samples: raise trainer.batch_size or set "
            yield SettingsError(("trainer.batch_size", "method.latent_norm"), f"{text}method.latent_norm=none")

    def _warm_start(self, run: Run) -> Iterator[SettingsError]:
        if (self.estimator == "warm_start") != (self.warm_up_samples > 0) or self.warm_up_samples < 0:
            text = "method.warm_up_samples must be above 0 for a warm start, and 0 for the other estimators"
            yield SettingsError(("method.warm_up_samples", "method.estimator"), text)
        elif self.estimator == "warm_start":
            if not run.trainer.batch_size <= self.warm_up_samples < run.trainer.max_samples:
                text = "a warm start must end between the first and the last batch: correct method.warm_up_samples"
                keys = ("method.warm_up_samples", "trainer.max_samples", "trainer.batch_size")
                yield SettingsError(keys, text)
            if self.latent_norm == "batchnorm":
                text = "batch norm would undo the rotation of a warm start: set method.latent_norm=none or in_penalty"
                yield SettingsError(("method.latent_norm", "method.estimator"), text)

    def _tuning(self) -> Iterator[SettingsError]:
        weights, rates = self.tuning.penalty_weight, self.tuning.lr
        if not weights and not rates:
            return
        for key, values, fits, words in (
            ("method.tuning.penalty_weight", weights, lambda value: value >= 0, "at least 0"),
            ("method.tuning.lr", rates, lambda value: value > 0, "above 0"),
        ):
            if not all(math.isfinite(value) and fits(value) for value in values):
                yield SettingsError((key,), f"{key} lists numbers {words}")
            elif len(set(values)) < len(values):
                yield SettingsError((key,), f"{key} contains a value twice: remove the duplicate")
        if self.test_weights != "best":
            text = "candidates are compared by their lowest validation error: set method.test_weights=best"
            yield SettingsError(("method.tuning", "method.test_weights"), text)
        if self.estimator != "joint":
            text = "only the paper's estimator can be tuned: set method.estimator=joint, or remove the candidates"
            yield SettingsError(("method.tuning", "method.estimator"), text)

    @property
    def candidates(self) -> list[tuple[float, float]]:
        """Pairs of lambda and learning rate to train each member with; the baseline has no penalty to weight."""
        weights = self.tuning.penalty_weight if self.variant == "tbr" else []
        return list(product(weights or [self.penalty_weight], self.tuning.lr or [self.lr]))

    def row_keys(self, data: DataSettings) -> Keys:
        """Return the name of the variant, including an estimator other than the paper's."""
        return {"method": self.variant if self.estimator == "joint" else f"{self.variant}_{self.estimator}"}
