"""Layers of a stack: parameters (members, in, out), inputs (members, batch, features)."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from itertools import pairwise

import torch
from torch import Tensor, nn


class StackedLinear(nn.Module):
    """One linear map per member.

    Parameters
    ----------
    in_features, out_features
        Sizes of the map of every member.
    generators
        One per member. Weights and bias are uniform in +-1/sqrt(in_features), as in `torch.nn.Linear`.
    bias
        Whether the map has a bias.

    Attributes
    ----------
    weight
        (members, in, out)
    bias
        (members, 1, out), or None.

    Examples
    --------
    >>> layer = StackedLinear(3, 2, [torch.Generator() for member in range(5)])
    >>> layer(torch.zeros(5, 10, 3)).shape
    torch.Size([5, 10, 2])
    """

    def __init__(
        self, in_features: int, out_features: int, generators: Sequence[torch.Generator], bias: bool = True
    ) -> None:
        super().__init__()
        bound = 1 / math.sqrt(in_features)

        def uniform(*shape: int) -> nn.Parameter:
            drawn = [torch.empty(shape).uniform_(-bound, bound, generator=generator) for generator in generators]
            return nn.Parameter(torch.stack(drawn))

        self.weight = uniform(in_features, out_features)
        self.bias = uniform(1, out_features) if bias else None

    def forward(self, inputs: Tensor) -> Tensor:
        """Map (members, batch, in) to (members, batch, out)."""
        if self.bias is None:
            return torch.bmm(inputs, self.weight)
        return torch.baddbmm(self.bias, inputs, self.weight)


def stacked_mlp(
    sizes: Sequence[int],
    generators: Sequence[torch.Generator],
    activation: Callable[[], nn.Module],
    last_bias: bool = True,
) -> nn.Sequential:
    """Return a multilayer perceptron per member: linear maps with activations in between.

    Parameters
    ----------
    sizes
        Numbers of features of the input, of every hidden layer and of the output.
    generators
        One per member.
    activation
        Creates the activation; an in-place one saves memory traffic, since a linear map does not need its output.
    last_bias
        Whether the last map has a bias. Before batch norm it must not: the norm removes it, so its gradient is pure
        rounding error and Adam would turn it into a random walk.

    Examples
    --------
    >>> networks = stacked_mlp([3, 8, 2], [torch.Generator() for member in range(5)], nn.ReLU)
    >>> networks(torch.zeros(5, 10, 3)).shape
    torch.Size([5, 10, 2])
    """
    layers: list[nn.Module] = []
    for place, (inputs, outputs) in enumerate(pairwise(sizes), start=2):
        bias = last_bias or place < len(sizes)
        layers += [StackedLinear(inputs, outputs, generators, bias), activation()]
    return nn.Sequential(*layers[:-1])


class StackedBatchNorm(nn.Module):
    """Batch norm without scale and shift, over the batch of each member.

    Parameters
    ----------
    members, features
        Sizes of the inputs.
    momentum
        Weight of the newest batch in the moving statistics that evaluation uses.
    """

    mean: Tensor
    variance: Tensor

    def __init__(self, members: int, features: int, momentum: float = 0.1) -> None:
        super().__init__()
        self.momentum = momentum
        self.register_buffer("mean", torch.zeros(members, features))
        self.register_buffer("variance", torch.ones(members, features))

    def forward(self, inputs: Tensor) -> Tensor:
        """Normalise (members, batch, features) over the batch; in evaluation mode by the moving statistics."""
        members, batch, features = inputs.shape
        flat = inputs.transpose(0, 1).reshape(batch, members * features)  # a channel per member and feature
        moving = self.mean.view(-1), self.variance.view(-1)
        flat = nn.functional.batch_norm(flat, *moving, training=self.training, momentum=self.momentum)
        return flat.view(batch, members, features).transpose(0, 1)
