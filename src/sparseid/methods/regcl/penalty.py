"""Penalty on the size of the encoder's Jacobian (Eq. 3), exact or estimated, and the ramp of its weight."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from sparseid.methods.regcl.encoder import StackedEncoder, Trace
from sparseid.methods.regcl.jacobian import gelu_slope, pull_back, row_norms

Term = tuple[slice, float]
"""Rows of the Jacobian, and the weight of the sum of their squares."""


def penalty_terms(objectives: Sequence[slice], outputs: int, form: str) -> list[Term]:
    """Return the terms of the penalty.

    Parameters
    ----------
    objectives
        Coordinates of the embedding that each objective uses.
    outputs
        Size of the embedding.
    form
        paper: the whole Jacobian, once; code: half of it for each objective, so that common rows count more than once.

    Examples
    --------
    >>> penalty_terms([slice(0, 6), slice(4, 6)], 6, "code")
    [(slice(0, 6, None), 0.5), (slice(4, 6, None), 0.5)]
    """
    return [(slice(0, outputs), 1.0)] if form == "paper" else [(rows, 0.5) for rows in objectives]


def exact_penalty(encoder: StackedEncoder, trace: Trace, terms: Sequence[Term]) -> Tensor:
    """Return the sum of the terms (members,), averaged over the samples of a trace."""
    factors = trace.raw.new_zeros(trace.raw.shape[-1])
    for rows, factor in terms:
        factors[rows] += factor
    slopes = [gelu_slope(part) for part in trace.hidden]
    norms = row_norms(factors * encoder.head_slopes(trace.raw).square(), encoder.weights, slopes)
    return norms / trace.raw.shape[1]


def projected_penalty(
    encoder: StackedEncoder, trace: Trace, terms: Sequence[Term], directions: Sequence[Tensor]
) -> Tensor:
    """Return an unbiased estimate (members,) of `exact_penalty` from random directions.

    The squared length of a random direction's image, times the number of rows, replaces the sum over all rows.

    Parameters
    ----------
    directions
        Unit vectors (members, batch, rows) for each term.
    """
    members, batch, outputs = trace.raw.shape
    placed = trace.raw.new_zeros(members, batch, len(terms), outputs)
    for number, ((rows, factor), direction) in enumerate(zip(terms, directions, strict=True)):
        placed[:, :, number, rows] = math.sqrt(factor * direction.shape[-1]) * direction
    slopes = [gelu_slope(part) for part in trace.hidden]
    pulled = pull_back(placed * encoder.head_slopes(trace.raw)[:, :, None], encoder.weights, slopes)
    return pulled.square().sum(dim=(2, 3)).mean(dim=1)


def unit_directions(batch: int, terms: Sequence[Term], generators: Sequence[torch.Generator]) -> list[Tensor]:
    """Return random unit vectors (members, batch, rows) for each term, from the members' generators."""
    sizes = [rows.stop - rows.start for rows, _ in terms]
    drawn = torch.stack([torch.randn(batch, sum(sizes), generator=generator) for generator in generators])
    return [torch.nn.functional.normalize(part, dim=-1) for part in drawn.split(sizes, dim=-1)]


@dataclass(frozen=True)
class LinearRamp:
    """A weight that is first 0, rises linearly, and is then constant (RegCL, section 3).

    Parameters
    ----------
    on
        Step at which the rise begins.
    off
        Step at which the weight reaches `end`; not before `on`. If they are equal, the weight jumps.
    end
        Final weight.

    Examples
    --------
    >>> ramp = LinearRamp(on=2500, off=5000, end=0.1)
    >>> [ramp.weight(step) for step in (0, 2500, 3750, 20000)]
    [0.0, 0.0, 0.05, 0.1]
    """

    on: float
    off: float
    end: float

    def weight(self, step: int) -> float:
        """Return the weight at a step, counted from 0."""
        if step >= self.off:
            return self.end
        return self.end * (step - self.on) / (self.off - self.on) if step > self.on else 0.0
