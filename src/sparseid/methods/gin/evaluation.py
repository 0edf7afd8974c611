"""Measurements and pictures of a flow."""

from __future__ import annotations

import copy
from collections.abc import Iterable, Mapping
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.func import jacrev

from sparseid.measurements import Measurement, units
from sparseid.methods.gin.metrics import METRICS
from sparseid.methods.gin.networks import GINFlow

STEPS = tuple(np.linspace(-2, 2, 9).tolist())
"""Points of a traversal in units of the latent's standard deviation, as in the code of GIN."""
ROWS_AT_ONCE = 128
"""Rows of a Jacobian that are computed at a time."""
UNITS = units(METRICS)


class Latents(NamedTuple):
    """Distribution of the latents of some images: mean and population standard deviation, (latents,) each."""

    mean: Tensor
    deviation: Tensor


class Traversals(NamedTuple):
    """Images along single latents, in order of decreasing deviation.

    Attributes
    ----------
    latents, deviations
        (traversed,) numbers of the latents, and their deviations.
    images
        (traversed, steps, height, width) float32, in [0, 1]; all other latents are at their mean.
    changes
        (traversed, height, width) float32: absolute difference of the images at plus and minus one deviation, neither
        cut to [0, 1].
    """

    latents: NDArray[np.int64]
    deviations: NDArray[np.float32]
    images: NDArray[np.float32]
    changes: NDArray[np.float32]


@torch.no_grad()
def distribution(flow: GINFlow, batches: Iterable[Tensor]) -> Latents:
    """Return the distribution of the latents of images (batches of (items, channels, side, side))."""
    latents = torch.cat([flow(images) for images in batches])
    return Latents(latents.mean(dim=0), latents.std(dim=0, correction=0))


@torch.no_grad()
def traverse(flow: GINFlow, of: Latents, traversed: int) -> Traversals:
    """Return the traversals of the latents with the largest deviations, around the mean of all."""
    order = of.deviation.argsort(descending=True, stable=True)[:traversed]
    deviations = of.deviation[order]
    steps = torch.tensor((*STEPS, -1.0, 1.0), device=order.device)
    moved = of.mean.repeat(len(order), len(steps), 1)
    moved[torch.arange(len(order)), :, order] += deviations[:, None] * steps
    images = flow.inverse(moved.flatten(0, 1)).unflatten(0, moved.shape[:2])[:, :, 0]
    shown, (below, above) = images[:, : len(STEPS)].clamp(0, 1), images[:, len(STEPS) :].unbind(dim=1)
    return Traversals(
        *(values.cpu().numpy() for values in (order, deviations, shown, (above - below).abs())),
    )


@torch.no_grad()
def inverse_error(flow: GINFlow, images: Tensor) -> Tensor:
    """Return (a scalar) the largest absolute error of the inverse over images (items, channels, side, side)."""
    return (flow.inverse(flow(images)) - images).abs().max()


@torch.no_grad()
def log_abs_dets(flow: GINFlow, images: Tensor) -> Tensor:
    """Return the log absolute determinants (items,) of the Jacobian at images, all in double precision."""
    exact = copy.deepcopy(flow).double()
    return torch.stack([_log_abs_det(exact, image) for image in images.double()])


def _log_abs_det(flow: GINFlow, image: Tensor) -> Tensor:
    of_pixels = jacrev(lambda flat: flow(flat.view(1, *image.shape))[0], chunk_size=ROWS_AT_ONCE)
    return torch.linalg.slogdet(of_pixels(image.flatten())).logabsdet


def moved_share(changes: NDArray[np.floating]) -> float:
    """Return the share of pixels that change along a latent, averaged over latents, without a threshold.

    It is (sum |c|)^2 / (pixels sum c^2): 1 if all pixels change alike, k / pixels if k of them do; latents that change
    nothing are left out.

    Examples
    --------
    >>> moved_share(np.array([[[0.0, 2.0], [0.0, 2.0]]]))
    0.5
    """
    flat = np.abs(changes.reshape(len(changes), -1)).astype(float)
    squares = (flat**2).sum(axis=1)
    shares = flat.sum(axis=1)[squares > 0] ** 2 / (flat.shape[1] * squares[squares > 0])
    return float(shares.mean()) if len(shares) else 0.0


def factor_correlations(
    codes: NDArray[np.floating], factors: Mapping[str, NDArray[np.floating]]
) -> dict[str, tuple[float, int]]:
    """Return the largest absolute correlation of each true factor with a latent, and the number of its images.

    Parameters
    ----------
    codes
        (images, latents) latents.
    factors
        Factors by name, (images,) each, NaN for images that do not have it.
    """
    found = {}
    for name, values in factors.items():
        known = np.isfinite(values)
        own, theirs = values[known] - values[known].mean(), codes[known] - codes[known].mean(axis=0)
        sizes = np.sqrt((own**2).sum() * (theirs**2).sum(axis=0))
        found[name] = float(np.max(np.abs(own @ theirs) / np.where(sizes > 0, sizes, np.inf))), int(known.sum())
    return found


def measure(
    losses: Tensor,
    error: float,
    log_dets: Tensor,
    traversals: Traversals,
    correlations: Mapping[str, tuple[float, int]],
) -> list[Measurement]:
    """Return the measurements of a flow.

    Parameters
    ----------
    losses
        (items,) negative log likelihood of each test image, per pixel.
    error
        Largest error of the inverse over the test images.
    log_dets
        (images,) from `log_abs_dets`.
    traversals
        From `traverse`.
    correlations
        From `factor_correlations`.
    """
    values = {
        "flow_nll": (float(losses.mean()), len(losses)),
        "log_abs_det_max": (float(log_dets.abs().max()), len(log_dets)),
        "inverse_error": (error, len(losses)),
        "moved_share": (moved_share(traversals.changes), len(traversals.latents)),
        "largest_deviation": (float(traversals.deviations[0]), 1),
    }
    return [Measurement(name, value, UNITS[name], items) for name, (value, items) in values.items()] + [
        Measurement("factor_correlation", value, UNITS["factor_correlation"], items, {"factor": factor})
        for factor, (value, items) in correlations.items()
    ]
