"""What coarse activations cost: labels decoded from motif maps whose values are those of a few bins (appendix I)."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import numpy as np
import torch
from torch import Tensor

from sparseid.measurements import Measurement
from sparseid.methods.sparling.evaluation import DecodedLabels
from sparseid.metrics.binning import equal_count_bins
from sparseid.metrics.edit_distance import edit_distances

BINS = (2, 4, 8, 16)
"""Numbers of bins, as published."""


class BinnedLabels:
    """Labels decoded from binned maps, for each number of bins.

    Parameters
    ----------
    maps
        Motif maps (N, C, H, W), batch by batch: the bins are those of their active values.
    end
        The end token.
    items
        Test items to decode so.
    """

    def __init__(self, maps: Iterable[Tensor], end: int, items: int) -> None:
        by_batch = [active_values(of_batch) for of_batch in maps]
        values = [np.concatenate(of_channel) for of_channel in zip(*by_batch, strict=True)]
        self.bins = {number: equal_count_bins(values, number) for number in BINS}
        self.labels = {number: DecodedLabels(end) for number in BINS}
        self.left = items

    def add(self, labels: Tensor, maps: Tensor, decode: Callable[[Tensor], Tensor]) -> None:
        """Decode the maps (N, C, H, W) of a test batch with each number of bins, unless there have been enough."""
        labels, maps = labels[: self.left], maps[: self.left]
        self.left -= len(labels)
        for number, bins in self.bins.items() if len(labels) else ():
            binned = torch.from_numpy(bins.apply(maps.cpu().numpy())).to(maps)
            self.labels[number].add(labels, decode(binned))

    def measurements(self, exact: DecodedLabels) -> list[Measurement]:
        """Return the accuracy lost against `exact`, decoded from the same items' own maps, in percent."""
        measured = []
        for number, binned in self.labels.items():
            items = len(binned.labels)
            own = edit_distances(exact.labels[:items], exact.decoded[:items])
            lost = float(np.mean(edit_distances(binned.labels, binned.decoded) - own))
            measured.append(Measurement("binning_delta", 100 * lost, "percent", items, {"bins": number}))
        return measured


def active_values(maps: Tensor) -> list[np.ndarray]:
    """Return the active (positive) values of each channel of maps (N, C, H, W)."""
    return [values[values > 0].cpu().numpy() for values in maps.transpose(0, 1).flatten(1)]
