"""TBR and its baseline as a LightningModule: wires model, loss, rotation and metrics for a stack of seeds."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch import Tensor

from sparseid.data.batch import EnvironmentBatch
from sparseid.measurements import Key
from sparseid.methods.module import StackedModule
from sparseid.methods.tbr.evaluation import Tested, arrays_of, measure
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

if TYPE_CHECKING:
    from sparseid.data.environments import EnvironmentData
    from sparseid.methods.tbr.settings import TBRSettings
    from sparseid.settings import RunNumbers


class TBRModule(StackedModule["EnvironmentData"]):
    """A stack of TBR models, or of baselines, one per seed.

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
        self.method, self.tree = method, data.tree
        self.true_latents, self.unseen, self.domain = data.latents, data.unseen is not None, data.domain
        self.model = TreeModel(
            [data.features, *method.hidden, method.latents],
            torch.from_numpy(data.tree.incidence),
            generators(data.seeds, "init"),
            method.slope,
            method.root_weights_std,
            batch_norm=method.latent_norm == "batchnorm",
            with_deltas=method.variant == "tbr",
        )
        if method.test_weights == "best":
            self.lowest, self.best = EarlyStop(len(data.seeds)), BestState(self.model.state_dict())
        self._warm_steps = method.warm_up_samples // data.batch_size
        self._scale: Tensor | None = None
        self.register_buffer("penalty_weight", per_member(method.penalty_weight, len(data.seeds)), persistent=False)

    @classmethod
    def from_settings(cls, settings: TBRSettings, data: Any, run: RunNumbers) -> TBRModule:
        """Build the module of a run for its data module."""
        return cls(settings, data)

    # training

    def configure_optimizers(self) -> torch.optim.Optimizer:
        """Return Adam for all parameters, with a constant learning rate."""
        return torch.optim.Adam(self.parameters(), lr=self.method.lr, fused=True)

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
        """Return the members' mean squared errors and penalties, summed over members."""
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
        step = group["lr"] / (second.sqrt() + group["eps"])
        weight = self.penalty_weight[:, None, None]
        if self._scale is not None:
            weight = weight * self._scale[:, None]
        deltas.copy_(soft_threshold(deltas, step * weight))

    # validation

    def on_validation_epoch_start(self) -> None:
        """Reset the sums."""
        self._squares = torch.zeros(len(self.seeds), device=self.device)
        self._items = 0

    def validation_step(self, batch: EnvironmentBatch, batch_idx: int) -> None:
        """Sum squared errors."""
        self._squares += (self.model(batch.inputs, batch.environments) - batch.labels).square().sum(dim=1)
        self._items += batch.labels.shape[1]

    def on_validation_epoch_end(self) -> None:
        """Log each member's validation error, and store the weights of members that have improved."""
        if self.method.test_weights == "best":
            self.best.keep(self.lowest.update(self._squares / self._items), self.model.state_dict())
        errors = (self._squares / self._items).tolist()
        self.log_members("val_mse", errors)
        self.note_validation("validation MSE", errors)

    # evaluation

    def on_test_start(self) -> None:
        """Discard the last results; load the weights to be tested; find the rotation of the two-stage estimator."""
        super().on_test_start()
        if self.method.test_weights == "best":
            self.best.keep(torch.isinf(self.lowest.best), self.model.state_dict())  # no validation was finite
            self.model.load_state_dict(self.best.tensors())
        self._rotation = self.find_rotation() if self.method.estimator == "two_stage" else None
        self._batches: list[tuple[Tensor, ...]] = []

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
        """Collect predictions, latents and truth."""
        latents = self.model.encode(batch.inputs)
        predictions = self.model.predict(latents, batch.environments)
        if self._rotation is not None:
            latents = latents @ self._rotation.transpose(1, 2)
        assert batch.latents is not None
        self._batches.append((predictions, batch.labels, latents, batch.latents, batch.environments[:1]))

    def on_test_epoch_end(self) -> None:
        """Compute the measurements of every member."""
        joined = (torch.cat(parts, dim=1).cpu().numpy() for parts in zip(*self._batches, strict=True))
        predictions, labels, latents, truth, environments = joined
        tested = Tested(predictions, labels, latents, truth, environments[0], self.unseen)
        self._batches = []
        keys: dict[str, Key] = {"latent_dim": self.true_latents, "learned_dim": self.method.latents}
        if self.domain:
            keys["domain"] = self.domain
        self.measurements = measure(tested, self.seeds, keys)
        self.arrays = arrays_of(tested)
        if self.model.deltas is not None:
            self.arrays["deltas"] = self._on_measured_latents(self.model.deltas)
        self.arrays["weights"] = self._on_measured_latents(self.model.weights())

    def _on_measured_latents(self, weights: Tensor) -> np.ndarray:
        """Return weights (members, rows, k) on the latents of the measurements: w . z = (w B^-1) . (B z)."""
        weights = weights.detach()
        return (weights if self._rotation is None else weights @ torch.linalg.inv(self._rotation)).cpu().numpy()
