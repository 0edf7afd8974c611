"""Data module of the simulated features: one data set per member of the stack."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import torch
from numpy.typing import NDArray

from sparseid.data.feature_matrix import FeatureData, FeatureTruth, Matrices
from sparseid.data.folds import split
from sparseid.data.seven_features.generator import FEATURES, FOLDS, SUPPORT, TEST_FOLD, draw

if TYPE_CHECKING:
    from sparseid.data.seven_features.settings import SevenFeaturesSettings


class SevenFeaturesData(FeatureData):
    """A data set per member; the held-out samples are the same for all.

    Parameters
    ----------
    config
        Settings of the simulation.
    seeds
        One per member, for its data set.
    batch_size
        Training samples of a member per step.
    """

    likelihood = "gaussian"
    features = FEATURES
    truth: FeatureTruth

    def __init__(self, config: SevenFeaturesSettings, seeds: Sequence[int], batch_size: int) -> None:
        self.config, self._split = config, split(config.samples, FOLDS, TEST_FOLD)
        super().__init__(seeds, batch_size, len(self._split[1]))
        self.feature_names = [f"x{number}" for number in range(1, FEATURES + 1)]

    def make(self) -> Matrices:
        """Draw the data set of every member."""
        factors, features = draw(self.config, self.seeds)
        train, test = self._split
        truth = FeatureTruth(_single(factors[:, train]), _single(factors[:, test]), torch.from_numpy(SUPPORT))
        return Matrices(_single(features[:, train]), _single(features[:, test]), truth)


def _single(values: NDArray) -> torch.Tensor:
    return torch.from_numpy(values).float()
