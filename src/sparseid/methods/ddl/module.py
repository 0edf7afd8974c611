"""Diverse Dictionary Learning as a LightningModule: wires autoencoders, a penalty and the metrics for a stack."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch import Tensor
from torch.optim.lr_scheduler import LambdaLR

from sparseid.data.batch import FeatureBatch
from sparseid.data.feature_matrix import FeatureData
from sparseid.data.mlp_mixture.datamodule import MLPMixtureData
from sparseid.data.mlp_mixture.masks import group_members
from sparseid.measurements import Measurement
from sparseid.methods.baselines import unbeaten
from sparseid.methods.ddl.evaluation import Evaluated, arrays_of, baseline_measurements, measure, transition_of
from sparseid.methods.ddl.losses import negative_elbo
from sparseid.methods.ddl.networks import StackedVAE
from sparseid.methods.ddl.penalties import (
    DIRECTIONS,
    dependency_sparsity,
    hessian_penalty,
    latent_sparsity,
    normalised_dependency,
    orojar,
    value_and_tangents,
)
from sparseid.methods.module import StackedModule
from sparseid.stacking.members import generators, sum_of_members
from sparseid.stacking.noise import StepNoise, random_signs

if TYPE_CHECKING:
    from sparseid.data.observations.datamodule import ObservationsData
    from sparseid.methods.ddl.settings import DDLSettings
    from sparseid.settings import RunNumbers

LOG_EVERY = 50
"""Number of steps between two measurements of the Jacobian's size."""
SECOND_DIFFERENCES = {"orojar": orojar, "hessian_penalty": hessian_penalty}
"""Penalties from finite differences along random signs."""


class DDLModule(StackedModule[FeatureData]):
    """A stack of penalised variational autoencoders, one per seed.

    Parameters
    ----------
    method
        Sizes, penalty and learning rate.
    data
        Data module with seeds, sizes and, for the evaluation of a known mixture, truth, mask and true Jacobian.
    steps
        Optimiser steps of the run.
    """

    def __init__(self, method: DDLSettings, data: MLPMixtureData | ObservationsData, steps: int) -> None:
        super().__init__(data.seeds)
        self.method, self.features, self.latents, self.steps = method, data.features, data.latents, steps
        init = generators(data.seeds, "init")
        self.model = StackedVAE(data.features, data.latents, method.hidden, method.layers, init)
        batch, latents = data.batch_size, data.latents
        self.noise = StepNoise(data.seeds, "noise", (batch, latents))
        self.signs = StepNoise(data.seeds, "signs", (batch, DIRECTIONS, latents), random_signs)
        self.order = StepNoise(data.seeds, "coordinates", (batch, latents), torch.rand)

    @classmethod
    def from_settings(cls, settings: DDLSettings, data: Any, run: RunNumbers) -> DDLModule:
        """Build the module of a run for its data module."""
        return cls(settings, data, run.steps)

    # training

    def configure_optimizers(self) -> Any:
        """Return Adam with a learning rate that is constant or decays to 0 along half a cosine."""
        adam = torch.optim.Adam(self.parameters(), lr=self.method.lr, fused=True)
        if self.method.schedule == "constant":
            return adam
        schedule = LambdaLR(adam, lambda step: 0.5 * (1 + math.cos(math.pi * step / self.steps)))
        return {"optimizer": adam, "lr_scheduler": {"scheduler": schedule, "interval": "step"}}

    def training_step(self, batch: FeatureBatch, batch_idx: int) -> Tensor:
        """Return the members' negative bounds and penalties, summed over members."""
        inputs, step = batch.inputs, self.global_step
        posterior = self.model.encode(inputs)
        normal = self.noise.at(step, inputs.shape[1], inputs.device)
        latents = posterior.mean + normal * (0.5 * posterior.log_variance).exp()
        outputs, penalty = self.decode_and_penalise(latents, posterior.mean, step)
        losses = negative_elbo(outputs, inputs, *posterior, self.method.beta) + penalty
        if (step + 1) % LOG_EVERY == 0:
            self.log_jacobian(latents.detach())
        return sum_of_members(losses)

    def decode_and_penalise(self, latents: Tensor, codes: Tensor, step: int) -> tuple[Tensor, Tensor | float]:
        """Return the outputs (members, batch, features) and the weighted penalty (members,), or 0 without one.

        Parameters
        ----------
        latents, codes
            (members, batch, latents) sampled latents and posterior means.
        step
            Step that determines the random signs or coordinates.
        """
        decoder, alpha, (batch, device) = self.model.decoder, self.method.alpha, (latents.shape[1], latents.device)
        kind = self.method.penalty if alpha else "none"
        if kind == "dependency":
            chosen = None
            if self.method.jacobian == "coordinates":
                chosen = self.order.at(step, batch, device).argsort(dim=-1)[..., : self.method.coordinates]
            outputs, tangents = value_and_tangents(decoder, latents, chosen)
            return outputs, alpha * dependency_sparsity(tangents, self.latents)
        outputs = decoder(latents)
        if kind == "latent":
            return outputs, alpha * latent_sparsity(codes)
        if penalty := SECOND_DIFFERENCES.get(kind):
            return outputs, alpha * penalty(decoder, latents, outputs, self.signs.at(step, batch, device))
        return outputs, 0.0

    @torch.no_grad()
    def log_jacobian(self, latents: Tensor) -> None:
        """Log the L1 norm of every member's Jacobian, plain and for latents in units of their standard deviation."""
        tangents = value_and_tangents(self.model.decoder, latents)[1]
        sizes = {
            "jacobian_l1": dependency_sparsity(tangents, self.latents),
            "jacobian_l1_normalised": normalised_dependency(tangents, latents),
        }
        for name, values in sizes.items():
            self.log_members(name, values)

    # validation

    def on_validation_epoch_start(self) -> None:
        """Reset the sums."""
        self._validation: tuple[Tensor | float, int] = (0.0, 0)

    def validation_step(self, batch: FeatureBatch, batch_idx: int) -> None:
        """Sum the negative bounds without the penalty, with the same noise in every validation."""
        posterior = self.model.encode(batch.inputs)
        drawn = [torch.randn(posterior.mean.shape[1:], generator=g) for g in self._generators(batch_idx)]
        latents = posterior.mean + torch.stack(drawn).to(posterior.mean) * (0.5 * posterior.log_variance).exp()
        losses = negative_elbo(self.model.decoder(latents), batch.inputs, *posterior, self.method.beta)
        (total, samples), size = self._validation, batch.inputs.shape[1]
        self._validation = total + size * losses, samples + size

    def on_validation_epoch_end(self) -> None:
        """Log the bound of each member."""
        total, samples = self._validation
        self.validation_errors = torch.as_tensor(total / samples)
        errors = self.validation_errors.tolist()
        self.log_members("val_loss", errors)
        self.note_validation("validation loss", errors)

    def _generators(self, number: int) -> list[torch.Generator]:
        return generators(self.seeds, "validation", number)

    # new samples

    @property
    def input_shape(self) -> tuple[int]:
        """Number of features."""
        return (self.features,)

    def transform(self, inputs: Tensor, arrays: Mapping[str, np.ndarray]) -> Tensor:
        """Return the codes (members, samples, latents): means of their posteriors."""
        return self.model.encode(inputs.expand(len(self.seeds), -1, -1)).mean

    # evaluation

    def on_test_start(self) -> None:
        """Discard the results of the last test."""
        super().on_test_start()
        self._codes: list[Tensor] = []
        self._errors: list[Tensor] = []
        self._dependence: Tensor | float = 0.0
        self._transition: Tensor | float = 0.0

    def test_step(self, batch: FeatureBatch, batch_idx: int) -> None:
        """Collect codes and errors, and sum absolute Jacobians, at the posterior means."""
        start = sum(codes.shape[1] for codes in self._codes)
        codes = self.model.encode(batch.inputs).mean
        outputs, tangents = value_and_tangents(self.model.decoder, codes)
        jacobian = tangents.transpose(2, 3)  # (members, batch, features, latents)
        self._dependence = self._dependence + jacobian.abs().sum(dim=1)
        if mixture := self.mixture:
            true = mixture.jacobian(mixture.truth.test[:, start : start + codes.shape[1]])
            self._transition = self._transition + transition_of(true, jacobian).abs().sum(dim=1)
        self._codes.append(codes)
        self._errors.append((outputs - batch.inputs).square().mean(dim=2))

    def on_test_epoch_end(self) -> None:
        """Compute the measurements of every member."""
        codes = torch.cat(self._codes, dim=1)
        samples = codes.shape[1]
        kept = {
            "codes": codes,
            "errors": torch.cat(self._errors, dim=1),
            "dependence": self._dependence / samples,
        }
        groups, mixture, data = None, self.mixture, self.data
        if mixture:
            truth, config = mixture.truth.test[:, :samples], mixture.config
            kept |= {"truth": truth, "transition": self._transition / samples, "mask": mixture.mask}
            groups = group_members(config.groups, config.latents) if config.mask == "groups" else None
        values = {name: torch.as_tensor(tensor).detach().cpu().numpy() for name, tensor in kept.items()}
        evaluated = Evaluated(self.seeds, **values, groups=groups)
        self.measurements, self.arrays = measure(evaluated), arrays_of(evaluated)
        if data.has_baselines:
            self.measurements += self._of_baselines(samples)
            self.remarks = list(unbeaten(self.measurements, "reconstruction", "reconstruction error"))
        if not mixture and data.feature_names is not None:
            self.arrays["feature_names"] = np.asarray(data.feature_names, dtype=np.str_)
        if data.row_ids is not None:
            self.arrays["row_ids"] = data.row_ids[: len(self.arrays["codes"])]

    @property
    def mixture(self) -> MLPMixtureData | None:
        """Data whose latents and structure are known; None for others."""
        return self.data if isinstance(self.data, MLPMixtureData) else None

    def _of_baselines(self, samples: int) -> list[Measurement]:
        """Return the errors of simple baselines on the first test samples; all members share the data."""
        test = self.data.test[0, :samples].double().cpu().numpy()
        return baseline_measurements(self.data.seen(), test, self.latents, self.seeds)
