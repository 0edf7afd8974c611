"""RegCL and its baselines as a LightningModule: wires encoder, losses, penalty and metrics for a stack of seeds."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch import Tensor
from torch.func import functional_call

from sparseid.data.batch import ContrastiveBatch, SeriesBatch
from sparseid.measurements import Measurement
from sparseid.methods.baselines import unbeaten
from sparseid.methods.module import StackedModule
from sparseid.methods.regcl.encoder import StackedEncoder, Trace
from sparseid.methods.regcl.evaluation import (
    Evaluated,
    Layout,
    arrays_of,
    baseline_measurements,
    deficient_share,
    limit_of,
    maps_of,
    measure,
)
from sparseid.methods.regcl.gate import gate_remarks
from sparseid.methods.regcl.losses import info_nce, mean_squared_error
from sparseid.methods.regcl.penalty import LinearRamp, exact_penalty, penalty_terms, projected_penalty, unit_directions
from sparseid.methods.regcl.tuning import highest_without_harm
from sparseid.metrics.linear_r2 import linear_r2
from sparseid.stacking.chunking import losses_in_groups, member_groups
from sparseid.stacking.members import generators, sum_of_members
from sparseid.stacking.tuning import repeated

if TYPE_CHECKING:
    from sparseid.data.contrastive import ContrastiveData, Series
    from sparseid.methods.regcl.settings import RegCLSettings
    from sparseid.settings import RunNumbers

POSITIVES = {"supervised": (), "supervised_contrastive": ("labels",), "hybrid": ("time", "labels")}
"""Types of positives that each training requests from the data, one per objective."""


class RegCLModule(StackedModule["ContrastiveData"]):
    """A stack of encoders, one per seed and candidate of lambda, trained by the objectives of one of three trainings.

    Parameters
    ----------
    method
        Training, encoder, loss and penalty.
    data
        Data module with sizes, seeds and true map; its types of positives are set here.
    steps
        Optimiser steps of the run, from which the steps of the ramp are computed.
    """

    def __init__(self, method: RegCLSettings, data: ContrastiveData, steps: int) -> None:
        super().__init__(data.seeds)
        self.method, self.time_offset, self.features = method, data.sampling.time_offset, data.features
        self.layout = Layout.of(data, whole=method.training == "hybrid")
        outputs = self.layout.size
        width = outputs if method.width_from == "output" else data.latents
        self.candidates = len(method.candidates)
        self.model_seeds = [seed for seed in data.seeds for _ in method.candidates]
        init = generators(self.model_seeds, "init")
        self.encoder = StackedEncoder(data.features, outputs, width, init, method.head, method.head_scale)
        # the objective in time sees the whole embedding, the one by label the observed factor's coordinates
        self.objectives = {"time": slice(0, outputs), "labels": self.layout.factors["labels"].embedding}
        data.positives = self.positives = POSITIVES[method.training]
        seen = [self.objectives[name] for name in self.positives or ("labels",)]
        self.terms = penalty_terms(seen, outputs, method.penalty_form)
        ramp = (method.ramp_on * steps, method.ramp_off * steps)
        self.ramps = [LinearRamp(*ramp, weight) for weight in method.candidates * len(data.seeds)]

    @classmethod
    def from_settings(cls, settings: RegCLSettings, data: Any, run: RunNumbers) -> RegCLModule:
        """Build the module of a run for its data module."""
        return cls(settings, data, run.steps)

    # training

    def configure_optimizers(self) -> torch.optim.Optimizer:
        """Return Adam for all parameters, with a constant learning rate."""
        return torch.optim.Adam(self.parameters(), lr=self.method.lr, fused=True)

    def training_step(self, batch: ContrastiveBatch, batch_idx: int) -> Tensor:
        """Return the models' losses and penalties, summed over models."""
        inputs, labels = (repeated(part, self.candidates) for part in (batch.inputs, batch.labels))

        def losses(parameters: dict[str, Tensor], models: slice) -> Tensor:
            return functional_call(self, parameters, (ContrastiveBatch(inputs[models], labels[models]), models))

        widest = max(weight.shape[2] for weight in self.encoder.weights) * batch.inputs.shape[1]
        groups = member_groups(len(self.model_seeds), widest, batch.inputs.device)
        return sum_of_members(losses_in_groups(losses, dict(self.named_parameters()), groups))

    def forward(self, batch: ContrastiveBatch, models: slice) -> Tensor:
        """Return the losses plus penalties of some models on a batch; the penalty is computed at its references."""
        samples = batch.labels.shape[1]
        trace = self.encoder.trace(batch.inputs)
        if self.positives:
            reference, negative, *positives = trace.outputs.split(samples, dim=1)
            named = dict(zip(self.positives, positives, strict=True))
            losses = torch.stack(list(self.contrast(reference, negative, named).values())).sum(dim=0)
        else:
            losses = mean_squared_error(trace.outputs, batch.labels)
        weights = [ramp.weight(self.global_step) for ramp in self.ramps[models]]
        if any(weights):
            references = trace.first(self.method.penalty_samples or samples)
            penalties = self.penalty(references, self.model_seeds[models])
            losses = losses + (weights[0] if self.candidates == 1 else losses.new_tensor(weights)) * penalties
        return losses

    def contrast(self, reference: Tensor, negative: Tensor, positives: dict[str, Tensor]) -> dict[str, Tensor]:
        """Return the InfoNCE loss (members,) of each objective for embeddings (members, samples, outputs)."""
        method, losses = self.method, {}
        for name, positive in positives.items():
            parts = [embedding[..., self.objectives[name]] for embedding in (reference, positive, negative)]
            if method.similarity == "cosine":
                parts = [torch.nn.functional.normalize(part, dim=-1) for part in parts]
            losses[name] = info_nce(
                parts[0],
                parts[1],
                parts[2],
                method.similarity,
                method.temperature,
                method.positive_in_denominator,
            )
        return losses

    def penalty(self, trace: Trace, seeds: list[int]) -> Tensor:
        """Return the squared size (members,) of the Jacobian at a trace's samples, or this step's estimate of it."""
        if self.method.penalty_estimator == "exact":
            return exact_penalty(self.encoder, trace, self.terms)
        drawn = unit_directions(trace.raw.shape[1], self.terms, generators(seeds, "projection", self.global_step))
        return projected_penalty(self.encoder, trace, self.terms, [part.to(trace.raw) for part in drawn])

    # validation

    def on_validation_epoch_start(self) -> None:
        """Start to collect embeddings and labels."""
        self._parts: list[tuple[Tensor, Tensor]] = []

    def validation_step(self, batch: SeriesBatch, batch_idx: int) -> None:
        """Collect the models' embeddings, and labels."""
        self._parts.append((self.embed(batch), batch.labels))

    def on_validation_epoch_end(self) -> None:
        """Log each member's losses on the held-out samples, those of its candidate that would be chosen now."""
        embedding, labels = (torch.cat(parts, dim=1) for parts in zip(*self._parts, strict=True))
        self._parts = []
        of_models = self.held_out_losses(embedding, labels)
        models = self.choice(of_models)
        losses = {name: values[models].tolist() for name, values in of_models.items()}
        for name, values in losses.items():
            self.log_members(f"val_{name}", values)
        if losses:
            self.note_validation("validation loss", np.sum(list(losses.values()), axis=0))
        if self.data.early_stop:
            r2 = self.label_r2(embedding, labels)
            self.log_members("val_r2", r2[models])
            errors = self.stop_errors(r2, of_models)
            begun = self.global_step >= self.ramps[0].off or not any(self.method.candidates)
            self.validation_errors = errors if begun and bool(errors.isfinite().any()) else None

    def label_r2(self, embedding: Tensor, labels: Tensor) -> Tensor:
        """Return the R2 (models,) of validation labels, by regression on their coordinates of training samples.

        Labels that are constant in the validation samples do not count; NaN if all of them are.

        Parameters
        ----------
        embedding, labels
            (models, samples, outputs) and (members, samples, labels).
        """
        train, at = self.data.attribution_batch(), self.objectives["labels"]
        varying = (labels != labels[:, :1]).any(dim=1).all(dim=0)
        known = [repeated(part[..., varying], self.candidates) for part in (train.labels, labels)]
        r2 = linear_r2(self.embed(train)[..., at], known[0], embedding[..., at], known[1])
        return torch.as_tensor(r2, dtype=torch.float32, device=embedding.device)

    @staticmethod
    def stop_errors(r2: Tensor, losses: dict[str, Tensor]) -> Tensor:
        """Return the errors (models,) of the early stop: 1 - R2 of the labels, or the loss where R2 is undefined."""
        return torch.where(r2.isnan(), torch.stack([*losses.values()]).sum(dim=0), 1 - r2) if losses else 1 - r2

    def held_out_losses(self, embedding: Tensor, labels: Tensor) -> dict[str, Tensor]:
        """Return the loss (models,) of each objective on held-out samples, in their order.

        The references are the first half, the negatives the second. The positive is the next sample in time for both
        objectives: it is also a draw by label, since labels are shifted by steps of the walk. Empty if half of the
        samples are too short for a pair.

        Parameters
        ----------
        embedding
            (models, samples, outputs)
        labels
            (members, samples, outputs), used by supervised training alone.
        """
        if not self.positives:
            return {"mse": mean_squared_error(embedding, repeated(labels, self.candidates))}
        half = embedding.shape[1] // 2
        if half <= self.time_offset:
            return {}
        positive = embedding[:, self.time_offset : half]
        reference = embedding[:, : half - self.time_offset]
        return self.contrast(reference, embedding[:, half:], dict.fromkeys(self.positives, positive))

    def losses_of(self, series: Series) -> dict[str, Tensor]:
        """Return the loss (models,) of each objective on a series, as `held_out_losses`."""
        parts = list(series.chunks())
        return self.held_out_losses(torch.cat([self.embed(part) for part in parts], dim=1), joined(parts).labels)

    def embed(self, batch: SeriesBatch) -> Tensor:
        """Return the embedding (models, samples, outputs) of each member's samples by all its candidates."""
        return self.encoder(repeated(batch.inputs, self.candidates))

    def choice(self, losses: dict[str, Tensor]) -> Tensor:
        """Return the model (members,) int64 of each member: that of its candidate chosen by the losses (models,)."""
        first = torch.arange(0, len(self.model_seeds), self.candidates, device=self.device)
        if self.candidates == 1 or not losses:
            return first
        total = torch.stack(list(losses.values())).sum(dim=0).view(-1, self.candidates)
        return first + highest_without_harm(total, self.method.tuning.tolerance)

    # evaluation

    def on_test_start(self) -> None:
        """Discard the results of the last test."""
        super().on_test_start()
        self._tested: list[tuple[Tensor, SeriesBatch]] = []

    def test_step(self, batch: SeriesBatch, batch_idx: int) -> None:
        """Collect the models' embeddings."""
        self._tested.append((self.embed(batch), batch))

    def on_test_epoch_end(self) -> None:
        """Choose each member's lambda, and compute its measurements from embeddings and attribution maps."""
        data, train = self.data, self.data.attribution_batch()
        held_out = joined([batch for _, batch in self._tested])
        embedding = torch.cat([part for part, _ in self._tested], dim=1)
        losses = self.held_out_losses(embedding, held_out.labels)
        models = self.choice(self.losses_of(data.validation) if data.early_stop else losses)
        encoder = self.encoder if self.candidates == 1 else self.encoder.of(models.tolist())
        trace = encoder.trace(train.inputs)
        evaluated = Evaluated(
            maps=maps_of(encoder, train.inputs, self.seeds),
            train=train,
            held_out=held_out,
            train_embedding=trace.outputs,
            embedding=embedding[models],
            losses={name: values[models].double().cpu().numpy() for name, values in losses.items()},
            saturated=(encoder.head_slopes(trace.raw) == 0).double().mean(dim=(1, 2)).cpu().numpy(),
            deficient=deficient_share(encoder, train.inputs),
            truth=None if data.truth is None else data.truth.cpu().numpy(),
            limit=limit_of(data),
        )
        self._tested = []
        self.measurements = measure(evaluated, self.layout, self.seeds) + self.chosen(models)
        self.remarks = gate_remarks(self.measurements)
        if data.has_baselines:
            self.measurements += baseline_measurements(data, held_out, self.seeds)
            self.remarks += unbeaten(self.measurements, "r2", "R2 of the labels (%)", better="high")
        self.arrays = arrays_of(evaluated, self.layout) | dict(data.names)
        if self.candidates > 1:
            self.arrays["models"] = models.cpu().numpy()

    # new samples

    @property
    def input_shape(self) -> tuple[int]:
        """Number of observed features."""
        return (self.features,)

    def transform(self, inputs: Tensor, arrays: Mapping[str, np.ndarray]) -> Tensor:
        """Return the embedding (members, samples, latents) of each member's chosen encoder."""
        models = self.chosen_models(arrays, len(self.model_seeds))
        return self.encoder.of(models)(inputs.expand(len(models), -1, -1))

    def chosen(self, models: Tensor) -> list[Measurement]:
        """Return each member's chosen lambda; none without candidates."""
        if self.candidates == 1:
            return []
        weights = [self.method.candidates[model % self.candidates] for model in models.tolist()]
        return [
            Measurement("chosen_lambda", weight, "", self.candidates, {}, seed)
            for seed, weight in zip(self.seeds, weights, strict=True)
        ]


def joined(batches: list[SeriesBatch]) -> SeriesBatch:
    """Return the batches as one, in their order."""
    inputs, labels, latents = zip(*batches, strict=True)
    known = None if latents[0] is None else torch.cat(latents, dim=1)
    return SeriesBatch(torch.cat(inputs, dim=1), torch.cat(labels, dim=1), known)
