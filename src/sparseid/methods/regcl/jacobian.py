"""Jacobian of a stack of perceptrons, computed from the output rows, and penalties on its norm (Eq. 3)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from sparseid.stacking.chunking import parts


def gelu_slope(inputs: Tensor) -> Tensor:
    """Return the derivative of the exact GELU x Phi(x): Phi(x) + x phi(x)."""
    return _GeluSlope.apply(inputs)


class _GeluSlope(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, inputs: Tensor) -> Tensor:
        ctx.save_for_backward(inputs)
        return torch.ops.aten.gelu_backward(torch.ones_like(inputs), inputs)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *upstream: Tensor) -> Tensor:
        (inputs,) = ctx.saved_tensors
        squares = inputs.square()
        density = (squares * -0.5).exp_().mul_(1 / math.sqrt(2 * math.pi))
        return density.mul_(squares.neg_().add_(2)).mul_(upstream[0])  # (2 - x^2) phi(x)


def pull_back(directions: Tensor, weights: Sequence[Tensor], slopes: Sequence[Tensor]) -> Tensor:
    """Return the product (members, batch, rows, in) of directions and the Jacobian of a perceptron.

    Parameters
    ----------
    directions
        (members, batch, rows, out), at the output of the last linear map.
    weights
        (members, in, out) of each linear map, in forward order.
    slopes
        (members, batch, units) derivative of the activation after each linear map but the last.
    """
    members, batch, rows, _ = directions.shape
    pulled = directions
    for weight, slope in zip(reversed(weights), [*reversed(slopes), None], strict=True):
        flat = pulled.reshape(members, batch * rows, -1)
        pulled = torch.bmm(flat, weight.transpose(1, 2)).view(members, batch, rows, -1)
        if slope is not None:
            pulled = pulled * slope[:, :, None]
    return pulled


def row_norms(factors: Tensor, weights: Sequence[Tensor], slopes: Sequence[Tensor]) -> Tensor:
    """Return the sum (members,) over batch and outputs of factor times squared norm of the output's Jacobian row.

    The rows are pulled back for a part of the batch at a time, and the gradient of each part is computed while it is in
    the cache, without an array (members, batch, out, units) or a second backward pass.

    Parameters
    ----------
    factors
        (members, batch, out)
    weights, slopes
        As in `pull_back`, with three or more linear maps.
    """
    return _RowNorms.apply(factors, len(weights), *weights, *slopes)


class _RowNorms(torch.autograd.Function):
    """The last two maps, without the slope between them, are one matrix for all outputs: `top` (units, out * units)."""

    @staticmethod
    def forward(ctx: Any, factors: Tensor, depth: int, *tensors: Tensor) -> Tensor:
        *lower, before, last = tensors[:depth]
        slopes = tensors[depth:]
        members, batch, outputs = factors.shape
        maps = [*lower, torch.einsum("mjo,mij->mjoi", last, before).flatten(2)]
        gradients = [torch.zeros_like(tensor) for tensor in (factors, *maps, *slopes)]
        total = factors.new_zeros(members)
        widest = outputs * max(weight.shape[1] for weight in lower)
        for part, rows in parts(members, batch, widest, factors.device):
            sizes = [tensor[part, rows] for tensor in (factors, *slopes)]
            total[part] += _RowNorms.add_part(
                sizes[0],
                [weight[part] for weight in maps],
                sizes[1:],
                [grad[part, rows] for grad in (gradients[0], *gradients[1 + len(maps) :])],
                [grad[part] for grad in gradients[1 : 1 + len(maps)]] if any(ctx.needs_input_grad) else [],
            )
        if any(ctx.needs_input_grad):
            d_top = gradients.pop(len(maps)).view(members, -1, outputs, before.shape[1])
            d_before = torch.einsum("mjoi,mjo->mij", d_top, last)
            d_last = torch.einsum("mjoi,mij->mjo", d_top, before)
            gradients[len(maps) : len(maps)] = [d_before, d_last]
            ctx.save_for_backward(*gradients)
        return total

    @staticmethod
    def add_part(
        factors: Tensor,
        maps: list[Tensor],
        slopes: list[Tensor],
        d_batch: list[Tensor],
        d_maps: list[Tensor],
    ) -> Tensor:
        """Return the sum of a part, and accumulate its gradients in the given arrays.

        `d_batch` has the gradients of factors and slopes, `d_maps` those of the maps (empty if not required).
        """
        *lower, top = maps
        shape = *factors.shape, -1  # (members, batch, out, units)
        pulled = torch.bmm(slopes[-1], top).view(shape)
        steps = []  # for each map, in backward order: rows before and after the slope
        for weight, slope in zip(reversed(lower), reversed(slopes[:-1]), strict=True):
            scaled = (pulled * slope[:, :, None]).flatten(1, 2)
            steps.append((pulled, scaled))
            pulled = torch.bmm(scaled, weight.transpose(1, 2)).view(shape)
        norms = pulled.square().sum(dim=-1)
        if d_maps:
            d_batch[0].copy_(norms)
            grad = pulled.mul_(2 * factors[..., None]).flatten(1, 2)
            for place, (pulled, scaled) in enumerate(reversed(steps)):
                d_maps[place].baddbmm_(grad.transpose(1, 2), scaled)
                grad = torch.bmm(grad, lower[place]).view(shape)
                d_batch[1 + place].copy_(pulled.mul_(grad).sum(dim=2))
                grad = grad.mul_(slopes[place][:, :, None]).flatten(1, 2)
            grad = grad.view(*factors.shape[:2], -1)
            d_maps[-1].baddbmm_(slopes[-1].transpose(1, 2), grad)
            d_batch[-1].copy_(torch.bmm(grad, top.transpose(1, 2)))
        return (factors * norms).sum(dim=(1, 2))

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *upstream: Tensor) -> tuple[Tensor | None, ...]:
        factors, *others = (grad * upstream[0].view(-1, *[1] * (grad.dim() - 1)) for grad in ctx.saved_tensors)
        return factors, None, *others
