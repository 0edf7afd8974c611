"""DisCo as a LightningModule: wires generator, navigator, encoder, a penalty and the scores."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import torch
from torch import Tensor

from sparseid.measurements import Measurement, units
from sparseid.methods.ddl.image_penalties import (
    dependency_sparsity,
    latent_sparsity,
    random_coordinates,
    value_and_tangents,
)
from sparseid.methods.disco.evaluation import PAIRS, Parts, pictures_of, told_apart
from sparseid.methods.disco.generator_module import GeneratorModule
from sparseid.methods.disco.generators import generator_of
from sparseid.methods.disco.losses import contrastive_loss, entropy_loss, secant_sparsity, variation
from sparseid.methods.disco.metrics import METRICS
from sparseid.methods.disco.networks import Navigator, contrastor
from sparseid.methods.factor_vae.evaluation import arrays_of, measure_scores, scores_of
from sparseid.methods.module import ExperimentModule
from sparseid.streams import FIXED, Streams

if TYPE_CHECKING:
    from sparseid.data.batch import FactorBatch
    from sparseid.data.factor_images import FactorImageData
    from sparseid.methods.disco.settings import DisCoSettings
    from sparseid.settings import RunNumbers

UNITS = units(METRICS)
LOG_EVERY = 50
"""Number of steps between two points of the curves of the loss's terms."""


class Shifts(NamedTuple):
    """Pairs of a step, in the order queries, positives, negatives.

    Attributes
    ----------
    normal
        (pairs, latents) standard normal noise of each pair's image.
    directions
        (pairs,) int64: direction of each shift.
    lengths
        (pairs,) signed lengths of the shifts.
    """

    normal: Tensor
    directions: Tensor
    lengths: Tensor


class Losses(NamedTuple):
    """Terms of a step: contrast, entropy (not weighted) and the weighted penalty."""

    contrast: Tensor
    entropy: Tensor
    penalty: Tensor


class DisCoModule(ExperimentModule):
    """Directions of a frozen generator, and an encoder.

    A step draws its images from the generator; those of the data are for the scores only. Every random number of a step
    is a function of seed and step.

    Parameters
    ----------
    settings
        Sizes, weights, penalty and learning rate.
    data
        Images and their factors.
    seed
        Seed of the draws; the initial weights come from the global generator.
    batch_size
        Queries of a step.
    """

    def __init__(self, settings: DisCoSettings, data: FactorImageData[Any], seed: int, batch_size: int) -> None:
        super().__init__()
        self.settings, self.factor_data, self.streams = settings, data, Streams(seed)
        self.sizes = [batch_size, settings.positives, settings.negatives]
        self.generator = generator_of(settings.generator, data)
        self.navigator = Navigator(settings.generator.latents, settings.directions)
        images = data.images
        self.encoder = contrastor(images.side, images.channels, settings.widths, settings.hidden, settings.dims)

    @classmethod
    def from_settings(
        cls, settings: DisCoSettings, data: FactorImageData[Any], run: RunNumbers
    ) -> DisCoModule | GeneratorModule:
        """Build the module of a run for its data module: DisCo, or the VAE that it starts from."""
        if settings.training == "generator":
            return GeneratorModule(settings, data, run.seed)
        return cls(settings, data, run.seed, run.batch_size)

    @staticmethod
    def starting_weights(folder: Path) -> Path:
        """Return the weights of the generator's run."""
        return folder / "checkpoints" / "last.ckpt"

    def start_from(self, state: dict[str, Tensor]) -> None:
        """Set the generator to the decoder of a VAE's weights."""
        own = "model.decoder."
        decoder = {f"decoder.{name.removeprefix(own)}": value for name, value in state.items() if name.startswith(own)}
        self.generator.load_state_dict(decoder)

    # training

    def configure_optimizers(self) -> torch.optim.Optimizer:
        """Return Adam for navigator and encoder."""
        trained = [*self.navigator.parameters(), *self.encoder.parameters()]
        return torch.optim.Adam(trained, lr=self.settings.lr, fused=True)

    def training_step(self, batch: FactorBatch, batch_idx: int) -> Tensor:
        """Return the weighted sum of the terms."""
        losses = self.losses(self.global_step)
        if (self.global_step + 1) % LOG_EVERY == 0:
            self.log_dict(losses._asdict())
        return losses.contrast + self.settings.entropy * losses.entropy + losses.penalty

    def losses(self, step: int) -> Losses:
        """Return the terms of a step."""
        generator = self.streams.torch("step", step)  # on the CPU, whatever the device
        drawn = self.draw(generator)
        latents = self.generator.place(drawn.normal)
        moved = torch.zeros(len(latents), self.settings.directions, device=latents.device)
        moved = moved.scatter(1, drawn.directions[:, None], drawn.lengths[:, None])
        with torch.no_grad():
            plain = self.generator(latents)
        shifted = self.generator(latents + self.navigator(moved))
        of_plain, of_shifted = self.encoder(torch.cat([plain, shifted])).chunk(2)
        queries, positives, negatives = variation(of_shifted, of_plain).split(self.sizes)
        return Losses(
            contrast=contrastive_loss(queries, positives, negatives, self.settings.flipped_above),
            entropy=entropy_loss(queries),
            penalty=self.penalty(latents, plain, shifted, drawn.lengths, of_plain, generator),
        )

    def draw(self, generator: torch.Generator) -> Shifts:
        """Draw the pairs of a step; queries and positives share a direction, negatives have others."""
        settings = self.settings
        shared, (pairs, others) = sum(self.sizes[:2]), (sum(self.sizes), self.sizes[2])
        normal = torch.randn(pairs, settings.generator.latents, generator=generator)
        target = torch.randint(settings.directions, (1,), generator=generator)
        other = torch.randint(settings.directions - 1, (others,), generator=generator)
        directions = torch.cat([target.expand(shared), other + (other >= target)])
        lengths = self.shift_lengths(torch.randn(pairs, generator=generator))
        return Shifts(*(values.to(self.device) for values in (normal, directions, lengths)))

    def shift_lengths(self, normal: Tensor) -> Tensor:
        """Return signed lengths of shifts, none too short, from standard normal numbers."""
        lengths = self.settings.shift_std * normal
        return torch.where(lengths < 0, -1.0, 1.0) * lengths.abs().clamp(min=self.settings.shift_min)

    def penalty(
        self,
        latents: Tensor,
        plain: Tensor,
        shifted: Tensor,
        lengths: Tensor,
        codes: Tensor,
        generator: torch.Generator,
    ) -> Tensor:
        """Return the weighted penalty, 0 without one.

        Parameters
        ----------
        latents, plain
            (pairs, latents), and their images (pairs, channels, side, side).
        shifted, lengths
            Images after the shifts, and the lengths (pairs,) of these.
        codes
            (pairs, dims) representations of the images before.
        generator
            Source of random directions, on the CPU.
        """
        settings = self.settings
        if settings.penalty == "latent" and settings.alpha:
            return settings.alpha * latent_sparsity(codes)
        if settings.penalty == "dependency" and settings.alpha:
            if settings.estimator == "secant":
                return settings.alpha * secant_sparsity(plain, shifted, lengths, settings.directions)
            chosen = random_coordinates(len(latents), settings.directions, 1, generator).to(latents.device)
            start = latents.new_zeros(len(latents), settings.directions)
            _, tangents = value_and_tangents(
                lambda moved: self.generator(latents + self.navigator(moved)), start, chosen
            )
            return settings.alpha * dependency_sparsity(tangents, settings.directions)
        return latents.new_zeros(())

    # validation

    def validation_step(self, batch: FactorBatch, batch_idx: int) -> None:
        """Log how many directions are told apart, once per validation."""
        if not batch_idx:
            self.log("val_direction_accuracy", self.told_apart().float().mean(), batch_size=1)

    # new samples

    @property
    def input_shape(self) -> tuple[int, ...]:
        """Channels, height and width of an image."""
        return self.factor_data.images.shape

    def transform(self, inputs: Tensor, arrays: Mapping[str, np.ndarray]) -> Tensor:
        """Return the representations (samples, dims) of images with values in [0, 1]."""
        return self.encoder(inputs)

    # evaluation

    @property
    def parts(self) -> Parts:
        """Networks of the run."""
        return Parts(self.generator, self.navigator, self.encoder)

    def told_apart(self) -> Tensor:
        """Return whether each of some shifts, as long as those in training, is assigned to its direction."""
        normal = torch.randn(self.settings.directions, PAIRS, generator=FIXED.torch("disco/lengths"))
        return told_apart(self.parts, self.shift_lengths(normal), self.device)

    @property
    def most_test_items(self) -> int:
        """One image: the scores have their own."""
        return 1

    def test_step(self, batch: FactorBatch, batch_idx: int) -> None:
        """Do nothing; the scores draw their own images."""

    def on_test_epoch_end(self) -> None:
        """Compute the scores; keep pictures and votes for figures."""
        scores, data = self.settings.scores, self.factor_data
        scored = scores_of(self.encoder, data.inputs, data.images.grid, scores)
        right = self.told_apart()
        accuracy = Measurement(
            "direction_accuracy", float(right.float().mean()), UNITS["direction_accuracy"], right.numel()
        )
        self.measurements = [*measure_scores(scored, scores), accuracy]
        pictures = pictures_of(self.parts, self.settings.shift_std, self.device)
        self.arrays = {**arrays_of(scored), **pictures}
