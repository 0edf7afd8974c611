"""Attribution maps of an encoder: one call for any method, any module, and a whole stack of encoders."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING, Literal, get_args

import torch
from torch import Tensor

from sparseid.metrics.attribution.encoders import Encoder, as_inputs, evaluation, outputs_of
from sparseid.metrics.attribution.gradients import (
    Baselines,
    Jacobian,
    feature_ablation,
    gradient_shap,
    integrated_gradients,
    jacobian_by_backward,
    shap_draws,
)
from sparseid.metrics.attribution.inverse import inverted

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

Method = Literal["neuron_gradient", "integrated_gradients", "feature_ablation", "gradient_shap", "inverted_jacobian"]
Aggregate = Literal["mean", "max"]

CHUNK = 1024
"""Samples of every member that are processed at once."""


def attribution_map(
    encoder: Encoder,
    inputs: Tensor | NDArray[np.floating],
    method: Method = "inverted_jacobian",
    *,
    aggregate: Aggregate = "mean",
    baselines: Baselines = "zeros",
    seeds: int | Sequence[int] = 0,
    jacobian: Jacobian | None = None,
    chunk: int = CHUNK,
) -> NDArray[np.float64]:
    """Return the map of each output's dependence on each feature, aggregated over all samples.

    Parameters
    ----------
    encoder
        A module or function that maps each sample of (samples, D) by itself to (samples, outputs), or a stack that
        maps (members, samples, D) to (members, samples, outputs). A module is called in evaluation mode; its
        flags are restored.
    inputs
        (samples, D) or (members, samples, D); converted to the precision and device of the module's parameters.
    method
        ``neuron_gradient``: the Jacobian J_f. ``integrated_gradients``: from zero, 50 Gauss-Legendre nodes.
        ``feature_ablation``: change of the output when a feature is set to zero. ``gradient_shap``: expected gradients
        of 5 random draws per sample. ``inverted_jacobian``: pseudo-inverse of the Jacobian of all outputs, transposed
        (RegCL; choose rows of the map afterwards).
    aggregate
        ``mean`` or ``max`` over samples of the absolute attribution. The mean is the paper's sum (Eq. 35) up to scale.
    baselines
        Baselines of gradient_shap: ``zeros``, or ``shuffled`` (all entries of the inputs permuted over samples and
        features).
    seeds
        Seeds of gradient_shap's draws: one per member, or one for all.
    jacobian
        A faster Jacobian of this encoder, if available: (..., samples, D) to (..., samples, outputs, D). The default
        takes one backward pass per output.
    chunk
        Samples of every member processed at once: bounds the memory and does not change the map.

    Returns
    -------
    NDArray
        (outputs, D) or (members, outputs, D). More outputs than features, and rows of zeros (saturated outputs), have
        a pseudo-inverse and therefore a map. NaN for a member whose encoder returns NaN.

    Raises
    ------
    ValueError
        If an argument has an unknown name or a wrong shape.
    InputError
        If an input is not finite, the encoder computes in half precision, or no gradient flows back to its inputs.

    Examples
    --------
    >>> encoder = torch.nn.Linear(3, 1, bias=False)
    >>> encoder.weight.data = torch.tensor([[0.0, 3.0, -4.0]])
    >>> samples = torch.ones(10, 3)
    >>> attribution_map(encoder, samples, "neuron_gradient").tolist()
    [[0.0, 3.0, 4.0]]
    >>> attribution_map(encoder, samples).round(6).tolist()  # the row divided by its squared length
    [[0.0, 0.12, 0.16]]
    """
    if aggregate not in get_args(Aggregate):
        raise ValueError(f"aggregate must be mean or max, got {aggregate!r}")
    with evaluation(encoder):
        values = as_inputs(encoder, inputs)
        parts = [
            (part.abs().double().sum(dim=-3) if aggregate == "mean" else part.abs().double().amax(dim=-3))
            for part in _chunks(encoder, values, method, baselines, seeds, jacobian, chunk)
        ]
        whole = torch.stack(parts)
        result = whole.sum(dim=0) / values.shape[-2] if aggregate == "mean" else whole.amax(dim=0)
    return result.cpu().numpy()


def attributions(
    encoder: Encoder,
    inputs: Tensor | NDArray[np.floating],
    method: Method = "inverted_jacobian",
    *,
    baselines: Baselines = "zeros",
    seeds: int | Sequence[int] = 0,
    jacobian: Jacobian | None = None,
    chunk: int = CHUNK,
) -> Tensor:
    """Return the signed attribution of every sample, (samples, outputs, D) or (members, samples, outputs, D).

    Arguments and errors are those of :func:`attribution_map`. The precision is the encoder's; float64 for
    ``inverted_jacobian``.
    """
    with evaluation(encoder):
        values = as_inputs(encoder, inputs)
        return torch.cat(list(_chunks(encoder, values, method, baselines, seeds, jacobian, chunk)), dim=-3)


def _chunks(
    encoder: Encoder,
    inputs: Tensor,
    method: Method,
    baselines: Baselines,
    seeds: int | Sequence[int],
    jacobian: Jacobian | None,
    chunk: int,
) -> Iterator[Tensor]:
    """Yield the attributions (..., samples, outputs, D), one chunk of samples at a time."""
    if method not in get_args(Method):
        raise ValueError(f"method must be one of {', '.join(get_args(Method))}; got {method!r}")
    if chunk < 1:
        raise ValueError(f"chunk must be 1 or more, got {chunk}")
    rows = partial(_checked, jacobian) if jacobian else partial(jacobian_by_backward, encoder)
    if method == "gradient_shap":
        with torch.no_grad():
            outputs = outputs_of(encoder, inputs[..., :1, :]).shape[-1]
        draws = shap_draws(inputs, outputs, baselines, seeds)
    for start in range(0, inputs.shape[-2], chunk):
        end = min(start + chunk, inputs.shape[-2])
        part = inputs[..., start:end, :]
        if method == "feature_ablation":
            yield feature_ablation(encoder, part)
        elif method == "gradient_shap":
            yield gradient_shap(encoder, part, draws.of_samples(start, end))
        elif method == "integrated_gradients":
            yield integrated_gradients(rows, part)
        else:
            yield inverted(rows(part)) if method == "inverted_jacobian" else rows(part)


def _checked(jacobian: Jacobian, inputs: Tensor) -> Tensor:
    """Return the caller's own Jacobian of these inputs, after a check of its shape."""
    rows = jacobian(inputs).detach()
    if rows.dim() != inputs.dim() + 1 or rows.shape[:-2] != inputs.shape[:-1] or rows.shape[-1] != inputs.shape[-1]:
        shapes = f"{tuple(rows.shape)} for inputs {tuple(inputs.shape)}"
        raise ValueError(f"jacobian must return (..., samples, outputs, features), got {shapes}")
    return rows
