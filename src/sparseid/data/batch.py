"""What data sets hand to models."""

from __future__ import annotations

from typing import NamedTuple

import torch

PAD = -1
"""Fills label rows behind their end."""


class MotifBatch(NamedTuple):
    """A batch of inputs whose label is a sequence.

    Attributes
    ----------
    inputs
        (items, channels, *spatial) float32.
    labels
        (items, longest) int64 symbol sequences, padded by -1.
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
        (members, batch) int64: number of the environment of each sample.
    latents
        (members, batch, latents) float32: the true latents, for evaluation; None in training and validation.
    """

    inputs: torch.Tensor
    labels: torch.Tensor
    environments: torch.Tensor
    latents: torch.Tensor | None = None
