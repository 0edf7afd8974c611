"""Penalties on any decoder of images, for one model: those of `penalties` on latents (batch, latents).

A decoder of images has too many outputs for its whole Jacobian: the L1 norm is estimated without bias from random
coordinates of each sample, by forward-mode differentiation or by finite differences. Means over pixels make a weight
independent of the resolution.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor
from torch.func import jvp, vmap
from torch.nn.functional import one_hot

from sparseid.methods.ddl import penalties

STEP = 0.01
"""Step of the finite differences along coordinates, for latents of about unit variance."""

Decode = Callable[[Tensor], Tensor]
"""Maps latents (any number, latents) to outputs (the same number, ...), each sample by itself."""


def random_coordinates(batch: int, latents: int, chosen: int, generator: torch.Generator) -> Tensor:
    """Draw `chosen` different coordinates for each sample, (batch, chosen) int64 on the generator's device.

    Examples
    --------
    >>> random_coordinates(4, 3, 3, torch.Generator().manual_seed(0)).sort(dim=1).values[0].tolist()
    [0, 1, 2]
    """
    return torch.rand(batch, latents, generator=generator, device=generator.device).argsort(dim=1)[:, :chosen]


def value_and_tangents(decode: Decode, latents: Tensor, coordinates: Tensor) -> tuple[Tensor, Tensor]:
    """Return the outputs of a decoder and their derivatives with respect to some coordinates, by forward mode.

    Backpropagation through both works, for layers with forward-mode rules (not for fused attention).

    Parameters
    ----------
    decode
        The decoder; samples must not depend on each other, as they do with batch normalisation in training mode.
    latents
        (batch, latents)
    coordinates
        (batch, s) int64: the latents of each sample with respect to which to differentiate.

    Returns
    -------
    outputs, tangents
        (batch, ...) and (batch, s, ...).
    """

    def along(directions: Tensor) -> Any:
        return jvp(decode, (latents,), (directions,))

    # the outputs are computed once, whatever the number of coordinates
    of_each: Any = vmap(along, out_dims=(None, 1))  # type: ignore[arg-type]
    outputs, tangents = of_each(_directions(latents, coordinates).transpose(0, 1))
    return outputs, tangents


def finite_differences(
    decode: Decode, latents: Tensor, outputs: Tensor, coordinates: Tensor, step: float = STEP
) -> Tensor:
    """Return forward differences (batch, s, ...) in place of the tangents of `value_and_tangents`, for any layers.

    Parameters
    ----------
    decode, latents, coordinates
        See `value_and_tangents`.
    outputs
        (batch, ...) outputs of the latents.
    step
        Length of the step; the error is proportional to it.
    """
    moved = latents[:, None] + step * _directions(latents, coordinates)
    ahead = decode(moved.flatten(0, 1)).unflatten(0, moved.shape[:2])
    return (ahead - outputs[:, None]) / step


def dependency_sparsity(tangents: Tensor, latents: int, reduction: str = "mean") -> Tensor:
    """Return an unbiased estimate of the L1 norm of the Jacobian, averaged over the batch, a scalar.

    Parameters
    ----------
    tangents
        (batch, s, ...) with respect to s of the latents of each sample, drawn with equal probability. Random directions
        instead of coordinates are unsuitable: they estimate norms that are invariant to rotations of the latents.
    latents
        Number of latents.
    reduction
        Over outputs, that is pixels and channels: ``mean`` or ``sum``.
    """
    flat = tangents.flatten(2)
    total = penalties.dependency_sparsity(flat[None], latents)[0]
    return total / flat.shape[2] if reduction == "mean" else total


def latent_sparsity(codes: Tensor) -> Tensor:
    """Return the L1 norm of codes (batch, latents), averaged over the batch, a scalar."""
    return penalties.latent_sparsity(codes[None])[0]


def orojar(decode: Decode, latents: Tensor, outputs: Tensor, signs: Tensor) -> Tensor:
    """Return OroJAR's penalty, a scalar, with sums over pixels and the maximum over the batch.

    Parameters
    ----------
    decode
        The decoder.
    latents, outputs
        (batch, latents), and their image (batch, ...) under `decode`.
    signs
        (batch, directions, latents) of -1 and 1; two or more directions.
    """
    return penalties.orojar(_stack_of(decode), latents[None], outputs.flatten(1)[None], signs[None])[0]


def hessian_penalty(decode: Decode, latents: Tensor, outputs: Tensor, signs: Tensor) -> Tensor:
    """Return the Hessian penalty, a scalar, the maximum over batch and pixels; parameters are those of `orojar`."""
    return penalties.hessian_penalty(_stack_of(decode), latents[None], outputs.flatten(1)[None], signs[None])[0]


def _directions(latents: Tensor, coordinates: Tensor) -> Tensor:
    """Return the unit vectors (batch, s, latents) of coordinates (batch, s)."""
    return one_hot(coordinates, latents.shape[1]).to(latents)


def _stack_of(decode: Decode) -> penalties.Decode:
    """Return a decoder as that of a stack of one member, with flat outputs."""
    return lambda latents: decode(latents[0]).flatten(1)[None]
