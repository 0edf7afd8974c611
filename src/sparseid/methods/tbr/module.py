"""TBR and its baseline as a LightningModule: wires model, loss, rotation and metrics for a stack of seeds."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch import Tensor

from sparseid.data.batch import EnvironmentBatch
from sparseid.errors import InputError
from sparseid.measurements import Key, Measurement
from sparseid.methods.baselines import unbeaten
from sparseid.methods.module import StackedModule
from sparseid.methods.tbr.evaluation import Tested, arrays_of, baseline_measurements, measure
from sparseid.methods.tbr.losses import l1_penalty, latent_scale, mean_squared_error, soft_threshold
from sparseid.methods.tbr.model import TreeModel
from sparseid.methods.tbr.rotation import (
    contrasts,
    environment_weights,
    pooled_covariance,
    second_moments,
    sparsest_basis,
)
from sparseid.stacking.best import BestState, EarlyStop
from sparseid.stacking.members import generators, per_member, sum_of_members
from sparseid.stacking.tuning import StackedAdam, lowest_errors, repeated

if TYPE_CHECKING:
    from sparseid.data.environments import EnvironmentData
    from sparseid.methods.tbr.settings import TBRSettings
    from sparseid.settings import RunNumbers


class TBRModule(StackedModule["EnvironmentData"]):
    """A stack of TBR models, or of baselines, one per seed and candidate of its tuning.

    Parameters
    ----------
    method
        Sizes, penalty and learning rate.
    data
        Data module with `seeds`, `tree`, `features`, `unseen` and numbers of latents and test items.
    """

    penalty_weight: Tensor

    def __init__(self, method: TBRSettings, data: EnvironmentData) -> None:
        super().__init__(data.seeds)
        self.method, self.tree, self.features = method, data.tree, data.features
        self.true_latents, self.unseen, self.domain = data.latents, data.unseen is not None, data.domain
        weights, self.rates = zip(*method.candidates * len(data.seeds), strict=True)
        models, seeds = len(weights), [seed for seed in data.seeds for _ in method.candidates]
        self.model = TreeModel(
            [data.features, *method.hidden, method.latents],
            torch.from_numpy(data.tree.incidence),
            generators(seeds, "init"),
            method.slope,
            method.root_weights_std,
            batch_norm=method.latent_norm == "batchnorm",
            with_deltas=method.variant == "tbr",
        )
        if method.test_weights == "best":
            self.lowest, self.best = EarlyStop(models), BestState(self.model.state_dict())
        self.chosen: Tensor | None = None
        self._warm_steps = method.warm_up_samples // data.batch_size
        self._scale: Tensor | None = None
        self.register_buffer("penalty_weight", per_member(weights, models), persistent=False)

    @classmethod
    def from_settings(cls, settings: TBRSettings, data: Any, run: RunNumbers) -> TBRModule:
        """Build the module of a run for its data module."""
        return cls(settings, data)

    # training

    def configure_optimizers(self) -> torch.optim.Optimizer:
        """Return Adam for all parameters, with a constant learning rate for each model."""
        return StackedAdam(self.parameters(), self.rates, fused=True)

    @property
    def fits_freely(self) -> bool:
        """Return whether this step has no penalty: for the two-stage estimator, and before the end of a warm start."""
        return self.method.estimator == "two_stage" or self.global_step < self._warm_steps

    def on_train_batch_start(self, batch: EnvironmentBatch, batch_idx: int) -> None:
        """Rotate the latents at the end of a warm start, and reset Adam's moments."""
        if self._warm_steps and self.global_step == self._warm_steps:
            self.model.rotate(self.find_rotation())
            for optimizer in self.trainer.optimizers:
                optimizer.state.clear()

    def training_step(self, batch: EnvironmentBatch, batch_idx: int) -> Tensor:
        """Return the models' mean squared errors and penalties, summed over models."""
        batch = self.for_candidates(batch)
        latents = self.model.encode(batch.inputs)
        losses = mean_squared_error(self.model.predict(latents, batch.environments), batch.labels)
        if self.model.deltas is not None and not self.fits_freely:
            scale = latent_scale(latents) if self.method.latent_norm == "in_penalty" else None
            proximal = self.method.penalty == "prox_l1"  # the part of the deltas follows Adam's step
            deltas = self.model.deltas.detach() if proximal else self.model.deltas
            losses = losses + l1_penalty(deltas, self.penalty_weight, scale)
            self._scale = None if scale is None else scale.detach()
        return sum_of_members(losses)

    def optimizer_step(self, epoch: int, batch_idx: int, optimizer: Any, optimizer_closure: Any = None) -> None:
        """Perform Adam's step, then the proximal step if the penalty requires it."""
        penalised = self.model.deltas is not None and not self.fits_freely  # before the step is counted
        super().optimizer_step(epoch, batch_idx, optimizer, optimizer_closure)
        if penalised and self.method.penalty == "prox_l1":
            self.shrink_deltas(optimizer)

    @torch.no_grad()
    def shrink_deltas(self, optimizer: Any) -> None:
        """Perform the proximal step of the penalty in the metric of Adam's step: lr lambda / (sqrt(v) + eps) each."""
        deltas = self.model.deltas
        assert deltas is not None
        group, state = optimizer.param_groups[0], optimizer.state[deltas]
        second = state["exp_avg_sq"] / (1 - group["betas"][1] ** state["step"])
        rates = torch.tensor(self.rates, device=deltas.device)[:, None, None]
        step = rates / (second.sqrt() + group["eps"])
        weight = self.penalty_weight[:, None, None]
        if self._scale is not None:
            weight = weight * self._scale[:, None]
        deltas.copy_(soft_threshold(deltas, step * weight))

    def for_candidates(self, batch: EnvironmentBatch) -> EnvironmentBatch:
        """Return the batch of all models: each member's samples once for every candidate."""
        return EnvironmentBatch(*(repeated(part, len(self.method.candidates)) for part in batch[:3]))

    def of_chosen(self, values: Tensor) -> Tensor:
        """Return the values (members, ...) of each member's chosen candidate, of values of all models."""
        return values if self.chosen is None else values[self.chosen]

    # validation

    def on_validation_epoch_start(self) -> None:
        """Reset the sums."""
        self._squares = torch.zeros(len(self.rates), device=self.device)
        self._items = 0

    def validation_step(self, batch: EnvironmentBatch, batch_idx: int) -> None:
        """Sum squared errors."""
        batch = self.for_candidates(batch)
        self._squares += (self.model(batch.inputs, batch.environments) - batch.labels).square().sum(dim=1)
        self._items += batch.labels.shape[1]

    def on_validation_epoch_end(self) -> None:
        """Log each member's validation error, its best candidate's, and store the weights of models that improved."""
        self.validation_errors = of_models = self._squares / self._items
        if self.method.test_weights == "best":
            self.best.keep(self.lowest.update(of_models), self.model.state_dict())
        errors = of_models[lowest_errors(of_models, len(self.method.candidates))].tolist()
        self.log_members("val_mse", errors)
        self.note_validation("validation MSE", errors)

    # evaluation

    def on_test_start(self) -> None:
        """Discard the last results; load the weights to be tested; find the rotation of the two-stage estimator."""
        super().on_test_start()
        self.load_tested()
        candidates = len(self.method.candidates)
        self.chosen = lowest_errors(self.lowest.best, candidates) if candidates > 1 else None
        self._rotation = self.find_rotation() if self.method.estimator == "two_stage" else None
        self._batches: list[tuple[Tensor, ...]] = []

    def load_tested(self) -> None:
        """Load the weights to be tested: the last ones, or those with the lowest validation error."""
        if self.method.test_weights == "best":
            self.best.keep(torch.isinf(self.lowest.best), self.model.state_dict())  # no validation was finite
            self.model.load_state_dict(self.best.tensors())

    @torch.no_grad()
    def find_rotation(self) -> Tensor:
        """Return the linear map (members, k, k) of the latents with the sparsest deltas on the training data."""
        count = len(self.tree.observed)
        moments = torch.zeros(())
        for batch in self.data.train.chunks():
            latents = self.model.encode(batch.inputs)
            moments = moments.to(latents) + second_moments(latents, batch.labels, batch.environments, count)
        differences = contrasts(self.tree).to(moments) @ environment_weights(moments)
        return sparsest_basis(differences, pooled_covariance(moments), self.seeds).float()

    def test_step(self, batch: EnvironmentBatch, batch_idx: int) -> None:
        """Collect predictions, latents and truth; of a member's candidates, those of the chosen one."""
        of_models = self.for_candidates(batch)
        latents = self.model.encode(of_models.inputs)
        predictions = self.of_chosen(self.model.predict(latents, of_models.environments))
        latents = self.of_chosen(latents)
        if self._rotation is not None:
            latents = latents @ self._rotation.transpose(1, 2)
        truth = () if batch.latents is None else (batch.latents,)
        self._batches.append((predictions, batch.labels, latents, batch.environments[:1], *truth))

    def on_test_epoch_end(self) -> None:
        """Compute the measurements of every member."""
        joined = (torch.cat(parts, dim=1).cpu().numpy() for parts in zip(*self._batches, strict=True))
        predictions, labels, latents, environments, *truth = joined
        tested = Tested(predictions, labels, latents, truth[0] if truth else None, environments[0], self.unseen)
        self._batches = []
        keys: dict[str, Key] = {"latent_dim": self.true_latents} if self.true_latents else {}
        keys["learned_dim"] = self.method.latents
        if self.domain:
            keys["domain"] = self.domain
        self.measurements = measure(tested, self.seeds, keys) + self.choices(keys)
        data = self.data
        if data.has_baselines:
            self.measurements += baseline_measurements(data.train, data.test, labels.shape[1], self.seeds)
            self.remarks = list(unbeaten(self.measurements, "mse", "test MSE"))
        self.arrays = arrays_of(tested) | dict(data.names)
        if self.model.deltas is not None:
            self.arrays["deltas"] = self._on_measured_latents(self.model.deltas)
        self.arrays["weights"] = self._on_measured_latents(self.model.weights())
        if self.chosen is not None:
            self.arrays["models"] = self.chosen.cpu().numpy()
        if self._rotation is not None:
            self.arrays["rotation"] = self._rotation.cpu().numpy()

    # new samples

    @property
    def input_shape(self) -> tuple[int]:
        """Number of features."""
        return (self.features,)

    def transform(self, inputs: Tensor, arrays: Mapping[str, np.ndarray]) -> Tensor:
        """Return the latents (members, samples, latents) of each member's chosen model, with the weights of the tests.

        Raises
        ------
        InputError
            If the run of the two-stage estimator has not saved its rotation.
        """
        models = self.chosen_models(arrays, len(self.rates))
        self.load_tested()
        latents = self.model.encode(inputs.expand(len(self.rates), -1, -1))[models]
        if self.method.estimator != "two_stage":
            return latents
        if "rotation" not in arrays:
            raise InputError("the run has not saved its rotation: repeat it with force=true")
        return latents @ torch.from_numpy(arrays["rotation"]).to(latents).transpose(1, 2)

    def choices(self, keys: dict[str, Key]) -> list[Measurement]:
        """Return each member's chosen lambda and learning rate, and their validation error; none without tuning."""
        found, candidates = [], self.method.candidates
        if self.chosen is None:
            return []
        for seed, model in zip(self.seeds, self.chosen.tolist(), strict=True):
            penalty_weight, lr = candidates[model % len(candidates)]
            if self.model.deltas is not None:
                found.append(Measurement("chosen_lambda", penalty_weight, "", len(candidates), keys, seed))
            error = float(self.lowest.best[model])
            lowest = error if np.isfinite(error) else None
            found.append(Measurement("chosen_lr", lr, "", len(candidates), keys, seed))
            found.append(Measurement("val_mse", lowest, "squared label unit", len(candidates), keys, seed))
        return found

    def _on_measured_latents(self, weights: Tensor) -> np.ndarray:
        """Return weights (members, rows, k) on the latents of the measurements: w . z = (w B^-1) . (B z)."""
        weights = self.of_chosen(weights.detach())
        return (weights if self._rotation is None else weights @ torch.linalg.inv(self._rotation)).cpu().numpy()
