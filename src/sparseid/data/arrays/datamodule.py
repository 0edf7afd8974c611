"""Data module of a user-provided time series, the same for all members of the stack."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import torch
from numpy.typing import NDArray

from sparseid.data.arrays.reader import embedding_size, series_of
from sparseid.data.contrastive import ContrastiveData, Series
from sparseid.data.time_series import Factors

if TYPE_CHECKING:
    from sparseid.data.arrays.settings import ArraysSettings


class ArraysData(ContrastiveData):
    """Batches of a user-provided series for a stack whose members differ only in initialisation and batches.

    The labels' factor is z2, the last latents, as in setting a of the latent walk. If the file's map has only its rows,
    those of z1 are all True, as in the paper; the rows of z2 are scored.

    Parameters
    ----------
    config
        Settings that name the file.
    seeds
        One per member.
    batch_size
        Number of references of a member in a batch.

    Raises
    ------
    InputError
        If the file cannot be used.
    """

    has_baselines = True

    def __init__(self, config: ArraysSettings, seeds: Sequence[int], batch_size: int) -> None:
        self.series = series = series_of(config)
        split = len(series.observations), config.held_out, config.attribution_samples
        super().__init__(seeds, batch_size, *split, config.sampling)
        self.remarks += series.remarks
        self.input_scale = series.scale
        self.features, self.label_dim = series.observations.shape[1], series.labels.shape[1]
        self.latents = embedding_size(config, series)
        first = self.latents - self.label_dim
        self.latent_rows = Factors(slice(0, first), slice(first, self.latents))
        self.label_rows = self.latent_rows.z2
        self.names = {
            name: names for name in ("feature_names", "label_names") if (names := getattr(series, name)) is not None
        }
        self.truth = None
        if series.truth is not None:
            truth = torch.ones(self.latents, self.features, dtype=torch.bool)
            truth[-len(series.truth) :] = torch.from_numpy(series.truth)
            self.truth = truth.repeat(len(self.seeds), 1, 1)

    def make(self) -> Series:
        """Return the series, once per member."""
        latents = None if self.series.latents is None else self._shared(self.series.latents)
        return Series(self._shared(self.series.observations), self._shared(self.series.labels), latents)

    def _shared(self, values: NDArray[np.float32]) -> torch.Tensor:
        return torch.from_numpy(values).expand(len(self.seeds), -1, -1)
