"""Torch encoders wrapped for attribution: evaluation mode, checked inputs and outputs."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from sparseid.errors import InputError
from sparseid.metrics.tensors import as_tensor

Encoder = Callable[[Tensor], Tensor]
"""Maps (samples, D) to (samples, outputs), or a stack (members, samples, D) to (members, samples, outputs)."""


@contextmanager
def evaluation(encoder: Encoder) -> Iterator[None]:
    """Put a module into evaluation mode with gradients enabled, even within inference mode; restore every flag on exit.

    Dropout and batch norm then map each sample by itself. A function is called unchanged.
    """
    modules = list(encoder.modules()) if isinstance(encoder, nn.Module) else []
    flags = [module.training for module in modules]
    try:
        for module in modules:
            module.training = False
        with torch.inference_mode(False), torch.enable_grad():
            yield
    finally:
        for module, flag in zip(modules, flags, strict=True):
            module.training = flag


def as_inputs(encoder: Encoder, inputs: Tensor | NDArray[np.floating]) -> Tensor:
    """Return the inputs as a tensor in the encoder's precision and on its device.

    Raises
    ------
    ValueError
        If the shape is neither (samples, D) nor (members, samples, D), or an axis is empty.
    InputError
        If a value is not finite, or the encoder computes in half precision.
    """
    # a copy: the caller's values do not change, and values created in inference mode can be differentiated
    values = inputs.detach().clone() if isinstance(inputs, Tensor) else as_tensor(inputs)
    if values.dim() not in (2, 3) or not values.numel():
        text = "inputs must be (samples, features), or (members, samples, features) for a stack"
        raise ValueError(f"{text}, and not empty; got {tuple(values.shape)}")
    parameters = encoder.parameters() if isinstance(encoder, nn.Module) else iter(())
    like = next((parameter for parameter in parameters if parameter.is_floating_point()), None)
    if like is not None:
        values = values.to(like)
    elif not values.is_floating_point():
        values = values.to(torch.get_default_dtype())
    if values.dtype not in (torch.float32, torch.float64):
        raise InputError(f"Attributions need single or double precision, got {values.dtype}; convert with .float()")
    broken = int((~torch.isfinite(values).all(dim=-1)).sum())
    if broken:
        samples = values.shape[:-1].numel()
        raise InputError(f"{broken} of {samples} samples hold NaN or infinite values; drop or impute them")
    return values


def outputs_of(encoder: Encoder, inputs: Tensor) -> Tensor:
    """Return the encoder's outputs, (..., samples, outputs) for inputs (..., samples, D).

    Raises
    ------
    ValueError
        If the shape differs.
    TypeError
        If the encoder returns something else than a tensor.
    """
    outputs = encoder(inputs)
    if not isinstance(outputs, Tensor):
        text = f"the encoder returns a {type(outputs).__name__}, not a tensor"
        raise TypeError(f"{text}: pass a function that picks one, such as lambda x: encoder(x)[0]")
    if outputs.dim() != inputs.dim() or outputs.shape[:-1] != inputs.shape[:-1]:
        shapes = f"{tuple(inputs.shape)} to {tuple(outputs.shape)}"
        raise ValueError(f"the encoder must keep all axes but the last, which holds its outputs; it maps {shapes}")
    return outputs


def input_gradient(total: Tensor, inputs: Tensor, keep_graph: bool = False) -> Tensor:
    """Return d total / d inputs, in the shape of the inputs.

    Raises
    ------
    InputError
        If no gradient flows from the outputs back to the inputs.
    """
    gradient = None
    if total.requires_grad:
        (gradient,) = torch.autograd.grad(total, inputs, retain_graph=keep_graph, allow_unused=True)
    if gradient is None:
        text = "No gradient flows back to the encoder's inputs: look for detach() or no_grad() in it"
        raise InputError(f"{text}, or use method='feature_ablation', which needs none")
    return gradient
