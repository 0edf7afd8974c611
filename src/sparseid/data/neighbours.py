"""Positives by label: the sample whose label is nearest to a reference's label plus a random change of labels.

The authors' code searches all samples for every reference of every batch. Here each reference gets a few positives in
advance, by a k-d tree: a batch is then a look-up, and the pairs have the same distribution.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from numpy.typing import NDArray
from scipy.spatial import cKDTree
from torch import Tensor

from sparseid.streams import Streams


class LabelIndex:
    """Index of samples by label, for nearest-neighbour queries.

    Parameters
    ----------
    labels
        (samples, label size) float32.
    """

    def __init__(self, labels: NDArray[np.float32]) -> None:
        self.labels = labels
        distinct, self._first = np.unique(labels, axis=0, return_index=True)
        self._tree = cKDTree(distinct)  # trees of many equal points are slow

    def nearest(self, queries: NDArray[np.float32], threads: int = 1) -> NDArray[np.int64]:
        """Return the sample (queries,) whose label is nearest in Euclidean distance; of equal labels the first."""
        return self._first[self._tree.query(queries, workers=threads)[1]]


def label_changes(labels: NDArray[np.float32], time_delta: int) -> NDArray[np.float32]:
    """Return the changes c_t - c_(t - time_delta), (samples, label size); the first `time_delta` rows are 0."""
    changes = np.zeros_like(labels)
    changes[time_delta:] = labels[time_delta:] - labels[:-time_delta]
    return changes


def label_positives(
    labels: NDArray[np.float32], time_delta: int, count: int, rng: np.random.Generator, threads: int = 1
) -> NDArray[np.int32]:
    """Return positives (samples, count) of each sample as a reference.

    For each positive a change of labels is drawn uniformly from those of all time steps; the positive is the sample
    whose label is nearest to the reference's plus this change, which may be the reference itself.
    """
    changes, index = label_changes(labels, time_delta), LabelIndex(labels)
    table = np.empty((len(labels), count), dtype=np.int32)
    for column in range(count):
        drawn = changes[rng.integers(len(labels), size=len(labels))]
        table[:, column] = index.nearest(labels + drawn, threads)
    return table


def positive_tables(labels: Tensor, seeds: Sequence[int], time_delta: int, count: int) -> Tensor:
    """Return (members, samples, count) int32: `label_positives` of each member, drawn from the member's own stream.

    Parameters
    ----------
    labels
        (members, samples, label size) float32.
    seeds
        One per member.
    """
    threads = torch.get_num_threads()
    tables = [
        label_positives(own, time_delta, count, Streams(seed).numpy("batches/label_positives"), threads)
        for own, seed in zip(labels.cpu().numpy(), seeds, strict=True)
    ]
    return torch.from_numpy(np.stack(tables))
