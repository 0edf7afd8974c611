"""What a spatial-motif data set hands to a model: inputs, sequences of labels, and where the motifs truly are."""

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
