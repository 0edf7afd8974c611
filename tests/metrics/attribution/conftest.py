"""The encoder that the arrays of other implementations were made with."""

from collections.abc import Callable

import pytest
import torch
from torch import nn


@pytest.fixture
def stored_encoder() -> Callable[..., nn.Sequential]:
    """Build the network whose weights W0.. and b0.. stand in stored arrays, with a clip or tanh at its end."""

    def build(arrays, head: str, last: str = "W3") -> nn.Sequential:
        layers: list[nn.Module] = []
        for weight, bias in (("W0", "b0"), ("W1", "b1"), ("W2", "b2"), (last, "b3")):
            linear = nn.Linear(*arrays[weight].shape[::-1])
            linear.weight.data, linear.bias.data = torch.tensor(arrays[weight]), torch.tensor(arrays[bias])
            layers += [linear, nn.GELU()]
        layers[-1] = nn.Hardtanh(-5, 5) if head == "clip" else nn.Tanh()
        return nn.Sequential(*layers)

    return build
