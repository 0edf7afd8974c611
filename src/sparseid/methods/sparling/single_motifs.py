"""Classification of single motifs by Sparling's encoder, and by a classifier trained for it (Table 2)."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Protocol

import numpy as np
from torch import Tensor

from sparseid.data.batch import MotifBatch
from sparseid.data.motifs import SingleMotifTest
from sparseid.measurements import Measurement
from sparseid.metrics.single_motif import count_predictions, single_motif_error


class SingleMotifs(Protocol):
    """Interface of data modules with single motifs."""

    kinds: int
    """Number of motif kinds."""
    single_motif_tests: tuple[SingleMotifTest, ...]
    """Rows of the comparison."""

    def single_motif_set(self, name: str, items: int) -> Iterable[MotifBatch]:
        """Return the first items of a fixed set; a label is only the motif's kind."""


def strongest(maps: Tensor) -> Tensor:
    """Return the largest entry of each channel of maps (N, C, H, W), (N, C): the logits of a single motif's kind."""
    return maps.amax((2, 3))


def single_motif_errors(
    data: SingleMotifs, items: int, scores: Callable[[Tensor], Tensor], channels: int
) -> list[Measurement]:
    """Measure how often the strongest channel is that of another kind, for each test of the data.

    Parameters
    ----------
    data
        Data module with single motifs.
    items
        Number of items of each set.
    scores
        Maps inputs (N, in_channels, H, W) to scores (N, channels).
    channels
        Number of scores.
    """
    matrices: dict[str, np.ndarray] = {}
    for name in dict.fromkeys(test.set_name for test in data.single_motif_tests):
        matrices[name] = np.zeros((data.kinds, channels), np.int64)
        for batch in data.single_motif_set(name, items):
            predicted = scores(batch.inputs).argmax(1).cpu().numpy()
            matrices[name] += count_predictions(batch.labels[:, 0].cpu().numpy(), predicted, matrices[name].shape)
    return [
        Measurement(
            "direct_error", 100 * single_motif_error(matrices[test.set_name], test.without), "percent", items, test.keys
        )
        for test in data.single_motif_tests
    ]
