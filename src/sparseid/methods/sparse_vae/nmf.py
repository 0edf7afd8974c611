"""Non-negative matrix factorisation by scikit-learn, with the interface of the other models."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import torch
from sklearn.decomposition import NMF, non_negative_factorization
from torch import Tensor, nn

from sparseid.errors import InputError
from sparseid.methods.sparse_vae.model import Given, LatentModel, Terms
from sparseid.methods.sparse_vae.networks import Noise

if TYPE_CHECKING:
    from sparseid.methods.sparse_vae.settings import SparseVAESettings


class Factorisation(LatentModel):
    """NMF with scikit-learn's defaults; fitted when the data are available, without training.

    Parameters
    ----------
    method
        Settings with the number of latents.
    given
        Properties of the data.
    generators
        One per member; only their number is used.

    Attributes
    ----------
    components
        (members, latents, features)
    """

    components: Tensor

    def __init__(self, method: SparseVAESettings, given: Given, generators: Sequence[torch.Generator]) -> None:
        super().__init__()
        self.latents = method.latents
        self.register_buffer("components", torch.zeros(len(generators), method.latents, given.features))
        self.counted = nn.Parameter(torch.zeros(len(generators)))  # the trainer counts the steps of an optimiser

    def prepare(self, train: Tensor, column_sd: Tensor) -> None:
        """Factorise the training samples.

        Raises
        ------
        InputError
            If a sample is negative.
        """
        if (train < 0).any():
            text = "NMF needs non-negative data: choose another method.model for these"
            raise InputError(text, ("method.model",))
        for components, samples in zip(self.components, train, strict=True):
            fitted = NMF(n_components=self.latents, random_state=0).fit(samples.cpu().numpy())
            components.copy_(torch.from_numpy(fitted.components_))

    def terms(self, inputs: Tensor, noise: Noise, step: int, features: Tensor | None = None) -> Terms:
        """Return zeros."""
        return Terms(0 * self.counted, *(torch.zeros_like(self.counted) for _ in range(3)))

    def encode(self, inputs: Tensor) -> Tensor:
        """Return the non-negative weights of the components that fit the inputs best."""
        codes = [
            non_negative_factorization(
                samples.cpu().numpy(), H=components.cpu().numpy(), n_components=self.latents, update_H=False
            )[0]
            for samples, components in zip(inputs, self.components, strict=True)
        ]
        return torch.from_numpy(np.stack(codes)).to(inputs)

    def reconstruct(self, inputs: Tensor, noise: Noise) -> Tensor:
        """Return codes times components."""
        return self.encode(inputs) @ self.components

    def loadings(self) -> dict[str, Tensor]:
        """Return the components as `selector`."""
        return {"selector": self.components.mT}
