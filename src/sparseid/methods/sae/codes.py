"""Sparse codes: the largest scores of tokens, and products that are computed only where a feature is active.

A code is a list of active features, not a row of the dictionary's size. Both directions of the decoder and the backward
pass of the encoder cost tokens x active features; the encoder's scores alone are a dense product.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable
from torch.nn.functional import embedding_bag


class Active(NamedTuple):
    """Places of the active features of a batch, ordered by token.

    Attributes
    ----------
    tokens, features
        (active,) int64 each.
    """

    tokens: Tensor
    features: Tensor


class Codes(NamedTuple):
    """Sparse codes of a batch.

    Attributes
    ----------
    active
        Places of the activations.
    values
        (active,) activations, at least 0.
    shape
        Tokens, and features of the dictionary.
    """

    active: Active
    values: Tensor
    shape: tuple[int, int]

    def dense(self) -> Tensor:
        """Return the codes as a matrix (tokens, features)."""
        return self.values.new_zeros(self.shape).index_put(tuple(self.active), self.values)

    def counts(self) -> Tensor:
        """Return the number (features,) int64 of positive activations of each feature in the batch."""
        positive = (self.values.detach() > 0).long()  # added up: for a selection by a mask a GPU would have to wait
        return positive.new_zeros(self.shape[1]).index_add(0, self.active.features, positive)


def top_per_token(scores: Tensor, k: int) -> Active:
    """Return the places of the `k` largest of scores (tokens, features) of every token, the largest first."""
    features = scores.topk(k, dim=1).indices
    tokens = torch.arange(len(scores), device=scores.device).repeat_interleave(k)
    return Active(tokens, features.flatten())


def top_per_batch(scores: Tensor, k: int) -> Active:
    """Return the places of the `k` x tokens largest of scores (tokens, features), however many of them a token has."""
    places = scores.flatten().topk(k * len(scores), sorted=False).indices.sort().values
    return Active(places // scores.shape[1], places % scores.shape[1])


def weighted_sums(matrix: Tensor, rows: Tensor, weights: Tensor, groups: Tensor, number: int) -> Tensor:
    """Sum weighted rows of a matrix in each group.

    Parameters
    ----------
    matrix
        (rows, width)
    rows, weights, groups
        (n,) each: number of a row, its weight and its group; groups ascend.
    number
        Number of groups.

    Returns
    -------
    Tensor
        (number, width); 0 for a group without rows.
    """
    starts = torch.searchsorted(groups, torch.arange(number, device=groups.device))
    return embedding_bag(rows, matrix, starts, per_sample_weights=weights, mode="sum")


def decoded(codes: Codes, decoder: Tensor) -> Tensor:
    """Return the sums (tokens, width) of the rows of a decoder (features, width), weighted by the codes."""
    return weighted_sums(decoder, codes.active.features, codes.values, codes.active.tokens, codes.shape[0])


class _KnownProducts(torch.autograd.Function):
    """Scores at some places, of which the gradient reaches encoder and bias through these places only."""

    @staticmethod
    def forward(
        ctx: Any, inputs: Tensor, encoder: Tensor, bias: Tensor, scores: Tensor, tokens: Tensor, features: Tensor
    ) -> Tensor:
        ctx.save_for_backward(inputs, tokens, features)
        ctx.rows = len(encoder)
        return scores[tokens, features]

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor | None, ...]:
        inputs, tokens, features = ctx.saved_tensors
        order = features.argsort()
        by_feature, sorted_gradient = features[order], gradient[order]
        of_encoder = weighted_sums(inputs, tokens[order], sorted_gradient, by_feature, ctx.rows)
        of_bias = gradient.new_zeros(ctx.rows).index_add_(0, by_feature, sorted_gradient)
        return None, of_encoder, of_bias, None, None, None


def activations(inputs: Tensor, encoder: Tensor, bias: Tensor, scores: Tensor, active: Active) -> Tensor:
    """Return the rectified scores at some places, differentiable in encoder and bias.

    Parameters
    ----------
    inputs
        (tokens, width) data, which gets no gradient.
    encoder, bias
        (features, width) and (features,)
    scores
        (tokens, features): the inputs times the encoder plus the bias, without gradient.
    active
        The places.

    Returns
    -------
    Tensor
        (active,) values, at least 0.
    """
    values: Tensor = _KnownProducts.apply(inputs, encoder, bias, scores, active.tokens, active.features)
    return values.relu()
