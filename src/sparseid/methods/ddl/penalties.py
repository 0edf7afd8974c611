"""Penalties on a stack's decoders: dependency sparsity (the method), and those of the baselines.

The paper does not specify the reduction of the L1 norm of the Jacobian or the points of evaluation. Here absolute
values are summed over entries and averaged over the batch, at the sampled latents, with gradients through these;
nothing is rescaled. The L1 norm of the latents is that of posterior means. OroJAR and the Hessian penalty are reduced
as in their authors' code. Every penalty has one value per member.
"""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor, nn

from sparseid.stacking.batches import take
from sparseid.stacking.layers import StackedLinear

STEP = 0.1
"""Step of the finite differences (authors' code of OroJAR and of the Hessian penalty)."""
DIRECTIONS = 2
"""Random directions per sample (same source)."""

Decode = Callable[[Tensor], Tensor]
"""Maps latents (members, any number, latents) to outputs (members, the same number, features)."""


def value_and_tangents(
    decoder: nn.Sequential, latents: Tensor, coordinates: Tensor | None = None
) -> tuple[Tensor, Tensor]:
    """Return the outputs of a decoder and their derivatives with respect to the latents, in one forward pass.

    The Jacobian of a perceptron of leaky ReLUs is the product of its weights with diagonal matrices of slopes between
    them. Slopes are piecewise constant, so ordinary backpropagation through this product gives the gradient of any
    function of the Jacobian.

    Parameters
    ----------
    decoder
        Alternating `StackedLinear` and `torch.nn.LeakyReLU`.
    latents
        (members, batch, latents)
    coordinates
        (members, batch, s) int64: the latents of each sample with respect to which to differentiate; None for all of
        them, in order.

    Returns
    -------
    outputs, tangents
        (members, batch, features) and (members, batch, latents or s, features): row j of a sample's tangents is the
        derivative of its outputs with respect to latent j, a column of the Jacobian.

    Raises
    ------
    TypeError
        If the decoder has other layers.

    Examples
    --------
    >>> layers = [StackedLinear(*sizes, [torch.Generator()]) for sizes in ((2, 8), (8, 3))]
    >>> decoder = nn.Sequential(layers[0], nn.LeakyReLU(), layers[1])
    >>> outputs, tangents = value_and_tangents(decoder, torch.zeros(1, 5, 2))
    >>> outputs.shape, tangents.shape
    (torch.Size([1, 5, 3]), torch.Size([1, 5, 2, 3]))
    """
    layers = list(decoder) if isinstance(decoder, nn.Sequential) else [decoder]
    if other := next((layer for layer in layers if not isinstance(layer, StackedLinear | nn.LeakyReLU)), None):
        kind = type(other).__name__
        raise TypeError(f"the decoder must be a Sequential of StackedLinear and LeakyReLU (stacked_mlp), not of {kind}")
    values = latents
    weights: list[Tensor] = []
    slopes: list[Tensor] = []
    for layer in layers:
        if isinstance(layer, nn.LeakyReLU):
            one, slope = values.new_ones(()), values.new_full((), layer.negative_slope)  # in the precision of values
            slopes.append(torch.where(values > 0, one, slope))
            values = values * slopes[-1]
        else:
            assert isinstance(layer, StackedLinear)
            weights.append(layer.weight)
            values = layer(values)
    tangents = _tangents(weights, slopes, coordinates)
    return values, tangents.expand(-1, latents.shape[1], -1, -1)  # without a hidden layer, the same for all samples


def _tangents(weights: list[Tensor], slopes: list[Tensor], coordinates: Tensor | None) -> Tensor:
    """Return the product (members, batch or 1, tangents, features) of the weights with slopes in between."""
    first, *weights = weights
    if coordinates is not None:
        tangents = take(first, coordinates.flatten(1)).unflatten(1, coordinates.shape[1:])
    elif weights:
        # slopes times pairs of weights: since slopes are constants, backpropagation needs one product instead of two
        pairs = first.mT[..., None] * weights[0][:, :, None]  # (members, units, latents, next units)
        tangents = torch.bmm(slopes[0], pairs.flatten(2)).unflatten(2, pairs.shape[2:])
        weights, slopes = weights[1:], slopes[1:]
    else:
        tangents = first[:, None]
    for weight, slope in zip(weights, slopes, strict=True):
        scaled = tangents * slope[:, :, None]
        tangents = torch.bmm(scaled.flatten(1, 2), weight).unflatten(1, scaled.shape[1:3])
    return tangents


def dependency_sparsity(tangents: Tensor, latents: int) -> Tensor:
    """Return the L1 norm of the Jacobian (members,), averaged over the batch, or its estimate from some coordinates.

    Parameters
    ----------
    tangents
        (members, batch, s, features) from `value_and_tangents`. If these are s of the latents, drawn for each sample
        with equal probability, the result is an unbiased estimate. Random directions instead of coordinates are
        unsuitable: they estimate norms that are invariant to rotations of the latents.
    latents
        Number of latents.

    Examples
    --------
    >>> tangents = torch.tensor([[[[1.0, 0.0], [0.0, -2.0]]]])  # one member, one sample: its transposed Jacobian
    >>> dependency_sparsity(tangents, latents=2).tolist()
    [3.0]
    """
    return tangents.abs().sum(dim=(2, 3)).mean(dim=1) * (latents / tangents.shape[2])


def normalised_dependency(tangents: Tensor, latents: Tensor) -> Tensor:
    """Return the L1 norm of the Jacobian (members,) for latents in units of their standard deviation over the batch.

    Unlike the norm itself, it does not shrink when latents are merely scaled up.

    Parameters
    ----------
    tangents
        (members, batch, latents, features) for all latents.
    latents
        (members, batch, latents)

    Examples
    --------
    >>> tangents, latents = torch.ones(1, 3, 2, 4), torch.randn(1, 3, 2)
    >>> scaled = normalised_dependency(tangents / 10, 10 * latents)
    >>> torch.allclose(scaled, normalised_dependency(tangents, latents))
    True
    """
    return (tangents.abs().sum(dim=3).mean(dim=1) * latents.std(dim=1)).sum(dim=1)


def latent_sparsity(codes: Tensor) -> Tensor:
    """Return the L1 norm (members,) of codes (members, batch, latents), averaged over the batch."""
    return codes.abs().sum(dim=2).mean(dim=1)


def orojar(decode: Decode, latents: Tensor, outputs: Tensor, signs: Tensor) -> Tensor:
    """Return OroJAR's penalty (members,) on non-orthogonal columns of the Jacobian, the maximum over the batch.

    The variance over random signs v of the squared length of J v is twice the sum of the squares of the off-diagonal
    entries of J^T J. J v is a finite difference, the variance an unbiased estimate from the signs of each sample.

    Parameters
    ----------
    decode
        The decoder.
    latents, outputs
        (members, batch, latents), and their image under `decode`.
    signs
        (members, batch, directions, latents) of -1 and 1; two or more directions.

    Examples
    --------
    >>> latents, signs = torch.zeros(1, 4, 2), torch.tensor([[1.0, 1.0], [1.0, -1.0]]).expand(1, 4, 2, 2)
    >>> decode = torch.sin  # each output reads one latent
    >>> orojar(decode, latents, decode(latents), signs).tolist()
    [0.0]
    """
    ahead = _decoded(decode, latents, STEP * signs)
    lengths = ((ahead - outputs[:, :, None]) / STEP).square().sum(dim=3)
    return lengths.var(dim=2).amax(dim=1)


def hessian_penalty(decode: Decode, latents: Tensor, outputs: Tensor, signs: Tensor) -> Tensor:
    """Return the Hessian penalty (members,) on off-diagonal second derivatives, the maximum over batch and outputs.

    The variance over random signs v of v^T H v, for each output, is twice the sum of the squares of the off-diagonal
    entries of its Hessian H. v^T H v is a second difference: decoders of leaky ReLUs have curvature only at their
    kinks, which only a finite step can detect. Parameters are those of `orojar`.

    Examples
    --------
    >>> latents, signs = torch.zeros(1, 4, 2), torch.tensor([[1.0, 1.0], [1.0, -1.0]]).expand(1, 4, 2, 2)
    >>> decode = torch.square  # no mixed derivatives
    >>> hessian_penalty(decode, latents, decode(latents), signs).tolist()
    [0.0]
    """
    steps = STEP * signs
    bends = _decoded(decode, latents, steps) - 2 * outputs[:, :, None] + _decoded(decode, latents, -steps)
    return (bends / STEP**2).var(dim=2).amax(dim=(1, 2))


def _decoded(decode: Decode, latents: Tensor, steps: Tensor) -> Tensor:
    """Decode latents shifted by steps, (members, batch, directions, latents) to (..., features)."""
    moved = latents[:, :, None] + steps
    return decode(moved.flatten(1, 2)).unflatten(1, moved.shape[1:3])
