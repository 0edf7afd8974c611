"""The autoencoder of EncDiff as a LightningModule: a run of its own, from which those of the diffusion model start."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import torch
from torch import Tensor
from torch.func import functional_call

from sparseid.measurements import Measurement, units
from sparseid.methods.encdiff.losses import adaptive_weight, critics_loss
from sparseid.methods.encdiff.metrics import METRICS
from sparseid.methods.encdiff.networks import autoencoder, patch_discriminator
from sparseid.methods.factor_vae.evaluation import pixels_of
from sparseid.methods.module import ExperimentModule

if TYPE_CHECKING:
    from sparseid.data.batch import FactorBatch
    from sparseid.data.factor_images import FactorImageData
    from sparseid.methods.encdiff.settings import EncDiffSettings

SHOWN = 8
"""Number of test images that are saved with their reconstructions."""
UNITS = units(METRICS)


class Reconstruction(NamedTuple):
    """Images (batch, channels, height, width) in [-1, 1], the codebook's loss, and the codes (positions,) int64."""

    images: Tensor
    codebook: Tensor
    codes: Tensor


class AutoencoderModule(ExperimentModule):
    """The vector-quantised autoencoder, trained on the pixels' absolute error, with a discriminator if there is one.

    Parameters
    ----------
    settings
        Those of the method, of which only `autoencoder` and the number of validation and test images count.
    data
        Images.
    seed
        Not used: batches come from the data, the initial weights from the global generator.
    """

    def __init__(self, settings: EncDiffSettings, data: FactorImageData[Any], seed: int) -> None:
        super().__init__()
        self.automatic_optimization = False
        self.settings, self.factor_data = settings, data
        channels = data.images.channels
        self.autoencoder = autoencoder(channels, settings.autoencoder)
        self.discriminator = None
        if settings.autoencoder.adversarial:
            self.discriminator = patch_discriminator(channels, settings.autoencoder.discriminator_width)

    # training

    def configure_optimizers(self) -> Any:
        """Return Adam for the autoencoder, and for the discriminator if there is one."""
        networks = [network for network in (self.autoencoder, self.discriminator) if network is not None]
        lr = self.settings.autoencoder.learning_rate
        return [torch.optim.Adam(network.parameters(), lr=lr, betas=(0.5, 0.9), fused=True) for network in networks]

    def training_step(self, batch: FactorBatch, batch_idx: int) -> Tensor:
        """Update both networks; return the loss of the autoencoder."""
        made: Any = self.optimizers()
        first, *others = made if isinstance(made, list) else [made]
        loss, critics = self.losses(2 * batch.inputs - 1)
        for optimiser in (first, *others):
            optimiser.zero_grad()
        self.manual_backward(loss + critics)  # neither gives the other network a gradient
        first.step()
        for optimiser in others:
            optimiser.optimizer.step()  # Lightning would count it as another step of the run
        return loss.detach()

    def losses(self, images: Tensor) -> tuple[Tensor, Tensor]:
        """Return the losses of autoencoder and discriminator for images (batch, channels, height, width) in [-1, 1]."""
        made = self.reconstruct(images)
        pixels = (made.images - images).abs().mean()
        if self.discriminator is None:
            return pixels + made.codebook, pixels.new_zeros(())
        frozen = {name: parameter.detach() for name, parameter in self.discriminator.named_parameters()}
        adversarial = -functional_call(self.discriminator, frozen, (made.images,)).mean()
        weight = adaptive_weight(pixels, adversarial, self.autoencoder.decoder.conv_out.weight)
        weight = self.settings.autoencoder.adversarial * weight
        critics = critics_loss(self.discriminator(images), self.discriminator(made.images.detach()))
        return pixels + made.codebook + weight * adversarial, critics

    def reconstruct(self, images: Tensor) -> Reconstruction:
        """Encode images (batch, channels, height, width) in [-1, 1], quantise and decode."""
        network = self.autoencoder
        quantised, codebook, (_, _, codes) = network.quantize(network.encode(images).latents)
        return Reconstruction(network.decoder(network.post_quant_conv(quantised)), codebook, codes)

    # validation and evaluation

    def validation_step(self, batch: FactorBatch, batch_idx: int) -> None:
        """Log the error of the reconstruction."""
        self.log("val_autoencoder_error", self.errors(batch.inputs)[0].mean(), batch_size=len(batch.inputs))

    def errors(self, images: Tensor) -> tuple[Tensor, Reconstruction]:
        """Return the mean absolute difference (batch,) of images in [0, 1] from their reconstructions, and these."""
        made = self.reconstruct(2 * images - 1)
        return (0.5 * (made.images + 1) - images).abs().flatten(1).mean(dim=1), made

    @property
    def input_shape(self) -> tuple[int, ...]:
        """Channels, height and width of an image."""
        return self.factor_data.images.shape

    def transform(self, inputs: Tensor, arrays: Mapping[str, np.ndarray]) -> Tensor:
        """Return the latents (samples, channels, height, width) of images in [0, 1], before quantisation."""
        return self.autoencoder.encode(2 * inputs - 1).latents

    @property
    def most_test_items(self) -> int:
        """Number of images that are reconstructed."""
        return self.settings.scores.test_images

    def on_test_start(self) -> None:
        """Discard the results of the last test."""
        super().on_test_start()
        self._errors: list[Tensor] = []
        self._used = torch.zeros(self.settings.autoencoder.codes, dtype=torch.bool, device=self.device)

    def test_step(self, batch: FactorBatch, batch_idx: int) -> None:
        """Collect the errors and the codes that are used; keep the first images."""
        errors, made = self.errors(batch.inputs)
        self._errors.append(errors)
        self._used[made.codes] = True
        if not self.arrays:
            shown = {"examples": batch.inputs, "reconstructions": 0.5 * (made.images + 1)}
            self.arrays = {name: pixels_of(images[:SHOWN]) for name, images in shown.items()}

    def on_test_epoch_end(self) -> None:
        """Measure the error and the use of the codebook."""
        errors = torch.cat(self._errors)
        values = {"autoencoder_error": float(errors.mean()), "codes_used": int(self._used.sum())}
        self.measurements = [Measurement(name, value, UNITS[name], len(errors)) for name, value in values.items()]
