"""The flow as a LightningModule: wires flow, likelihood, a penalty and pictures."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import islice
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import torch
from torch import Tensor
from torch.optim.lr_scheduler import LambdaLR

from sparseid.methods.ddl.image_penalties import (
    finite_differences,
    latent_sparsity,
    value_and_tangents,
)
from sparseid.methods.gin.evaluation import (
    Latents,
    distribution,
    factor_correlations,
    inverse_error,
    log_abs_dets,
    measure,
    traverse,
)
from sparseid.methods.gin.losses import (
    CONSTANT,
    deviations,
    negative_log_likelihood,
    weighted_coordinates,
    weighted_dependency,
)
from sparseid.methods.gin.networks import GINFlow
from sparseid.methods.module import ExperimentModule
from sparseid.streams import FIXED, Streams

if TYPE_CHECKING:
    from sparseid.data.batch import ImageBatch
    from sparseid.data.fashion_mnist.datamodule import FashionMNISTData
    from sparseid.methods.gin.settings import GINSettings
    from sparseid.settings import RunNumbers

LOG_EVERY = 50
"""Number of steps between two points of the curves of the loss's terms."""
FALL = 0.1
"""Factor of the learning rate late in training."""


class Losses(NamedTuple):
    """Negative log likelihood of a step per pixel, and the weighted penalty."""

    likelihood: Tensor
    penalty: Tensor


class GINModule(ExperimentModule["FashionMNISTData"]):
    """A penalised flow.

    Every random number of a step is a function of seed and step.

    Parameters
    ----------
    settings
        Sizes, penalty and learning rate.
    data
        Data module with the size of the images.
    seed
        Seed of noise and coordinates; the initial weights come from the global generator.
    steps
        Optimiser steps of the run.
    """

    def __init__(self, settings: GINSettings, data: FashionMNISTData, seed: int, steps: int) -> None:
        super().__init__()
        self.settings, self.image_data, self.steps = settings, data, steps
        self.streams = Streams(seed)
        sizes = settings.widths, settings.blocks, settings.hidden, settings.last_blocks, settings.clamp
        self.flow = GINFlow(data.side, data.channels, *sizes)

    @classmethod
    def from_settings(cls, settings: GINSettings, data: FashionMNISTData, run: RunNumbers) -> GINModule:
        """Build the module of a run for its data module."""
        return cls(settings, data, run.seed, run.steps)

    # training

    def configure_optimizers(self) -> Any:
        """Return Adam, whose learning rate falls once."""
        adam = torch.optim.Adam(self.parameters(), lr=self.settings.lr, fused=True)
        falls = round(self.settings.lr_falls_at * self.steps)
        schedule = LambdaLR(adam, lambda step: FALL if step >= falls else 1.0)
        return {"optimizer": adam, "lr_scheduler": {"scheduler": schedule, "interval": "step"}}

    def training_step(self, batch: ImageBatch, batch_idx: int) -> Tensor:
        """Return the negative log likelihood and the penalty."""
        losses = self.losses(batch.inputs, batch.labels, self.global_step)
        if (self.global_step + 1) % LOG_EVERY == 0:
            self.log_dict(losses._asdict())
        return losses.likelihood + losses.penalty

    def losses(self, images: Tensor, labels: Tensor, step: int) -> Losses:
        """Return the terms of a step for images (batch, channels, side, side) of classes (batch,)."""
        settings, generator = self.settings, self.streams.torch("step", step)  # on the CPU, whatever the device
        images = self.noisy(images, generator)
        latents = self.flow(images)
        labels = labels if settings.classes > 1 else torch.zeros_like(labels)
        spread = deviations(latents, labels, settings.classes)
        return Losses(negative_log_likelihood(spread, labels), self.penalty(images, latents, generator))

    def noisy(self, images: Tensor, generator: torch.Generator) -> Tensor:
        """Return images with noise of a generator on the CPU; without it, pixels that never vary have no density."""
        return images + self.settings.noise_std * torch.randn(images.shape, generator=generator).to(images.device)

    def penalty(self, images: Tensor, latents: Tensor, generator: torch.Generator) -> Tensor:
        """Return the weighted penalty, 0 without one.

        Parameters
        ----------
        images, latents
            (batch, channels, side, side), and their latents (batch, latents).
        generator
            Source of the coordinates, on the CPU.
        """
        settings = self.settings
        if settings.penalty == "dependency" and settings.alpha:
            raw = settings.units == "raw"
            weights = latents.new_ones(latents.shape[1]) if raw else latents.std(dim=0, correction=0)
            chosen = weighted_coordinates(weights, len(latents), settings.coordinates, generator)
            tangents = self.differentiate(images, latents, chosen)
            return settings.alpha * weighted_dependency(tangents, weights, chosen)
        if settings.penalty == "latent" and settings.alpha:
            return settings.alpha * latent_sparsity(latents)
        return latents.new_zeros(())

    def differentiate(self, images: Tensor, latents: Tensor, coordinates: Tensor) -> Tensor:
        """Return derivatives (batch, s, channels, side, side) of the inverse flow along coordinates (batch, s).

        Differences need one inverse, as the image of the latents themselves is known.
        """
        if self.settings.estimator == "jvp":
            return value_and_tangents(self.flow.inverse, latents, coordinates)[1]
        return finite_differences(self.flow.inverse, latents, images, coordinates)

    # validation

    def validation_step(self, batch: ImageBatch, batch_idx: int) -> None:
        """Log the negative log likelihood, as of one class."""
        labels, noise = torch.zeros_like(batch.labels), FIXED.torch("gin/validation", batch_idx)
        spread = deviations(self.flow(self.noisy(batch.inputs, noise)), labels, 1)
        loss = negative_log_likelihood(spread, labels)
        self.log("val_flow_nll", loss, batch_size=len(batch.inputs))

    # new samples

    @property
    def input_shape(self) -> tuple[int, ...]:
        """Channels, height and width of an image."""
        data = self.image_data
        return (data.channels, data.side, data.side)

    def transform(self, inputs: Tensor, arrays: Mapping[str, np.ndarray]) -> Tensor:
        """Return the latents (samples, latents) of images with values in [0, 1], to which no noise is added."""
        return self.flow(inputs)

    # evaluation

    def on_test_start(self) -> None:
        """Discard the results of the last test, and measure the latents of training images."""
        super().on_test_start()
        train, fitted = self.image_data.train, self.settings.fitted_images
        batches, noise = self.image_data.first(train, min(fitted, len(train.images))), FIXED.torch("gin/fitted")
        images = (self.noisy(batch.inputs.to(self.device), noise) for batch in batches)
        self._latents: Latents = distribution(self.flow, images)
        self._losses: list[Tensor] = []
        self._codes: list[Tensor] = []
        self._errors: list[Tensor] = []
        self._first = torch.empty(0)

    def test_step(self, batch: ImageBatch, batch_idx: int) -> None:
        """Collect the loss of each image and the largest error of the inverse."""
        mean, deviation = self._latents
        images = self.noisy(batch.inputs, FIXED.torch("gin/test", batch_idx))
        if not batch_idx:
            self._first = images[: self.settings.volume_images]
        latents = self.flow(images)
        squares = ((latents - mean) / deviation).square()
        self._codes.append(latents)
        self._losses.append((CONSTANT + deviation.log() + 0.5 * (squares - 1)).mean(dim=1))
        self._errors.append(inverse_error(self.flow, images))

    def on_test_epoch_end(self) -> None:
        """Compute the measurements; keep traversals for figures."""
        traversals = traverse(self.flow, self._latents, self.settings.traversed)
        log_dets = log_abs_dets(self.flow, self._first)
        test, codes = self.image_data.test, torch.cat(self._codes).cpu().numpy()
        known = {name: values[: len(codes)] for name, values in test.factors.items()}
        correlations = factor_correlations(codes[:, traversals.latents], known)
        error = float(torch.stack(self._errors).max())
        self.measurements = measure(torch.cat(self._losses), error, log_dets, traversals, correlations)
        examples = islice(self.image_data.first(test, len(traversals.latents)), 1)
        self.arrays = {
            "flow_examples": next(examples).inputs[:, 0].numpy(),
            "flow_spectrum": self._latents.deviation.sort(descending=True).values.cpu().numpy(),
            **{f"flow_{name}": values for name, values in traversals._asdict().items()},
        }
