"""The MLP of one block of a transformer: two linear maps with a pointwise activation between them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial

import torch
from torch import Tensor
from torch.nn import functional

_tanh_gelu = partial(functional.gelu, approximate="tanh")

ACTIVATIONS: dict[str, Callable[[Tensor], Tensor]] = {
    "gelu": functional.gelu,
    "gelu_new": _tanh_gelu,
    "gelu_fast": _tanh_gelu,
    "gelu_pytorch_tanh": _tanh_gelu,
    "relu": functional.relu,
    "silu": functional.silu,
    "swish": functional.silu,
}
"""Pointwise activations by their names in configurations of ``transformers``."""
WEIGHTS = ("up_weight", "up_bias", "down_weight", "down_bias")
"""Tensors of an MLP."""


@dataclass(frozen=True)
class MLPBlock:
    """Weights of an MLP with one hidden layer.

    Attributes
    ----------
    up_weight, up_bias
        (hidden, width) and (hidden,): the map of its input to the hidden layer.
    down_weight, down_bias
        (width, hidden) and (width,): the map to its output.
    activation
        Name of the activation, one of `ACTIVATIONS`.
    """

    up_weight: Tensor
    up_bias: Tensor
    down_weight: Tensor
    down_bias: Tensor
    activation: str

    def to(self, device: torch.device) -> MLPBlock:
        """Return the MLP on a device."""
        weights = {name: getattr(self, name).to(device) for name in WEIGHTS}
        return replace(self, **weights)

    def __call__(self, inputs: Tensor) -> Tensor:
        """Return the outputs (..., width) of inputs (..., width)."""
        hidden = ACTIVATIONS[self.activation](functional.linear(inputs, self.up_weight, self.up_bias))
        return functional.linear(hidden, self.down_weight, self.down_bias)

    def slopes(self, inputs: Tensor) -> Tensor:
        """Return the derivatives (..., hidden) of the activation at the hidden layer of inputs (..., width)."""
        with torch.inference_mode(False), torch.enable_grad():  # also within a test
            before = functional.linear(inputs.clone(), self.up_weight, self.up_bias).requires_grad_()
            return torch.autograd.grad(ACTIVATIONS[self.activation](before).sum(), before)[0]
