"""Data module of the mixtures: one data set, with its own generator, per member of the stack."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import torch
from torch import Tensor

from sparseid.data.feature_matrix import FeatureData, FeatureTruth, Matrices
from sparseid.data.mlp_mixture.generator import add_noise, draw_latents, draw_mixture, stack
from sparseid.data.mlp_mixture.masks import mask_of

if TYPE_CHECKING:
    from sparseid.data.mlp_mixture.settings import MLPMixtureSettings


class MLPMixtureData(FeatureData):
    """A mixture and its samples for each member.

    Parameters
    ----------
    config
        Settings of latents, networks and noise.
    seeds
        One per member, for its data set.
    batch_size
        Training samples of a member per step.

    Attributes
    ----------
    mask
        (members, m, n) bool on the CPU: dependence of each observation on each latent.
    latents
        Number of latents n.
    """

    likelihood = "gaussian"
    truth: FeatureTruth

    def __init__(self, config: MLPMixtureSettings, seeds: Sequence[int], batch_size: int) -> None:
        super().__init__(seeds, batch_size, config.test_samples)
        self.config, self.latents = config, config.latents
        masks = [mask_of(config, seed) for seed in self.seeds]
        self.mask = torch.from_numpy(np.stack(masks))
        self.features = self.mask.shape[1]
        self.feature_names = [f"x{number}" for number in range(1, self.features + 1)]
        self.remarks = list(dict.fromkeys(remark for mask in masks for remark in config.warnings(mask)))

    def make(self) -> Matrices:
        """Draw the latents and networks of every member, mix and add noise."""
        config = self.config
        train, test = self._latents("train", config.samples), self._latents("test", config.test_samples)
        members = zip(self.mask.numpy(), self.seeds, train, strict=True)
        self._mixture = stack([draw_mixture(config, *member) for member in members])
        shares = self.mask / self.mask.sum(dim=2, keepdim=True)
        truth = FeatureTruth(train.float(), test.float(), shares)
        return Matrices(self._observed("train", train), self._observed("test", test), truth)

    def _latents(self, split: str, samples: int) -> Tensor:
        return torch.stack([draw_latents(self.config, seed, split, samples) for seed in self.seeds])

    def _observed(self, split: str, latents: Tensor) -> Tensor:
        """Return noisy observations (members, samples, m) float32 of latents."""
        clean = zip(self.seeds, self._mixture(latents), strict=True)
        return torch.stack([add_noise(self.config, seed, split, values) for seed, values in clean]).float()

    def jacobian(self, latents: Tensor) -> Tensor:
        """Return the derivatives (members, batch, m, n) of the noiseless, standardised observations.

        Parameters
        ----------
        latents
            Points (members, batch, n); available from `setup` on.
        """
        return self._mixture.to(latents.device, latents.dtype).jacobian(latents)
