"""Variational autoencoder of a stack: perceptrons of leaky ReLUs as encoder and decoder."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import NamedTuple

import torch
from torch import Tensor, nn

from sparseid.stacking.layers import stacked_mlp

SLOPE = 0.2
"""Slope of the leaky ReLUs for negative inputs, as in the generators of the data; the paper gives none."""


class Posterior(NamedTuple):
    """Mean and log variance of each sample's latents, (members, batch, latents) each."""

    mean: Tensor
    log_variance: Tensor


class StackedVAE(nn.Module):
    """Encoder and decoder of every member.

    Parameters
    ----------
    features, latents
        Sizes of an observation and of its code.
    hidden, layers
        Units of a hidden layer, and number of hidden layers of encoder and decoder each.
    generators
        One per member, for its initial values.

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
