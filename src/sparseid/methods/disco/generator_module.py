"""The VAE whose decoder DisCo starts from, as a LightningModule."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch import Tensor

from sparseid.measurements import Measurement
from sparseid.methods.disco.generators import vae_of
from sparseid.methods.factor_vae.evaluation import SHOWN, UNITS, pixels_of
from sparseid.methods.factor_vae.losses import bernoulli_error, divergence
from sparseid.methods.factor_vae.module import sampled
from sparseid.methods.module import ExperimentModule
from sparseid.streams import Streams

if TYPE_CHECKING:
    from sparseid.data.batch import FactorBatch
    from sparseid.data.factor_images import FactorImageData
    from sparseid.methods.disco.settings import DisCoSettings

LOG_EVERY = 50
"""Number of steps between two points of the curves of the loss's terms."""


class GeneratorModule(ExperimentModule):
    """A VAE of images.

    Parameters
    ----------
    settings
        Sizes, weight and learning rate of the generator.
    data
        Images and their factors.
    seed
        Seed of the noise; the initial weights come from the global generator.
    """

    def __init__(self, settings: DisCoSettings, data: FactorImageData[Any], seed: int) -> None:
        super().__init__()
        self.settings, self.factor_data, self.streams = settings, data, Streams(seed)
        self.model = vae_of(settings.generator, data)

    def configure_optimizers(self) -> torch.optim.Optimizer:
        """Return Adam."""
        return torch.optim.Adam(self.parameters(), lr=self.settings.generator.lr, fused=True)

    def training_step(self, batch: FactorBatch, batch_idx: int) -> Tensor:
        """Return the negative bound."""
        posterior = self.model.encode(batch.inputs)
        latents = sampled(posterior, self.streams.torch("generator step", self.global_step))
        reconstruction = bernoulli_error(self.model.decoder(latents), batch.inputs).mean()
        prior = divergence(*posterior)
        if (self.global_step + 1) % LOG_EVERY == 0:
            self.log_dict({"reconstruction": reconstruction, "divergence": prior})
        return reconstruction + self.settings.generator.beta * prior

    def validation_step(self, batch: FactorBatch, batch_idx: int) -> None:
        """Log the cross-entropy of the reconstruction at the posterior means."""
        self.log("val_image_error", self.image_errors(batch.inputs).mean(), batch_size=len(batch.inputs))

    def image_errors(self, images: Tensor) -> Tensor:
        """Return the cross-entropy (batch,) of each image and its reconstruction at the posterior mean."""
        return bernoulli_error(self.model.decoder(self.model.encode(images).mean), images)

    @property
    def input_shape(self) -> tuple[int, ...]:
        """Channels, height and width of an image."""
        return self.factor_data.images.shape

    def transform(self, inputs: Tensor, arrays: Mapping[str, np.ndarray]) -> Tensor:
        """Return the codes (samples, latents) of images with values in [0, 1]: the posterior means."""
        return self.model.encode(inputs).mean

    @property
    def most_test_items(self) -> int:
        """Number of images of the reconstruction error."""
        return self.settings.scores.test_images

    def on_test_start(self) -> None:
        """Discard the results of the last test."""
        super().on_test_start()
        self._errors: list[Tensor] = []

    def test_step(self, batch: FactorBatch, batch_idx: int) -> None:
        """Collect the cross-entropy of each image; keep some images and their reconstructions."""
        self._errors.append(self.image_errors(batch.inputs))
        if not batch_idx:
            images = batch.inputs[:SHOWN]
            decoded = self.model.decoder(self.model.encode(images).mean).sigmoid()
            self.arrays = {"examples": pixels_of(images), "reconstructions": pixels_of(decoded)}

    def on_test_epoch_end(self) -> None:
        """Average the errors."""
        errors = torch.cat(self._errors)
        self.measurements = [Measurement("image_error", float(errors.mean()), UNITS["image_error"], len(errors))]
