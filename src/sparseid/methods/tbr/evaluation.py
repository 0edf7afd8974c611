"""Measurements of a trained stack: MCC, test error of the label, errors of treatment effects."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from sparseid.measurements import Key, Measurement
from sparseid.methods.baselines import of_baseline
from sparseid.metrics.ate import ate_errors
from sparseid.metrics.baselines import means_by_environment, ridge_by_environment
from sparseid.metrics.mcc import Matching, matching
from sparseid.streams import FIXED

if TYPE_CHECKING:
    from sparseid.data.environments import EnvironmentSplit

EFFECT_ENVIRONMENTS = 10
"""Number of environments whose treatment effects are compared (Table 3), the same for all seeds and methods."""
SHOWN = 2000
"""Number of test samples of the first member that are saved for figures."""


@dataclass(frozen=True, eq=False)
class Tested:
    """Test samples of all members and the outputs of the models.

    Attributes
    ----------
    predictions, labels
        (members, samples)
    latents
        (members, samples, learned) learned latents.
    truth
        (members, samples, true) true latents; None if they are unknown.
    environments
        (samples,)
    unseen
        Whether the samples belong to an environment excluded from training.
    """

    predictions: NDArray[np.float32]
    labels: NDArray[np.float32]
    latents: NDArray[np.float32]
    truth: NDArray[np.float32] | None
    environments: NDArray[np.int64]
    unseen: bool = False

    @cached_property
    def matched(self) -> Matching:
        """Matching of learned and true latents, over all samples."""
        assert self.truth is not None
        return matching(self.truth, self.latents)

    @property
    def identifiable(self) -> bool:
        """Return whether latents can be compared: as many learned as true ones, from training environments."""
        return self.truth is not None and not self.unseen and self.latents.shape[-1] == self.truth.shape[-1]


def effect_environments(environments: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the environments of Table 3: ten of them, or all if there are fewer."""
    known = np.unique(environments)
    return FIXED.numpy("tbr/effect_environments").permutation(known)[:EFFECT_ENVIRONMENTS]


def measure(tested: Tested, seeds: Sequence[int], keys: dict[str, Key]) -> list[Measurement]:
    """Return the measurements of every member.

    Only ``unseen_mse`` for an environment excluded from training. Otherwise ``mse`` pooled over environments; with as
    many learned latents as true ones, ``mcc`` on the same samples, and ``ate_mse`` of each of `effect_environments`,
    under the key ``environment``: its number, from 1, and again under ``pooled`` with its number as
    ``of_environment``. Undefined for a member whose predictions are not finite.
    """
    errors = np.square(tested.predictions - tested.labels, dtype=np.float64).mean(axis=1)
    values: list[tuple[str, str, dict[str, Key], NDArray[np.float64], int]] = []
    samples = tested.labels.shape[1]
    values.append(("unseen_mse" if tested.unseen else "mse", "squared label unit", {}, errors, samples))
    if tested.truth is not None and tested.identifiable:
        score = tested.matched.matched.mean(axis=-1)
        values.append(("mcc", "correlation in [0,1]", {}, score, samples))
        chosen = effect_environments(tested.environments)
        effects = ate_errors(tested.truth, tested.latents, tested.labels, tested.environments, chosen.tolist())
        for number, environment in enumerate(chosen, start=1):
            used = int(np.count_nonzero(tested.environments == environment))
            own: dict[str, Key] = {"environment": number}
            pooled: dict[str, Key] = {"environment": "pooled", "of_environment": number}
            for place in (own, pooled):
                values.append(("ate_mse", "squared coefficient", place, effects[:, number - 1], used))
    return [
        Measurement(metric, float(value) if np.isfinite(error) else None, unit, n, keys | more, seed)
        for metric, unit, more, of_members, n in values
        for seed, value, error in zip(seeds, of_members, errors, strict=True)
    ]


def baseline_measurements(
    train: EnvironmentSplit, test: EnvironmentSplit, samples: int, seeds: Sequence[int]
) -> list[Measurement]:
    """Return the ``mse`` of a ridge regression and of the mean label of each environment, next to those of each seed.

    Parameters
    ----------
    train, test
        The splits; all members share the data.
    samples
        Number of test samples.
    """
    inputs, labels, environments = (
        part.cpu().numpy() for part in (train.inputs[0], train.labels[0], train.environments)
    )
    rows, targets = test.inputs[0, :samples].cpu().numpy(), test.labels[0, :samples].cpu().numpy()
    asked = test.environments[:samples].cpu().numpy()
    predicted = {
        "environment_means": means_by_environment(labels, environments, asked),
        "ridge": ridge_by_environment(inputs, labels, environments, rows, asked),
    }
    errors = {name: float(np.square(values - targets).mean()) for name, values in predicted.items()}
    return [
        measurement
        for name, error in errors.items()
        for measurement in of_baseline(name, "mse", error, "squared label unit", samples, seeds)
    ]


def arrays_of(tested: Tested) -> dict[str, NDArray]:
    """Return arrays for figures: some samples of the first member, correlations of all."""
    arrays: dict[str, NDArray] = {"test_latents": tested.latents[0, :SHOWN]}
    if tested.truth is not None:
        arrays["test_truth"] = tested.truth[0, :SHOWN]
    if tested.identifiable:
        arrays |= {"correlation": tested.matched.correlation, "permutation": tested.matched.permutation}
    return arrays
