"""Sparse autoencoder with the largest scores of each token, or of a batch, as its code."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import NamedTuple

import torch
from torch import Tensor, nn

from sparseid.methods.sae.codes import Active, Codes, activations, decoded, top_per_batch, top_per_token

TINY = 1e-5
"""Added to the standard deviation of a token, as in BatchTopK's code."""


class Encoded(NamedTuple):
    """Result of the encoder.

    Attributes
    ----------
    codes
        The sparse codes.
    scores
        (tokens, features) of all features, without gradient.
    bias
        (features,) that is part of the scores.
    """

    codes: Codes
    scores: Tensor
    bias: Tensor


class SparseAutoencoder(nn.Module):
    """Reconstruct tokens as sums of a few rows of a dictionary.

    Parameters
    ----------
    width
        Size of a token's vector.
    features
        Rows of the dictionary.
    k
        Active features of a token.
    per_batch
        Choose the largest scores of the whole batch, `k` for each token on average (BatchTopK), also in evaluation.
    centred
        Subtract the decoder's bias before encoding (TopK and BatchTopK), in place of a bias of the encoder (JSAE).

    Attributes
    ----------
    encoder, decoder
        (features, width) each; the rows of the decoder are the dictionary.
    encoder_bias, decoder_bias
        (features,), None if centred, and (width,).
    idle
        (features,) int64: training batches since each feature was last active.
    """

    idle: Tensor

    def __init__(self, width: int, features: int, k: int, per_batch: bool = False, centred: bool = True) -> None:
        super().__init__()
        self.width, self.features, self.k, self.per_batch = width, features, k, per_batch
        bound = math.sqrt(6 / features)  # as in both repositories; rows of the dictionary are then normalised
        rows = torch.empty(features, width).uniform_(-bound, bound)
        self.decoder = nn.Parameter(nn.functional.normalize(rows, dim=1))
        self.encoder = nn.Parameter(rows if centred else self.decoder.detach().clone())
        self.decoder_bias = nn.Parameter(torch.zeros(width))
        self.encoder_bias = None if centred else nn.Parameter(torch.zeros(features))
        self.register_buffer("idle", torch.zeros(features, dtype=torch.int64))

    def encode(self, inputs: Tensor) -> Encoded:
        """Return the codes of inputs (tokens, width)."""
        # subtracting the decoder's bias from the inputs is another bias of the encoder
        bias = -(self.encoder @ self.decoder_bias) if self.encoder_bias is None else self.encoder_bias
        with torch.no_grad():
            scores = torch.addmm(bias, inputs, self.encoder.T)
            active = (top_per_batch if self.per_batch else top_per_token)(scores, self.k)
        values = activations(inputs, self.encoder, bias, scores, active)
        return Encoded(Codes(active, values, (len(inputs), self.features)), scores, bias)

    def decode(self, codes: Codes) -> Tensor:
        """Return the reconstructions (tokens, width)."""
        return decoded(codes, self.decoder) + self.decoder_bias

    def forward(self, inputs: Tensor) -> Tensor:
        """Return the reconstructions of inputs (tokens, width)."""
        return self.decode(self.encode(inputs).codes)

    @torch.no_grad()
    def count_idle(self, codes: Codes) -> None:
        """Count a training batch for the features that it leaves idle, and start again for the others."""
        self.idle += 1
        self.idle.masked_fill_(codes.counts() > 0, 0)

    def from_idle(self, inputs: Tensor, encoded: Encoded, batches: int, most: int) -> Tensor | None:
        """Decode the largest activations of the features that have been idle, without the decoder's bias.

        Parameters
        ----------
        inputs, encoded
            (tokens, width), and what `encode` made of them.
        batches
            Training batches without activation after which a feature counts as idle.
        most
            Maximum number of these features for each token.

        Returns
        -------
        Tensor or None
            (tokens, width); None if no feature is idle.
        """
        # a GPU waits here for their number: without it, each step would decode `most` features, also if none is idle
        idle = (self.idle >= batches).nonzero().flatten()
        if not len(idle):
            return None
        tokens, places = top_per_token(encoded.scores[:, idle], min(most, len(idle)))
        active = Active(tokens, idle[places])
        values = activations(inputs, self.encoder, encoded.bias, encoded.scores, active)
        return decoded(Codes(active, values, (len(inputs), self.features)), self.decoder)

    @torch.no_grad()
    def normalise_decoder(self) -> None:
        """Scale the rows of the dictionary to unit norm, and remove the parts of their gradients along them."""
        self.decoder.copy_(nn.functional.normalize(self.decoder, dim=1))
        if (gradient := self.decoder.grad) is not None:
            gradient -= (gradient * self.decoder).sum(dim=1, keepdim=True) * self.decoder


class Standardised(NamedTuple):
    """Tokens with the mean and standard deviation that were taken off them.

    Attributes
    ----------
    values
        (tokens, width) of mean 0 and standard deviation 1 over the width.
    mean, std
        (tokens, 1)
    """

    values: Tensor
    mean: Tensor
    std: Tensor

    def undone(self, values: Tensor) -> Tensor:
        """Return values (tokens, width) on the original scale."""
        return values * self.std + self.mean


def standardised(tokens: Tensor) -> Standardised:
    """Standardise each of tokens (tokens, width) over its width, as TopK and BatchTopK do."""
    mean, std = tokens.mean(dim=1, keepdim=True), tokens.std(dim=1, keepdim=True)
    return Standardised((tokens - mean) / (std + TINY), mean, std)


def restored(weights: Mapping[str, Tensor], part: str, k: int, per_batch: bool = False) -> SparseAutoencoder:
    """Return an autoencoder of a checkpoint.

    Parameters
    ----------
    weights
        ``torch.load("checkpoints/last.ckpt", weights_only=True)["state_dict"]``.
    part
        ``input`` or ``output`` of the MLP.
    k, per_batch
        As of `SparseAutoencoder`: ``method.k``, and whether ``method.kind`` is batchtopk.

    Raises
    ------
    KeyError
        If the checkpoint has no such part.
    """
    start = f"networks.{part}."
    own = {name.removeprefix(start): value for name, value in weights.items() if name.startswith(start)}
    features, width = own["decoder"].shape
    network = SparseAutoencoder(width, features, k, per_batch, centred="encoder_bias" not in own)
    network.load_state_dict(own)
    return network
