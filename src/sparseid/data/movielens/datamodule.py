"""Data module of film ratings: one binary matrix for all members of the stack."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import torch

from sparseid.data.feature_matrix import FeatureData, Matrices
from sparseid.data.folds import split
from sparseid.data.movielens.prepare import prepared
from sparseid.data.movielens.settings import SYNTHETIC
from sparseid.data.movielens.sources import PAPERS
from sparseid.errors import InputError

if TYPE_CHECKING:
    from sparseid.data.movielens.settings import MovielensSettings


class MovielensData(FeatureData):
    """Training and held-out users; members differ only in initialisation and batches.

    Parameters
    ----------
    config
        Settings of the ratings.
    seeds
        One per member.
    batch_size
        Training users of a member per step.

    Raises
    ------
    InputError
        If the files or a setting cannot be used.
    """

    likelihood = "multinomial"
    topic_size = 4

    def __init__(self, config: MovielensSettings, seeds: Sequence[int], batch_size: int) -> None:
        made = prepared(config)
        self._matrix, self.feature_names = made.matrix, made.titles.tolist()
        self.feature_kinds = made.genres.tolist()
        self._split = split(len(made.matrix), config.folds, config.fold)
        if not all(map(len, self._split)):
            text = f"{len(made.matrix)} users are too few for {config.folds} folds: lower data.folds"
            raise InputError(text, ("data.folds", "data.path"))
        super().__init__(seeds, batch_size, len(self._split[1]))
        self.features = made.matrix.shape[1]
        self.note = _note(config.source)
        self.has_baselines = config.source not in (PAPERS, SYNTHETIC) or bool(config.path)
        self.record_files(config.user_files().values())
        self.remarks += [made.remark] if made.remark else []
        self.remarks.append(f"{len(made.matrix)} users, {self.features} films, {made.matrix.sum()} positive ratings")

    def make(self) -> Matrices:
        """Return the training users and those of the held-out fold."""
        train, test = (torch.from_numpy(self._matrix[part]).float()[None] for part in self._split)
        return Matrices(train, test)


def _note(source: str) -> str:
    if source == PAPERS:
        return ""
    if source == SYNTHETIC:
        return "synthetic ratings, not MovieLens"
    return f"{source}, where the paper has {PAPERS}"
