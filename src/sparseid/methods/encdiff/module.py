"""EncDiff as a LightningModule: wires image encoder, tokens, denoiser, a penalty and the scores."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import torch
from torch import Tensor
from torch.optim.lr_scheduler import LambdaLR

from sparseid.measurements import Measurement
from sparseid.methods.ddl.image_penalties import (
    dependency_sparsity,
    finite_differences,
    latent_sparsity,
    random_coordinates,
    value_and_tangents,
)
from sparseid.methods.encdiff.evaluation import UNITS, accuracy_of, measure_swaps, swap_units
from sparseid.methods.encdiff.losses import scales
from sparseid.methods.encdiff.networks import (
    UnitTokens,
    autoencoder,
    denoiser,
    image_encoder,
    moving_average,
    schedule,
    without_fused_attention,
)
from sparseid.methods.encdiff.reader import trained_reader
from sparseid.methods.factor_vae.evaluation import arrays_of, measure_scores, scores_of
from sparseid.methods.module import ExperimentModule
from sparseid.streams import FIXED, Streams

if TYPE_CHECKING:
    from sparseid.data.batch import FactorBatch
    from sparseid.data.factor_images import FactorImageData
    from sparseid.methods.encdiff.settings import EncDiffSettings

LOG_EVERY = 50
"""Number of steps between two points of the curves of the loss's terms."""
AT_ONCE = 128
"""Number of codes that are decoded at a time."""


class Diffused(NamedTuple):
    """Latents to which noise was added.

    Attributes
    ----------
    noise, noisy
        (batch, channels, height, width) the noise, and the latents with it.
    times
        (batch,) int64 steps of diffusion.
    """

    noise: Tensor
    noisy: Tensor
    times: Tensor


class EncDiffModule(ExperimentModule):
    """A penalised EncDiff on the latents of a frozen autoencoder, with which it starts (`start_from`).

    Parameters
    ----------
    settings
        Sizes, penalty, diffusion and learning rates.
    data
        Images and their factors.
    seed
        Seed of the noise; the initial weights come from the global generator.

    Attributes
    ----------
    latent_scale
        Factor that brings the latents of the autoencoder to a standard deviation of 1.
    averaged
        The denoiser with the moving average of its weights, which decodes.
    """

    latent_scale: Tensor

    def __init__(self, settings: EncDiffSettings, data: FactorImageData[Any], seed: int) -> None:
        super().__init__()
        self.settings, self.factor_data = settings, data
        self.streams = Streams(seed)
        channels, side = data.images.channels, data.images.side
        self.autoencoder = autoencoder(channels, settings.autoencoder).requires_grad_(False)
        self.encoder = image_encoder(channels, side, settings)
        self.tokens = UnitTokens(settings.units, settings.token_hidden, settings.token_size)
        side //= 2 ** (len(settings.autoencoder.multipliers) - 1)
        self.latent_shape = (settings.autoencoder.channels, side, side)
        self.denoiser = denoiser(settings.autoencoder.channels, side, settings.token_size, settings.denoiser)
        if settings.penalty == "dependency" and settings.estimator == "jvp":
            without_fused_attention(self.denoiser)
        self.averaged = moving_average(self.denoiser, settings.denoiser.decay)
        self.register_buffer("latent_scale", torch.ones(()))
        self.schedule = schedule(settings.denoiser)

    def starting_weights(self, folder: Path) -> Path:
        """Return the file of the autoencoder's weights in the folder of its run."""
        return folder / "checkpoints" / "last.ckpt"

    def start_from(self, weights: dict[str, Any]) -> None:
        """Load the autoencoder from the ``state_dict`` of its run and set the scale of its latents."""
        prefix = "autoencoder."
        own = {name.removeprefix(prefix): weight for name, weight in weights.items() if name.startswith(prefix)}
        self.autoencoder.load_state_dict(own)
        batch = self.factor_data.training_batch(0, "latent scale").inputs
        self.latent_scale = 1 / self.latents_of(batch).std()

    # training

    def configure_optimizers(self) -> Any:
        """Return AdamW for encoder, tokens and denoiser, with a linear warm-up."""
        settings = self.settings
        trained = [parameter for parameter in self.parameters() if parameter.requires_grad]
        adam = torch.optim.AdamW(trained, lr=settings.lr, fused=True)
        warmup = max(settings.warmup_steps, 1)
        warming = LambdaLR(adam, lambda step: min(1.0, (step + 1) / warmup))
        return {"optimizer": adam, "lr_scheduler": {"scheduler": warming, "interval": "step"}}

    def training_step(self, batch: FactorBatch, batch_idx: int) -> Tensor:
        """Return the loss: the error of the predicted noise, and the penalty."""
        step = self.global_step
        error, penalty = self.losses(batch.inputs, self.streams.torch("step", step, self.global_rank))
        if (step + 1) % LOG_EVERY == 0:
            self.log_dict({"denoising_error": error, "penalty": penalty})
        return error + penalty

    def losses(self, images: Tensor, generator: torch.Generator) -> tuple[Tensor, Tensor]:
        """Return the mean absolute error of the predicted noise and the weighted penalty, 0 without one.

        Parameters
        ----------
        images
            (batch, channels, height, width) in [0, 1].
        generator
            Source of noise, steps of diffusion and coordinates, on the CPU, whatever the device.
        """
        settings = self.settings
        diffused = self.diffuse(self.latents_of(images), generator)
        codes = self.encode(images)
        kind = settings.penalty if settings.alpha else "none"
        if kind == "dependency":
            chosen = random_coordinates(len(codes), settings.units, settings.coordinates, generator).to(codes.device)
            predicted, tangents = self.predict_and_differentiate(codes, diffused, chosen)
            if settings.unit_scale == "sd":
                tangents = tangents * scales(codes)[chosen][..., None, None, None]
            penalty = settings.alpha * dependency_sparsity(tangents, settings.units, settings.reduction)
        else:
            predicted = self.predict(codes, diffused)
            penalty = settings.alpha * latent_sparsity(codes) if kind == "latent" else predicted.new_zeros(())
        return (predicted - diffused.noise).abs().mean(), penalty

    @torch.no_grad()
    def latents_of(self, images: Tensor) -> Tensor:
        """Return the latents (batch, channels, height, width) of images in [0, 1], before quantisation."""
        return self.latent_scale * self.autoencoder.encode(2 * images - 1).latents

    def diffuse(self, latents: Tensor, generator: torch.Generator) -> Diffused:
        """Add noise of uniform steps to latents (batch, channels, height, width)."""
        times = torch.randint(self.settings.denoiser.steps, (len(latents),), generator=generator).to(latents.device)
        noise = torch.randn(latents.shape, generator=generator).to(latents.device)
        return Diffused(noise, self.schedule.add_noise(latents, noise, times), times)

    def predict(self, codes: Tensor, diffused: Diffused) -> Tensor:
        """Return the noise that the denoiser predicts, for one code of each noisy latents or for several in a row."""
        each = len(codes) // len(diffused.noisy)
        noisy, times = (part.repeat_interleave(each, dim=0) if each > 1 else part for part in diffused[1:])
        return self.denoiser(noisy, times, self.tokens(codes)).sample

    def predict_and_differentiate(
        self, codes: Tensor, diffused: Diffused, coordinates: Tensor
    ) -> tuple[Tensor, Tensor]:
        """Return the predicted noise, and derivatives (batch, s, channels, height, width) of the target by units."""

        def predict(moved: Tensor) -> Tensor:
            return self.predict(moved, diffused)

        if self.settings.estimator == "jvp":
            predicted, tangents = value_and_tangents(predict, codes, coordinates)
        else:
            predicted = predict(codes)
            tangents = finite_differences(predict, codes, predicted, coordinates)
        if self.settings.target == "latents":  # (noisy - sqrt(1 - retained) noise) / sqrt(retained)
            retained = self.schedule.alphas_cumprod.to(codes.device)[diffused.times]
            tangents = tangents * ((1 - retained) / retained).sqrt()[:, None, None, None, None]
        return predicted, tangents

    def on_train_batch_end(self, *_: Any) -> None:
        """Update the moving average of the denoiser's weights."""
        self.averaged.update_parameters(self.denoiser)

    # validation

    def validation_step(self, batch: FactorBatch, batch_idx: int) -> None:
        """Log the error of the predicted noise."""
        self.log("val_denoising_error", self.error(batch, "validation", batch_idx), batch_size=len(batch.inputs))

    @torch.no_grad()
    def error(self, batch: FactorBatch, name: str, number: int) -> Tensor:
        """Return the mean absolute error of the averaged denoiser on a batch, with the same noise for all runs."""
        diffused = self.diffuse(self.latents_of(batch.inputs), FIXED.torch(f"encdiff/{name}", number))
        predicted = self.averaged(diffused.noisy, diffused.times, self.tokens(self.encode(batch.inputs))).sample
        return (predicted - diffused.noise).abs().mean()

    # new samples

    @property
    def input_shape(self) -> tuple[int, ...]:
        """Channels, height and width of an image."""
        return self.factor_data.images.shape

    def transform(self, inputs: Tensor, arrays: Mapping[str, np.ndarray]) -> Tensor:
        """Return the code (samples, units), a number per concept, of images with values in [0, 1]."""
        return self.encode(inputs)

    # evaluation

    def encode(self, images: Tensor) -> Tensor:
        """Return the code (batch, units) of images (batch, channels, height, width) in [0, 1]."""
        return self.encoder(2 * images - 1)

    @torch.no_grad()
    def decode(self, codes: Tensor) -> Tensor:
        """Return the images (..., images, channels, height, width) in [0, 1] of codes (..., images, units), by DDIM.

        Image i starts from noise i, which is the same for all codes and all runs.
        """
        noise = torch.randn(codes.shape[-2], *self.latent_shape, generator=FIXED.torch("encdiff/start"))
        noise = noise.to(codes.device).expand(*codes.shape[:-1], *self.latent_shape)
        parts = zip(codes.flatten(0, -2).split(AT_ONCE), noise.flatten(0, -4).split(AT_ONCE), strict=True)
        return torch.cat([self._denoised(*part) for part in parts]).unflatten(0, codes.shape[:-1])

    def _denoised(self, codes: Tensor, latents: Tensor) -> Tensor:
        """Return the images (batch, channels, height, width) to which noise (batch, ...) is turned."""
        tokens = self.tokens(codes)
        self.schedule.set_timesteps(self.settings.swaps.steps)
        for time in self.schedule.timesteps:
            predicted = self.averaged(latents, time.to(codes.device), tokens).sample
            latents = self.schedule.step(predicted, time, latents).prev_sample
        decoded = self.autoencoder.decode(latents / self.latent_scale).sample
        return (0.5 * (decoded + 1)).clamp(0, 1)

    @property
    def most_test_items(self) -> int:
        """Number of images of the error of the noise; scores and swaps have their own."""
        return self.settings.scores.test_images

    def on_test_start(self) -> None:
        """Discard the results of the last test."""
        super().on_test_start()
        self._errors: list[tuple[Tensor, int]] = []

    def test_step(self, batch: FactorBatch, batch_idx: int) -> None:
        """Collect the error of the predicted noise."""
        self._errors.append((self.error(batch, "test", batch_idx), len(batch.inputs)))

    def on_test_epoch_end(self) -> None:
        """Compute scores, swaps and traversals; keep pictures and votes for figures."""
        settings, inputs, grid = self.settings, self.factor_data.inputs, self.factor_data.images.grid
        scored = scores_of(self.encode, inputs, grid, settings.scores)
        reader = trained_reader(inputs, grid, settings.swaps)
        found = swap_units(self.encode, self.decode, reader, inputs, grid, settings.swaps)
        chosen = scored.dci.importance.argmax(axis=0)
        images = sum(count for _, count in self._errors)
        error = sum(float(error) * count for error, count in self._errors) / images
        self.measurements = [
            *measure_scores(scored, settings.scores),
            Measurement("denoising_error", error, UNITS["denoising_error"], images),
            *measure_swaps(found, chosen, accuracy_of(reader, inputs, grid), grid),
        ]
        self.arrays = arrays_of(scored) | found.pictures | {"chosen": chosen, "factor_names": np.array(grid.names)}
