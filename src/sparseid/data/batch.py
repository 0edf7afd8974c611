"""Batches that data sets pass to models."""

from __future__ import annotations

from typing import NamedTuple

import torch

PAD = -1
"""Padding of label rows after their end."""


class MotifBatch(NamedTuple):
    """A batch of inputs whose label is a sequence, or a class per position.

    Attributes
    ----------
    inputs
        (items, channels, *spatial) float32.
    labels
        (items, longest) int64 symbol sequences, padded by -1; or classes of positions, (items, positions).
    sites
        (motifs, 2 + 2 x spatial axes) int64, ordered by item: item, symbol and half-open start, stop per axis, in input
        positions. The ground truth for evaluation; training never reads it.
    """

    inputs: torch.Tensor
    labels: torch.Tensor
    sites: torch.Tensor


class EnvironmentBatch(NamedTuple):
    """A batch of a stack: every member's samples, each from one of several environments.

    Attributes
    ----------
    inputs
        (members, batch, features) float32.
    labels
        (members, batch) float32.
    environments
        (members, batch) int64: environment number of each sample.
    latents
        (members, batch, latents) float32: the true latents, for evaluation; None in training and validation.
    """

    inputs: torch.Tensor
    labels: torch.Tensor
    environments: torch.Tensor
    latents: torch.Tensor | None = None


class ContrastiveBatch(NamedTuple):
    """A training batch of a stack on time series.

    Attributes
    ----------
    inputs
        (members, parts x batch, features) float32; the parts are, in order, reference, negative, and one positive for
        each contrastive objective: in time, then by label. A method without contrastive objectives gets only the
        references.
    labels
        (members, batch, label size) float32: labels of the references.
    """

    inputs: torch.Tensor
    labels: torch.Tensor


class SeriesBatch(NamedTuple):
    """Samples of a stack of time series, in order of time.

    Attributes
    ----------
    inputs
        (members, samples, features) float32.
    labels
        (members, samples, label size) float32.
    latents
        (members, samples, latents) float32: the true latents; None if unknown.
    """

    inputs: torch.Tensor
    labels: torch.Tensor
    latents: torch.Tensor | None


class FeatureBatch(NamedTuple):
    """Samples of a stack of data matrices.

    Attributes
    ----------
    inputs
        (members, batch, features) float32, the targets of the reconstruction.
    """

    inputs: torch.Tensor


class FactorBatch(NamedTuple):
    """A batch of images of discrete factors.

    Attributes
    ----------
    inputs
        (items, channels, height, width) float32 in [0, 1].
    factors
        (items, factors) int64: levels of the factors, from 0. The ground truth for evaluation; training never reads it.
    """

    inputs: torch.Tensor
    factors: torch.Tensor


class ImageBatch(NamedTuple):
    """A batch of images with classes.

    Attributes
    ----------
    inputs
        (items, channels, height, width) float32 in [0, 1].
    labels
        (items,) int64: class of each image, from 0.
    """

    inputs: torch.Tensor
    labels: torch.Tensor


class ActivationBatch(NamedTuple):
    """Tokens in a transformer.

    Attributes
    ----------
    inputs, outputs
        (tokens, width) float32 each: what enters and what leaves an MLP.
    """

    inputs: torch.Tensor
    outputs: torch.Tensor
