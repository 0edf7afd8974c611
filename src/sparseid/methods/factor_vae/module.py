"""FactorVAE as a LightningModule: wires autoencoder, discriminator, a penalty and the scores."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import torch
from torch import Tensor
from torch.func import functional_call

from sparseid.methods.ddl.image_penalties import (
    dependency_sparsity,
    finite_differences,
    hessian_penalty,
    latent_sparsity,
    orojar,
    random_coordinates,
    value_and_tangents,
)
from sparseid.methods.ddl.penalties import DIRECTIONS
from sparseid.methods.factor_vae.evaluation import arrays_of, measure, pictures_of, scores_of
from sparseid.methods.factor_vae.losses import (
    bernoulli_error,
    discriminator_loss,
    divergence,
    permute_latents,
    total_correlation,
)
from sparseid.methods.factor_vae.networks import ImageVAE, Posterior, discriminator
from sparseid.methods.module import ExperimentModule
from sparseid.stacking.noise import random_signs
from sparseid.streams import Streams

if TYPE_CHECKING:
    from sparseid.data.batch import FactorBatch
    from sparseid.data.factor_images import FactorImageData
    from sparseid.methods.factor_vae.settings import FactorVAESettings
    from sparseid.settings import RunNumbers

LOG_EVERY = 50
"""Number of steps between two points of the curves of the loss's terms."""
SECOND_DIFFERENCES = {"orojar": orojar, "hessian_penalty": hessian_penalty}
"""Penalties from finite differences along random signs."""


class Losses(NamedTuple):
    """Terms of a step, averaged over the batch.

    Attributes
    ----------
    reconstruction, divergence, total_correlation
        Terms of the autoencoder's loss, not weighted.
    penalty
        The weighted penalty.
    discriminator
        Loss of the discriminator.
    """

    reconstruction: Tensor
    divergence: Tensor
    total_correlation: Tensor
    penalty: Tensor
    discriminator: Tensor


class FactorVAEModule(ExperimentModule):
    """A penalised FactorVAE.

    Autoencoder and discriminator have optimisers of their own and are updated by the same batch, as in
    disentanglement_lib. Every random number of a step is a function of seed, step and process.

    Parameters
    ----------
    settings
        Sizes, weights, penalty and learning rates.
    data
        Images and their factors.
    seed
        Seed of the noise; the initial weights come from the global generator.
    """

    def __init__(self, settings: FactorVAESettings, data: FactorImageData[Any], seed: int) -> None:
        super().__init__()
        self.automatic_optimization = False
        self.settings, self.factor_data = settings, data
        self.streams = Streams(seed)
        sizes = (
            data.images.side,
            data.images.channels,
            settings.latents,
            settings.widths,
            settings.kernels,
            settings.hidden,
        )
        self.model = ImageVAE(*sizes)
        self.discriminator = discriminator(
            settings.latents, settings.discriminator_hidden, settings.discriminator_layers
        )

    @classmethod
    def from_settings(cls, settings: FactorVAESettings, data: FactorImageData[Any], run: RunNumbers) -> FactorVAEModule:
        """Build the module of a run for its data module."""
        return cls(settings, data, run.seed)

    # training

    def configure_optimizers(self) -> Any:
        """Return Adam for the autoencoder and Adam for the discriminator."""
        settings = self.settings
        return (
            torch.optim.Adam(self.model.parameters(), lr=settings.lr, fused=True),
            torch.optim.Adam(
                self.discriminator.parameters(), lr=settings.discriminator_lr, betas=(0.5, 0.9), fused=True
            ),
        )

    def training_step(self, batch: FactorBatch, batch_idx: int) -> Tensor:
        """Update both networks; return the loss of the autoencoder."""
        step = self.global_step
        optimisers: Any = self.optimizers()
        losses = self.losses(batch.inputs, step)
        loss = self.autoencoder_loss(losses)
        for optimiser in optimisers:
            optimiser.zero_grad()
        self.manual_backward(loss + losses.discriminator)  # neither gives the other network a gradient
        optimisers[0].step()
        optimisers[1].optimizer.step()  # Lightning would count it as another step of the run
        if (step + 1) % LOG_EVERY == 0:
            self.log_dict(losses._asdict())
        return loss.detach()

    def autoencoder_loss(self, losses: Losses) -> Tensor:
        """Return the loss of the autoencoder: the negative bound, the total correlation and the penalty."""
        bound = losses.reconstruction + losses.divergence
        return bound + self.settings.gamma * losses.total_correlation + losses.penalty

    def losses(self, images: Tensor, step: int) -> Losses:
        """Return the terms of a step for images (batch, channels, height, width) in [0, 1].

        The discriminator's parameters are constants in the total correlation, the latents in the discriminator's loss.
        """
        generator = self.streams.torch("step", step, self.global_rank)  # on the CPU, whatever the device
        posterior = self.model.encode(images)
        latents = sampled(posterior, generator)
        permuted = self.permuted(latents.detach(), step, generator)
        logits, penalty = self.decode_and_penalise(latents, posterior.mean, generator)
        frozen = {name: parameter.detach() for name, parameter in self.discriminator.named_parameters()}
        return Losses(
            reconstruction=bernoulli_error(logits, images).mean(),
            divergence=divergence(*posterior),
            total_correlation=total_correlation(functional_call(self.discriminator, frozen, (latents,))),
            penalty=penalty,
            discriminator=discriminator_loss(self.discriminator(latents.detach()), self.discriminator(permuted)),
        )

    @torch.no_grad()
    def permuted(self, latents: Tensor, step: int, generator: torch.Generator) -> Tensor:
        """Return permuted latents (batch, latents) of a second, independent batch, or of the same one."""
        if self.settings.permuted_batch == "independent":
            latents = sampled(
                self.model.encode(self.factor_data.training_batch(step, "second batch").inputs), generator
            )
        order = torch.rand(latents.shape, generator=generator).argsort(dim=0)
        return permute_latents(latents, order.to(latents.device))

    def decode_and_penalise(self, latents: Tensor, codes: Tensor, generator: torch.Generator) -> tuple[Tensor, Tensor]:
        """Return logits (batch, channels, height, width) and the weighted penalty, 0 without one.

        Parameters
        ----------
        latents, codes
            (batch, latents) sampled latents and posterior means.
        generator
            Source of the random signs or coordinates, on the CPU.
        """
        settings, device = self.settings, latents.device
        kind = settings.penalty if settings.alpha else "none"
        if kind == "dependency":
            chosen = random_coordinates(len(latents), latents.shape[1], settings.coordinates, generator).to(device)
            logits, tangents = self.decode_and_differentiate(latents, chosen)
            return logits, settings.alpha * dependency_sparsity(tangents, latents.shape[1], settings.reduction)
        logits = self.model.decoder(latents)
        if kind == "latent":
            return logits, settings.alpha * latent_sparsity(codes)
        if penalty := SECOND_DIFFERENCES.get(kind):
            signs = random_signs((len(latents), DIRECTIONS, latents.shape[1]), generator).to(device)
            return logits, settings.alpha * penalty(self.penalised, latents, self.target(logits), signs)
        return logits, logits.new_zeros(())

    def decode_and_differentiate(self, latents: Tensor, coordinates: Tensor) -> tuple[Tensor, Tensor]:
        """Return logits, and derivatives (batch, s, channels, height, width) of the target along coordinates."""
        if self.settings.estimator == "finite_difference":
            logits = self.model.decoder(latents)
            return logits, finite_differences(self.penalised, latents, self.target(logits), coordinates)
        logits, tangents = value_and_tangents(self.model.decoder, latents, coordinates)
        if self.settings.target == "image":
            image = logits.sigmoid()
            tangents = (image * (1 - image))[:, None] * tangents  # the chain rule
        return logits, tangents

    def penalised(self, latents: Tensor) -> Tensor:
        """Decode latents to the outputs that are penalised."""
        return self.target(self.model.decoder(latents))

    def target(self, logits: Tensor) -> Tensor:
        """Return the penalised outputs of logits: these, or the image's probabilities."""
        return logits.sigmoid() if self.settings.target == "image" else logits

    # validation

    def validation_step(self, batch: FactorBatch, batch_idx: int) -> None:
        """Log the cross-entropy of the reconstruction at the posterior means."""
        self.log("val_image_error", self.image_errors(batch.inputs).mean(), batch_size=len(batch.inputs))

    def image_errors(self, images: Tensor) -> Tensor:
        """Return the cross-entropy (batch,) of each image and its reconstruction at the posterior mean."""
        return bernoulli_error(self.model.decoder(self.encode(images)), images)

    # evaluation

    def encode(self, images: Tensor) -> Tensor:
        """Return the code (batch, latents) of images: the posterior means."""
        return self.model.encode(images).mean

    @property
    def input_shape(self) -> tuple[int, ...]:
        """Channels, height and width of an image."""
        return self.factor_data.images.shape

    def transform(self, inputs: Tensor, arrays: Mapping[str, np.ndarray]) -> Tensor:
        """Return the codes (samples, latents) of images with values in [0, 1]: the posterior means."""
        return self.encode(inputs)

    def decode(self, codes: Tensor) -> Tensor:
        """Return the images (batch, channels, height, width) in [0, 1] of codes (batch, latents)."""
        return self.model.decoder(codes).sigmoid()

    @property
    def most_test_items(self) -> int:
        """Number of images of the reconstruction error; the scores have their own."""
        return self.settings.scores.test_images

    def on_test_start(self) -> None:
        """Discard the results of the last test."""
        super().on_test_start()
        self._errors: list[Tensor] = []

    def test_step(self, batch: FactorBatch, batch_idx: int) -> None:
        """Collect the cross-entropy of each image."""
        self._errors.append(self.image_errors(batch.inputs))

    def on_test_epoch_end(self) -> None:
        """Compute the scores; keep pictures and votes for figures."""
        inputs, grid = self.factor_data.inputs, self.factor_data.images.grid
        scored = scores_of(self.encode, inputs, grid, self.settings.scores)
        self.measurements = measure(scored, self.settings.scores, torch.cat(self._errors).cpu().numpy())
        self.arrays = arrays_of(scored) | pictures_of(self.encode, self.decode, inputs, grid)


def sampled(posterior: Posterior, generator: torch.Generator) -> Tensor:
    """Draw latents (batch, latents) from a posterior, with noise of a generator on the CPU."""
    noise = torch.randn(posterior.mean.shape, generator=generator).to(posterior.mean.device)
    return posterior.mean + noise * (0.5 * posterior.log_variance).exp()
