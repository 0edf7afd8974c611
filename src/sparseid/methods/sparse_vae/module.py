"""The Sparse VAE and its baselines as a LightningModule: wires a model, its noise and the metrics for a stack."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch import Tensor

from sparseid.data.batch import FeatureBatch
from sparseid.errors import InputError
from sparseid.measurements import Measurement
from sparseid.methods.baselines import unbeaten
from sparseid.methods.module import StackedModule
from sparseid.methods.sparse_vae.evaluation import (
    Evaluated,
    arrays_of,
    baseline_measurements,
    measure,
    planes_of,
    scores_of,
)
from sparseid.methods.sparse_vae.model import VAE, Given, LatentModel, SparseVAE
from sparseid.methods.sparse_vae.networks import Noise, RestartNoise, drawn, restart_generators
from sparseid.methods.sparse_vae.nmf import Factorisation
from sparseid.methods.sparse_vae.oi_vae import OIVAE
from sparseid.methods.sparse_vae.topics import enrichment_measurement, topic_measurements
from sparseid.methods.sparse_vae.vsc import VSC
from sparseid.stacking.members import sum_of_members
from sparseid.streams import FIXED

if TYPE_CHECKING:
    from sparseid.data.feature_matrix import FeatureData
    from sparseid.methods.sparse_vae.settings import SparseVAESettings
    from sparseid.settings import RunNumbers

MODELS: dict[str, Callable[..., LatentModel]] = {
    "sparse_vae": SparseVAE,
    "vae": VAE,
    "vsc": VSC,
    "oi_vae": OIVAE,
    "nmf": Factorisation,
}
GAUSSIAN_ONLY = ("oi_vae", "nmf")
"""Models without a likelihood of counts."""
CHUNK = 512
"""Number of samples of a member that are encoded at a time after training."""


class SparseVAEModule(StackedModule["FeatureData"]):
    """A stack of models, with several restarts per seed.

    The restarts of a seed differ in initial values and noise; the one with the lowest objective on all training samples
    is evaluated.

    Parameters
    ----------
    method
        Settings of the model.
    data
        Data module with seeds, sizes and likelihood.
    steps
        Optimiser steps of the run.

    Raises
    ------
    InputError
        If the model has no likelihood for the data.
    """

    def __init__(self, method: SparseVAESettings, data: FeatureData, steps: int) -> None:
        super().__init__(data.seeds)
        if method.model in GAUSSIAN_ONLY and data.likelihood != "gaussian":
            text = f"{method.model} has no likelihood of counts: choose another method.model for these data"
            raise InputError(text, ("method.model",))
        self.method = method
        self.given = Given(data.features, data.likelihood == "gaussian", data.row_normalised, data.batch_size, steps)
        init = restart_generators(data.seeds, method.restarts, "init")
        self.model = MODELS[method.model](method, self.given, init)
        self.noise = RestartNoise(data.seeds, method.restarts, data.batch_size, method.latents)

    @classmethod
    def from_settings(cls, settings: SparseVAESettings, data: Any, run: RunNumbers) -> SparseVAEModule:
        """Build the module of a run for its data module."""
        return cls(settings, data, run.steps)

    # training

    def setup(self, stage: str) -> None:
        """Initialise the model from the data before training."""
        if stage == "fit":
            self.model.prepare(self._restarted(self.data.train), self._restarted(self.data.column_sd))

    def configure_optimizers(self) -> torch.optim.Optimizer:
        """Return Adam with a constant learning rate; the authors' two are equivalent, since Adam works per entry."""
        return torch.optim.Adam(self.model.trained(), lr=self.method.lr, fused=True)

    def training_step(self, batch: FeatureBatch, batch_idx: int) -> Tensor:
        """Return the members' objectives, summed over members."""
        inputs, step = self._restarted(batch.inputs), self.global_step
        if self.method.model == "nmf":
            self.trainer.should_stop = True  # already fitted
        noise = self.noise.at(step, inputs.shape[1], inputs.device)
        return sum_of_members(self.model.terms(inputs, noise, step, self.chosen_features(step)).total)

    def optimizer_step(self, epoch: int, batch_idx: int, optimizer: Any, optimizer_closure: Any = None) -> None:
        """Perform Adam's step, then the model's own updates."""
        super().optimizer_step(epoch, batch_idx, optimizer, optimizer_closure)
        self.model.after_step()

    def chosen_features(self, step: int) -> Tensor | None:
        """Return the features that a step reconstructs, the same for all members; None for all features."""
        if self.method.feature_share == 1:
            return None
        order = torch.randperm(self.given.features, generator=FIXED.torch("features", step))
        return order[: max(1, round(self.method.feature_share * self.given.features))].to(self.device)

    def _restarted(self, values: Tensor) -> Tensor:
        """Repeat values (seeds, ...) for each restart of each seed."""
        restarts = self.method.restarts
        return values if restarts == 1 else values.repeat_interleave(restarts, dim=0)

    # validation

    def on_validation_epoch_start(self) -> None:
        """Reset the sums."""
        self._validation: tuple[Tensor | float, int] = (0.0, 0)

    def validation_step(self, batch: FeatureBatch, batch_idx: int) -> None:
        """Sum the errors of reconstructions, with the same noise in every validation."""
        inputs = self._restarted(batch.inputs)
        noise = self.evaluation_noise("validation", batch_idx, inputs)
        if self.given.gaussian:
            errors = self.model.terms(inputs, noise, self.given.steps).total
        else:
            outputs = self.model.reconstruct(inputs, noise)
            errors = scores_of(outputs, inputs, gaussian=False)[self.error].mean(dim=1)
        total, samples = self._validation
        self._validation = total + inputs.shape[1] * errors, samples + inputs.shape[1]

    def on_validation_epoch_end(self) -> None:
        """Log the error of each member, its best restart's; none counts for the early stop before the prior is used."""
        total, samples = self._validation
        of_models = torch.as_tensor(total / samples)
        begun = self.global_step >= self.method.prior.warm_up * self.given.steps
        self.validation_errors = of_models if begun else None
        errors = of_models.view(len(self.seeds), -1).amin(dim=1).tolist()
        self.log_members(f"val_{self.validated}", errors)
        self.note_validation(f"validation {self.validated.replace('_', ' ')}", errors)

    @property
    def error(self) -> str:
        """Name of the score that measures a reconstruction."""
        return "mse" if self.given.gaussian else "log_loss"

    @property
    def validated(self) -> str:
        """Name of the value by which the training stops early.

        The squared error of real values would not do: it falls late, once the noise of each feature is learned, and is
        lowest early, before the selectors are sparse.
        """
        return "objective" if self.given.gaussian else self.error

    # evaluation

    def on_test_start(self) -> None:
        """Discard the results of the last test; choose the restart of each seed."""
        super().on_test_start()
        self._objectives = self.objectives()
        lowest = torch.where(torch.isfinite(self._objectives), self._objectives, torch.inf).argmin(dim=1)
        self._chosen = torch.arange(len(self.seeds), device=self.device) * self.method.restarts + lowest
        self._tested: list[tuple[Tensor, dict[str, Tensor]]] = []

    @torch.no_grad()
    def objectives(self) -> Tensor:
        """Return the objective (seeds, restarts) on all training samples, with fresh noise."""
        total: Tensor | float = 0.0
        samples = self.data.train.shape[1]
        for number, inputs in enumerate(self._restarted(self.data.train).split(CHUNK, dim=1)):
            terms = self.model.terms(inputs, self.evaluation_noise("objective", number, inputs), self.given.steps)
            total = total + inputs.shape[1] / samples * (terms.reconstruction + terms.divergence)
        return (total + terms.sigma + terms.prior).view(len(self.seeds), -1)

    def evaluation_noise(self, name: str, number: int, inputs: Tensor) -> Noise:
        """Return the noise for part `number` of the samples of an evaluation."""
        streams = restart_generators(self.seeds, self.method.restarts, f"evaluation/{name}", number)
        return drawn(streams, (inputs.shape[1], self.method.latents), inputs.device)

    def test_step(self, batch: FeatureBatch, batch_idx: int) -> None:
        """Collect codes and scores of the test samples."""
        inputs = self._restarted(batch.inputs)
        outputs = self.model.reconstruct(inputs, self.evaluation_noise("test", batch_idx, inputs))[self._chosen]
        scores = scores_of(outputs, batch.inputs, self.given.gaussian)
        self._tested.append((self.model.encode(inputs)[self._chosen], scores))

    def on_test_epoch_end(self) -> None:
        """Compute the measurements of every seed."""
        codes, scores = zip(*self._tested, strict=True)
        self._tested = []
        data = self.data
        joined = torch.cat(codes, dim=1).cpu().numpy()
        truth, train, factors = data.truth, None, None
        if truth is not None:
            factors = truth.train.cpu().numpy(), truth.test[:, : joined.shape[1]].cpu().numpy()
            parts = self._restarted(data.train).split(CHUNK, dim=1)
            train = torch.cat([self.model.encode(part)[self._chosen] for part in parts], dim=1)
        evaluated = Evaluated(
            seeds=self.seeds,
            objective=self._objectives.flatten()[self._chosen].cpu().numpy(),
            scores={name: torch.cat([part[name] for part in scores], dim=1).cpu().numpy() for name in scores[0]},
            codes=joined,
            train_codes=None if train is None else train.cpu().numpy(),
            truth=factors,
            support=None if truth is None else truth.support.cpu().numpy(),
            labels=data.labels,
            loadings={name: values[self._chosen].cpu().numpy() for name, values in self.model.loadings().items()},
            planes=None if data.labels is None else planes_of(joined, self.seeds),
            feature_names=data.feature_names,
            row_ids=data.row_ids,
        )
        self.measurements = [*measure(evaluated), *self._of_named_features(evaluated)]
        if data.has_baselines:
            self.measurements += self._of_baselines(joined.shape[1])
            self.remarks = list(unbeaten(self.measurements, self.error, self.error.replace("_", " ")))
            self.remarks += unbeaten(self.measurements, "recall_at_5", "recall@5", better="high")
        self.arrays = arrays_of(evaluated)
        if self.method.restarts > 1:
            self.arrays["models"] = self._chosen.cpu().numpy()

    # new samples

    @property
    def input_shape(self) -> tuple[int]:
        """Number of features."""
        return (self.given.features,)

    def transform(self, inputs: Tensor, arrays: Mapping[str, np.ndarray]) -> Tensor:
        """Return the codes (members, samples, latents) of each member's chosen restart: means of their posteriors."""
        models = len(self.seeds) * self.method.restarts
        return self.model.encode(inputs.expand(models, -1, -1))[self.chosen_models(arrays, models)]

    def _of_baselines(self, samples: int) -> list[Measurement]:
        """Return the scores of simple baselines on the first test samples; all members share the data."""
        data, latents = self.data, self.method.latents
        return baseline_measurements(data.seen(), data.test[0, :samples], latents, self.given.gaussian, self.seeds)

    def _of_named_features(self, evaluated: Evaluated) -> Iterator[Measurement]:
        """Yield topics or enriched gene sets of selectors with a prior, for features with names."""
        data, loadings = self.data, evaluated.loadings
        names = data.feature_names
        if names is None or "slab_probability" not in loadings:
            return
        for member, seed in enumerate(self.seeds):
            selector, probability = loadings["selector"][member], loadings["slab_probability"][member]
            if not np.isfinite(selector).all():
                continue
            if not self.given.gaussian:
                occurs = (data.train[member] > 0).cpu().numpy()
                yield from topic_measurements(selector, occurs, names, data.topic_size, seed, data.feature_kinds)
            elif data.gene_sets is not None:
                yield enrichment_measurement(selector, probability, names, data.gene_sets, seed)
