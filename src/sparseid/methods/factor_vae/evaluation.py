"""Scores and pictures of any encoder and decoder of images whose true factors are known.

The observations are drawn from fixed streams, the same for all runs on the same factors, and each is encoded once,
however often it is drawn.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from sparseid.measurements import Measurement, units
from sparseid.methods.factor_vae.metrics import METRICS
from sparseid.methods.factor_vae.settings import ScoreSettings
from sparseid.metrics.dci import ClassDCI, dci_of_classes
from sparseid.metrics.factor_vae_score import (
    FactorVAEScore,
    code_variances,
    factor_vae_score,
    looked_up_votes,
)
from sparseid.streams import FIXED

if TYPE_CHECKING:
    from sparseid.data.factors import FactorGrid

ENCODED_AT_ONCE = 256
"""Number of images that are encoded at a time."""
SHOWN = 2
"""Number of images that are saved with their traversals."""
TRAVERSED = tuple(np.linspace(-2, 2, 9).tolist())
"""Values of the latent of a traversal, as in disentanglement_lib."""
UNITS = units(METRICS)

Inputs = Callable[[NDArray[np.integer]], Tensor]
"""Maps combinations (batch, factors) of a grid to their images (batch, channels, height, width) in [0, 1]."""
Encode = Callable[[Tensor], Tensor]
"""Maps images (batch, channels, height, width) to codes (batch, dims)."""
Decode = Callable[[Tensor], Tensor]
"""Maps codes (batch, dims) to images (batch, channels, height, width) in [0, 1]."""


class Scored(NamedTuple):
    """Both scores of an encoder."""

    votes: FactorVAEScore
    dci: ClassDCI


def pixels_of(images: Tensor) -> NDArray[np.uint8]:
    """Return images (..., channels, height, width) in [0, 1] as pixels (..., height, width, channels)."""
    return (255 * images.clamp(0, 1)).round().byte().movedim(-3, -1).cpu().numpy()


@torch.no_grad()
def scores_of(encode: Encode, inputs: Inputs, grid: FactorGrid, settings: ScoreSettings) -> Scored:
    """Return FactorVAE score and DCI of an encoder.

    Parameters
    ----------
    encode
        The encoder.
    inputs, grid
        The images and their factors.
    settings
        Numbers of votes and samples.
    """

    def stream(name: str) -> np.random.Generator:
        return FIXED.numpy(f"factor scores/{name}")

    fixed, drawn = [], []
    for name, votes in (("train votes", settings.train_votes), ("eval votes", settings.eval_votes)):
        rng = stream(name)
        fixed.append(rng.integers(len(grid.sizes), size=votes))
        drawn.append(grid.sample_fixed(fixed[-1], settings.vote_batch, rng))
    counts = {"variance": settings.variance_samples, "train": settings.dci_train, "test": settings.dci_test}
    samples = [grid.sample(count, stream(name)) for name, count in counts.items()]
    codes, (train, evaluation, spread, fitted, held_out) = encoded(encode, inputs, grid, [*drawn, *samples])
    train_votes, eval_votes = (
        looked_up_votes(codes, index, of_votes) for index, of_votes in zip((train, evaluation), fixed, strict=True)
    )
    return Scored(
        factor_vae_score(train_votes, eval_votes, code_variances(codes[spread]), len(grid.sizes)),
        dci_of_classes(codes[fitted], samples[1], codes[held_out], samples[2]),
    )


def encoded(
    encode: Encode, inputs: Inputs, grid: FactorGrid, drawn: Sequence[NDArray[np.integer]]
) -> tuple[NDArray[np.floating], list[NDArray[np.int64]]]:
    """Encode each different observation once.

    Parameters
    ----------
    encode, inputs, grid
        See `scores_of`.
    drawn
        Arrays (..., factors) of factors.

    Returns
    -------
    codes, index
        Codes (points, dims) of all different observations, and for each of `drawn` the rows (...) of its codes.
    """
    numbers = [grid.index(factors) for factors in drawn]
    points, rows = np.unique(np.concatenate([each.ravel() for each in numbers]), return_inverse=True)
    factors = grid.at(points)
    parts = [
        encode(inputs(factors[start : start + ENCODED_AT_ONCE])).float().cpu().numpy()
        for start in range(0, len(factors), ENCODED_AT_ONCE)
    ]
    ends = np.cumsum([each.size for each in numbers])[:-1]
    index = [part.reshape(each.shape) for part, each in zip(np.split(rows.ravel(), ends), numbers, strict=True)]
    return np.concatenate(parts), index


def measure(scored: Scored, settings: ScoreSettings, errors: NDArray[np.floating]) -> list[Measurement]:
    """Return the measurements of an autoencoder.

    Parameters
    ----------
    scored, settings
        From `scores_of`.
    errors
        (images,) cross-entropy of each test image.
    """
    error = Measurement("image_error", float(errors.mean()), UNITS["image_error"], len(errors))
    return [*measure_scores(scored, settings), error]


def measure_scores(scored: Scored, settings: ScoreSettings) -> list[Measurement]:
    """Return the measurements of an encoder; both arguments are those of `scores_of`."""
    values = {
        "factorvae_score": (scored.votes.eval_accuracy, settings.eval_votes),
        "factorvae_score_train": (scored.votes.train_accuracy, settings.train_votes),
        "active_dims": (float(scored.votes.active.sum()), settings.variance_samples),
        "dci_disentanglement": (scored.dci.disentanglement, settings.dci_train),
        "dci_completeness": (scored.dci.completeness, settings.dci_train),
        "dci_train_accuracy": (scored.dci.train_accuracy, settings.dci_train),
        "dci_test_accuracy": (scored.dci.test_accuracy, settings.dci_test),
    }
    return [Measurement(name, value, UNITS[name], samples) for name, (value, samples) in values.items()]


@torch.no_grad()
def pictures_of(encode: Encode, decode: Decode, inputs: Inputs, grid: FactorGrid) -> dict[str, NDArray]:
    """Return some images, what becomes of them, and their traversals.

    These are `examples` and `reconstructions` (images, height, width, channels) uint8, and `traversals` (images, dims,
    values, height, width, channels) uint8: each dimension of an image's code is set to `traversal_values`, the others
    stay.
    """
    images = inputs(grid.sample(SHOWN, FIXED.numpy("factor scores/examples")))
    codes = encode(images)
    values = torch.tensor(TRAVERSED, device=codes.device, dtype=codes.dtype)
    moved = codes[:, None, None].repeat(1, codes.shape[1], len(values), 1)  # (images, varied, values, dims)
    moved.diagonal(dim1=1, dim2=3).copy_(values[:, None].expand(SHOWN, -1, codes.shape[1]))
    decoded = torch.cat([decode(part) for part in moved.flatten(0, 2).split(ENCODED_AT_ONCE)])
    return {
        "examples": pixels_of(images),
        "reconstructions": pixels_of(decode(codes)),
        "traversals": pixels_of(decoded.unflatten(0, moved.shape[:3])),
        "traversal_values": values.cpu().numpy(),
    }


def arrays_of(scored: Scored) -> dict[str, NDArray]:
    """Return arrays for figures: `active` (dims,), `votes` (factors, dims) and `importance` (dims, factors)."""
    return {"active": scored.votes.active, "votes": scored.votes.votes, "importance": scored.dci.importance}
