"""Attribution methods: contribution of each feature of each sample to each output of an encoder.

The definitions are those of captum, which the paper used: see its NeuronGradient, NeuronIntegratedGradients,
NeuronFeatureAblation and NeuronGradientShap. All functions take one chunk of samples, (..., samples, D), and return
attributions (..., samples, outputs, D); the leading axis, if any, is that of the members of a stack.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Literal, NamedTuple

import numpy as np
import torch
from torch import Tensor

from sparseid.metrics.attribution.encoders import Encoder, input_gradient, outputs_of
from sparseid.streams import Streams

Jacobian = Callable[[Tensor], Tensor]
"""Maps inputs (..., samples, D) to the encoder's Jacobian at each of them, (..., samples, outputs, D)."""

Baselines = Literal["zeros", "shuffled"]

NODES = 50
"""Gauss-Legendre nodes of an integrated gradient (captum's default)."""

DRAWS = 5
"""Random points per sample and output of a gradient SHAP value (captum's default)."""


def jacobian_by_backward(encoder: Encoder, inputs: Tensor) -> Tensor:
    """Return the Jacobian J_f, (..., samples, outputs, D): one forward pass, then one backward pass per output.

    Raises
    ------
    InputError
        If no gradient flows back to the inputs.
    """
    leaf = inputs.detach().clone().requires_grad_()
    outputs = outputs_of(encoder, leaf)
    # samples (and members) are independent: the gradient of their sum holds the gradient of each
    totals = outputs.flatten(end_dim=-2).sum(dim=0).unbind()
    rows = [input_gradient(total, leaf, keep_graph=True) for total in totals]
    return torch.stack(rows, dim=-2)


def integrated_gradients(jacobian: Jacobian, inputs: Tensor, nodes: int = NODES) -> Tensor:
    """Return x_j times the mean of df_k/dx_j on the line from zero to x, by Gauss-Legendre quadrature."""
    places, weights = np.polynomial.legendre.leggauss(nodes)  # on [-1, 1]
    mean = sum(
        weight * jacobian(share * inputs)
        for share, weight in zip(((1 + places) / 2).tolist(), (weights / 2).tolist(), strict=True)
    )
    return mean * inputs[..., None, :]


@torch.no_grad()
def feature_ablation(encoder: Encoder, inputs: Tensor) -> Tensor:
    """Return f_k(x) - f_k(x with x_j = 0): one forward pass per feature gives all outputs."""
    whole = outputs_of(encoder, inputs)
    attribution = whole.new_empty(*whole.shape, inputs.shape[-1])
    masked = inputs.clone()
    for feature in range(inputs.shape[-1]):
        masked[..., feature] = 0
        attribution[..., feature] = whole - outputs_of(encoder, masked)
        masked[..., feature] = inputs[..., feature]
    return attribution


class ShapDraws(NamedTuple):
    """Random numbers of gradient SHAP, with the leading axes of the inputs.

    Attributes
    ----------
    baselines
        (..., rows, D): candidate baselines.
    rows
        (..., outputs, samples, draws) int64: the row of `baselines` at which each draw starts.
    shares
        (..., outputs, samples, draws) in [0, 1]: position of each draw on the line from its baseline to the sample.
    """

    baselines: Tensor
    rows: Tensor
    shares: Tensor

    def of_samples(self, start: int, end: int) -> ShapDraws:
        """Return the draws of some samples, with the same baselines."""
        return ShapDraws(self.baselines, self.rows[..., start:end, :], self.shares[..., start:end, :])


def shap_draws(
    inputs: Tensor, outputs: int, baselines: Baselines = "zeros", seeds: int | Sequence[int] = 0, draws: int = DRAWS
) -> ShapDraws:
    """Draw baselines and positions on the line for all samples of all members.

    Parameters
    ----------
    inputs
        All inputs (..., samples, D).
    outputs
        Number of outputs of the encoder; each has its own draws, as in captum.
    baselines
        ``zeros``, or ``shuffled``: all entries of a member's inputs permuted over samples and features at once.
    seeds
        One per member, or one for all: a member's draws depend on its seed only.
    draws
        Number of draws per sample and output.

    Raises
    ------
    ValueError
        If `baselines` is unknown, or the number of seeds is neither one nor the number of members.
    """
    if baselines not in ("zeros", "shuffled"):
        raise ValueError(f"baselines must be zeros or shuffled, got {baselines!r}")
    *leading, samples, features = inputs.shape
    members = inputs.reshape(-1, samples, features)
    each = np.ravel(seeds).tolist()
    each = each * len(members) if len(each) == 1 else each
    if len(each) != len(members):
        raise ValueError(f"{len(each)} seeds for {len(members)} members")
    drawn = []
    for member, seed in zip(members, each, strict=True):
        generator = Streams(seed).torch("attribution")  # on the CPU: the same draws on every device
        shares = torch.rand(outputs, samples, draws, generator=generator, dtype=torch.float64).to(member)
        if baselines == "zeros":
            rows = torch.zeros(outputs, samples, draws, dtype=torch.int64, device=member.device)
            drawn.append((member.new_zeros(1, features), rows, shares))
            continue
        rows = torch.randint(samples, (outputs, samples, draws), generator=generator).to(member.device)
        order = torch.randperm(member.numel(), generator=generator).to(member.device)
        drawn.append((member.flatten()[order].view_as(member), rows, shares))
    return ShapDraws(*(torch.stack(part) if leading else part[0] for part in zip(*drawn, strict=True)))


def gradient_shap(encoder: Encoder, inputs: Tensor, draws: ShapDraws) -> Tensor:
    """Return the mean over draws of (x_j - b_j) df_k/dx_j at b + share (x - b), with the draws of output k.

    Parameters
    ----------
    draws
        Draws of these samples.

    Raises
    ------
    InputError
        If no gradient flows back to the inputs.
    """
    *_, outputs, samples, repeats = draws.rows.shape
    total = torch.zeros_like(inputs)[..., None, :, :]
    for repeat in range(repeats):
        rows = draws.rows[..., repeat].flatten(start_dim=-2)  # (..., outputs * samples)
        baseline = draws.baselines.gather(-2, rows[..., None].expand(*rows.shape, inputs.shape[-1]))
        difference = inputs[..., None, :, :] - baseline.unflatten(-2, (outputs, samples))
        share = draws.shares[..., repeat, None]
        points = inputs[..., None, :, :] - (1 - share) * difference  # (..., outputs, samples, D)
        leaf = points.flatten(start_dim=-3, end_dim=-2).detach().requires_grad_()
        encoded = outputs_of(encoder, leaf).unflatten(-2, (outputs, samples))
        own = encoded.diagonal(dim1=-3, dim2=-1)  # (..., samples, outputs): output k at its own points
        gradient = input_gradient(own.sum(), leaf).unflatten(-2, (outputs, samples))
        total = total + gradient * difference
    return (total / repeats).transpose(-3, -2)
