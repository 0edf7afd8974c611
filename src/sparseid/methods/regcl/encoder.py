"""Encoder of RegCL for a stack: a perceptron with a bounded head, and its exact Jacobian."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.nn.functional import gelu, hardtanh

from sparseid.methods.regcl.jacobian import gelu_slope, pull_back
from sparseid.stacking.layers import StackedLinear

UNITS = (30, 30, 10)
"""Units of the hidden layers per dimension of the output (authors' code)."""


class Trace(NamedTuple):
    """Intermediate values of a forward pass, for the derivatives.

    Attributes
    ----------
    outputs
        (members, batch, outputs)
    hidden
        (members, batch, units) of each hidden layer, before its activation.
    raw
        (members, batch, outputs) before the head.
    """

    outputs: Tensor
    hidden: list[Tensor]
    raw: Tensor

    def first(self, samples: int) -> Trace:
        """Return the trace of the first samples of every member."""
        return Trace(self.outputs[:, :samples], [part[:, :samples] for part in self.hidden], self.raw[:, :samples])


class StackedEncoder(nn.Module):
    """Linear maps with exact GELUs between them and a head that bounds the outputs, one per member.

    Parameters
    ----------
    features, outputs
        Sizes of an input and of an embedding.
    width
        The hidden layers have 30, 30 and 10 times this number of units.
    generators
        One per member, for its initial values.
    head
        clip: to [-scale, scale]; tanh: scale tanh(y / scale); identity.
    scale
        Bound of the outputs.
    """

    def __init__(
        self,
        features: int,
        outputs: int,
        width: int,
        generators: Sequence[torch.Generator],
        head: str = "clip",
        scale: float = 5.0,
    ) -> None:
        super().__init__()
        self.head, self.scale = head, scale
        sizes = [features, *(units * width for units in UNITS), outputs]
        self.layers = nn.ModuleList(StackedLinear(*pair, generators) for pair in pairwise(sizes))

    @torch.inference_mode(False)  # its copies must be usable with gradients, whoever asks for them
    def of(self, members: Sequence[int]) -> StackedEncoder:
        """Return an encoder with copies of some members, given by their positions."""
        chosen = copy.deepcopy(self)
        for parameter in chosen.parameters():
            parameter.data = parameter.data[list(members)]
        return chosen

    @property
    def weights(self) -> list[Tensor]:
        """Weights (members, in, out) of each linear map, in forward order."""
        return [layer.weight for layer in self.layers]  # type: ignore[misc]

    def trace(self, inputs: Tensor) -> Trace:
        """Encode (members, batch, features) and return the intermediate values for derivatives."""
        hidden, latest = [], inputs
        for layer in self.layers[:-1]:
            hidden.append(layer(latest))
            latest = gelu(hidden[-1])
        raw = self.layers[-1](latest)
        return Trace(self._bounded(raw), hidden, raw)

    def forward(self, inputs: Tensor) -> Tensor:
        """Map (members, batch, features) to (members, batch, outputs)."""
        return self.trace(inputs).outputs

    def jacobian(self, inputs: Tensor) -> Tensor:
        """Return the Jacobian (members, batch, outputs, features) at every input; rows of saturated outputs are 0."""
        trace = self.trace(inputs)
        directions = torch.diag_embed(self.head_slopes(trace.raw))
        return pull_back(directions, self.weights, [gelu_slope(part) for part in trace.hidden])

    def head_slopes(self, raw: Tensor) -> Tensor:
        """Return the derivative of the head at its inputs, in their shape; 0 for clipped outputs."""
        if self.head == "clip":
            return (raw.abs() < self.scale).to(raw)
        if self.head == "tanh":
            return 1 - (raw / self.scale).tanh().square()
        return torch.ones_like(raw)

    def _bounded(self, raw: Tensor) -> Tensor:
        if self.head == "clip":
            return hardtanh(raw, -self.scale, self.scale)
        if self.head == "tanh":
            return self.scale * (raw / self.scale).tanh()
        return raw
