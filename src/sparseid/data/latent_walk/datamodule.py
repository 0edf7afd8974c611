"""Data module of the latent walk: one walk and one mixing per member of the stack."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import torch
from numpy.typing import NDArray

from sparseid.data.contrastive import ContrastiveData, Series
from sparseid.data.latent_walk.generator import draw_latents, draw_mixing

if TYPE_CHECKING:
    from sparseid.data.latent_walk.settings import LatentWalkSettings


class LatentWalkData(ContrastiveData):
    """Batches of latent walks for a stack of members, each with its own latents and mixing.

    Labels are the observed factor: z2 in setting a, z1 in setting b.

    Parameters
    ----------
    config
        Settings of the walk and the mixing.
    seeds
        One per member.
    batch_size
        Number of references of a member in a batch.
    """

    truth: torch.Tensor

    def __init__(self, config: LatentWalkSettings, seeds: Sequence[int], batch_size: int) -> None:
        split = config.samples, config.held_out, config.attribution_samples
        super().__init__(seeds, batch_size, *split, config.sampling)
        self.config, self.latents, self.features = config, config.latents, config.dim_x1 + config.dim_x2
        self.latent_rows = config.factors
        self.label_rows = self.latent_rows.z1 if config.setting == "b" else self.latent_rows.z2
        self.label_dim = self.label_rows.stop - self.label_rows.start
        self.mixings = [draw_mixing(config, seed) for seed in self.seeds]
        self.truth = torch.from_numpy(np.stack([mixing.truth for mixing in self.mixings]))

    def make(self) -> Series:
        """Draw the walk of every member and mix it."""
        latents = torch.from_numpy(draw_latents(self.config, self.seeds))
        inputs = torch.empty(*latents.shape[:2], self.features)
        for mixed, walk, mixing in zip(inputs, latents, self.mixings, strict=True):
            mixed.copy_(torch.from_numpy(mixing(walk.double().numpy())))
        return Series(inputs, latents[..., self.label_rows], latents)

    def true_jacobian(self, member: int) -> NDArray[np.float64]:
        """Return the Jacobian dx / dz (attribution samples, features, latents) of a member's generator."""
        assert self.train.latents is not None
        walk = self.train.latents[member].double().cpu().numpy()
        return self.mixings[member].jacobian(walk[self.attribution_numbers()])
