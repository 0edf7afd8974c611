"""RegCL and its baselines as a LightningModule: wires encoder, losses, penalty and metrics for a stack of seeds."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch import Tensor
from torch.func import functional_call

from sparseid.data.batch import ContrastiveBatch, SeriesBatch
from sparseid.methods.module import StackedModule
from sparseid.methods.regcl.encoder import StackedEncoder, Trace
from sparseid.methods.regcl.evaluation import (
    Evaluated,
    Layout,
    arrays_of,
    deficient_share,
    limit_of,
    maps_of,
    measure,
)
from sparseid.methods.regcl.gate import gate_remarks
from sparseid.methods.regcl.losses import info_nce, mean_squared_error
from sparseid.methods.regcl.penalty import LinearRamp, exact_penalty, penalty_terms, projected_penalty, unit_directions
from sparseid.stacking.chunking import losses_in_groups, member_groups
from sparseid.stacking.members import generators, sum_of_members

if TYPE_CHECKING:
    from sparseid.data.contrastive import ContrastiveData
    from sparseid.methods.regcl.settings import RegCLSettings
    from sparseid.settings import RunNumbers

POSITIVES = {"supervised": (), "supervised_contrastive": ("labels",), "hybrid": ("time", "labels")}
"""Types of positives that each training requests from the data, one per objective."""


class RegCLModule(StackedModule["ContrastiveData"]):
    """A stack of encoders, one per seed, trained by the objectives of one of the three trainings.

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
        self.method, self.time_offset = method, data.sampling.time_offset
        self.layout = Layout.of(data, whole=method.training == "hybrid")
        outputs = self.layout.size
        width = outputs if method.width_from == "output" else data.latents
        init = generators(data.seeds, "init")
        self.encoder = StackedEncoder(data.features, outputs, width, init, method.head, method.head_scale)
        # the objective in time sees the whole embedding, the one by label the observed factor's coordinates
        self.objectives = {"time": slice(0, outputs), "labels": self.layout.factors["labels"].embedding}
        data.positives = self.positives = POSITIVES[method.training]
        seen = [self.objectives[name] for name in self.positives or ("labels",)]
        self.terms = penalty_terms(seen, outputs, method.penalty_form)
        self.ramp = LinearRamp(method.ramp_on * steps, method.ramp_off * steps, method.penalty_weight)

    @classmethod
    def from_settings(cls, settings: RegCLSettings, data: Any, run: RunNumbers) -> RegCLModule:
        """Build the module of a run for its data module."""
        return cls(settings, data, run.steps)

    # training

    def configure_optimizers(self) -> torch.optim.Optimizer:
        """Return Adam for all parameters, with a constant learning rate."""
        return torch.optim.Adam(self.parameters(), lr=self.method.lr, fused=True)

    def training_step(self, batch: ContrastiveBatch, batch_idx: int) -> Tensor:
        """Return the members' losses and penalties, summed over members."""

        def losses(parameters: dict[str, Tensor], members: slice) -> Tensor:
            own = ContrastiveBatch(batch.inputs[members], batch.labels[members])
            return functional_call(self, parameters, (own, self.seeds[members]))

        widest = max(weight.shape[2] for weight in self.encoder.weights) * batch.inputs.shape[1]
        groups = member_groups(len(self.seeds), widest, batch.inputs.device)
        return sum_of_members(losses_in_groups(losses, dict(self.named_parameters()), groups))

    def forward(self, batch: ContrastiveBatch, seeds: list[int]) -> Tensor:
        """Return the losses plus penalties (members,) of a batch; the penalty is computed at its references."""
        samples = batch.labels.shape[1]
        trace = self.encoder.trace(batch.inputs)
        if self.positives:
            reference, negative, *positives = trace.outputs.split(samples, dim=1)
            named = dict(zip(self.positives, positives, strict=True))
            losses = torch.stack(list(self.contrast(reference, negative, named).values())).sum(dim=0)
        else:
            losses = mean_squared_error(trace.outputs, batch.labels)
        weight = self.ramp.weight(self.global_step)
        if weight > 0:
            losses = losses + weight * self.penalty(trace.first(self.method.penalty_samples or samples), seeds)
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
        """Collect embeddings and labels."""
        self._parts.append((self.encoder(batch.inputs), batch.labels))

    def on_validation_epoch_end(self) -> None:
        """Log each member's losses on the held-out samples."""
        embedding, labels = (torch.cat(parts, dim=1) for parts in zip(*self._parts, strict=True))
        self._parts = []
        losses = {name: values.tolist() for name, values in self.held_out_losses(embedding, labels).items()}
        for name, values in losses.items():
            self.log_members(f"val_{name}", values)
        if losses:
            self.note_validation("validation loss", np.sum(list(losses.values()), axis=0))

    def held_out_losses(self, embedding: Tensor, labels: Tensor) -> dict[str, Tensor]:
        """Return the loss (members,) of each objective on held-out samples (members, samples, ...) in their order.

        The references are the first half, the negatives the second. The positive is the next sample in time for both
        objectives: it is also a draw by label, since labels are shifted by steps of the walk. Empty if half of the
        samples are too short for a pair.
        """
        if not self.positives:
            return {"mse": mean_squared_error(embedding, labels)}
        half = embedding.shape[1] // 2
        if half <= self.time_offset:
            return {}
        positive = embedding[:, self.time_offset : half]
        reference = embedding[:, : half - self.time_offset]
        return self.contrast(reference, embedding[:, half:], dict.fromkeys(self.positives, positive))

    # evaluation

    def on_test_start(self) -> None:
        """Discard the results of the last test."""
        super().on_test_start()
        self._tested: list[tuple[Tensor, SeriesBatch]] = []

    def test_step(self, batch: SeriesBatch, batch_idx: int) -> None:
        """Collect the embeddings."""
        self._tested.append((self.encoder(batch.inputs), batch))

    def on_test_epoch_end(self) -> None:
        """Compute the measurements of every member from embeddings and attribution maps."""
        data, train = self.data, self.data.attribution_batch()
        trace = self.encoder.trace(train.inputs)
        held_out, embedding = (
            joined([batch for _, batch in self._tested]),
            torch.cat([part for part, _ in self._tested], 1),
        )
        losses = self.held_out_losses(embedding, held_out.labels)
        evaluated = Evaluated(
            maps=maps_of(self.encoder, train.inputs, self.seeds),
            train=train,
            held_out=held_out,
            train_embedding=trace.outputs,
            embedding=embedding,
            losses={name: values.double().cpu().numpy() for name, values in losses.items()},
            saturated=(self.encoder.head_slopes(trace.raw) == 0).double().mean(dim=(1, 2)).cpu().numpy(),
            deficient=deficient_share(self.encoder, train.inputs),
            truth=None if data.truth is None else data.truth.cpu().numpy(),
            limit=limit_of(data),
        )
        self._tested = []
        self.measurements = measure(evaluated, self.layout, self.seeds)
        self.remarks = gate_remarks(self.measurements)
        self.arrays = arrays_of(evaluated, self.layout)


def joined(batches: list[SeriesBatch]) -> SeriesBatch:
    """Return the batches as one, in their order."""
    inputs, labels, latents = zip(*batches, strict=True)
    known = None if latents[0] is None else torch.cat(latents, dim=1)
    return SeriesBatch(torch.cat(inputs, dim=1), torch.cat(labels, dim=1), known)
