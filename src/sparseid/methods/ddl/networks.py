"""The variational autoencoder of a stack: one perceptron of leaky ReLUs encodes, another decodes."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import NamedTuple

import torch
from torch import Tensor, nn

from sparseid.stacking.layers import stacked_mlp

SLOPE = 0.2
"""Of the leaky ReLUs for negative inputs, as in the generators of the data; the paper does not say."""


class Posterior(NamedTuple):
    """Mean and logarithm of the variance of each sample's latents, (members, batch, latents) each."""

    mean: Tensor
    log_variance: Tensor


class StackedVAE(nn.Module):
    """Encoder and decoder of every member.

    Parameters
    ----------
    features, latents
        Sizes of an observation and of its code.
    hidden, layers
        Units of a hidden layer, and hidden layers of encoder and decoder each.
    generators
        One per member, from which its initial values are drawn.

    Attributes
    ----------
    decoder
        Maps latents (members, batch, latents) to observations (members, batch, features).
    """

    def __init__(
        self, features: int, latents: int, hidden: int, layers: int, generators: Sequence[torch.Generator]
    ) -> None:
        super().__init__()
        activation = partial(nn.LeakyReLU, SLOPE, inplace=True)
        widths = [hidden] * layers
        self.encoder = stacked_mlp([features, *widths, 2 * latents], generators, activation)
        self.decoder = stacked_mlp([latents, *widths, features], generators, activation)

    def encode(self, inputs: Tensor) -> Posterior:
        """Return the posterior of inputs (members, batch, features)."""
        return Posterior(*self.encoder(inputs).chunk(2, dim=-1))
