"""Regularised contrastive learning as an estimator."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np
import pandas as pd

from sparseid.data.arrays.settings import BEHIND
from sparseid.data.tables.names import counted
from sparseid.estimators.base import RefusedInput, npz
from sparseid.estimators.table import TableEstimator, labels_of
from sparseid.metrics.linear_r2 import linear_r2


class RegCL(TableEstimator):
    """Embedding of a time series by contrasts in time and by label, and the map of what its labels depend on.

    Parameters
    ----------
    latents
        Size of an embedding, which ends with the coordinates of the labels.
    training
        hybrid (contrasts in time and by label), supervised_contrastive (only by label) or supervised (regression of the
        labels); the last two embed only the labels.
    standardise
        Scale observations and labels to the mean and spread of the training samples.
    preset, max_samples, patience, random_state, device, outputs, progress, settings
        As for :class:`~sparseid.estimators.base.Estimator`.

    Attributes
    ----------
    attribution_
        DataFrame (labels, features): map of the pseudo-inverse Jacobian (inverted neuron gradient) of each label's
        coordinate, averaged over training samples.
    rows_, baselines_, model_, n_features_in_, feature_names_in_
        As for :class:`~sparseid.SparseVAE`.

    Examples
    --------
    >>> time = np.arange(400) / 10
    >>> observed = np.stack([np.sin(time), np.cos(time), np.sin(time / 3), np.cos(time / 3)], axis=1)
    >>> model = RegCL(latents=2, preset="smoke").fit(observed, np.sin(time))
    >>> model.transform(observed).shape, model.attribution_.shape
    ((400, 2), (1, 4))
    """

    experiment = "regcl/arrays"
    data, layout = "X and y", BEHIND
    frames: ClassVar[Mapping[str, int | None]] = {"attribution_": 1}
    needs_labels = True

    def __init__(
        self,
        latents: int = 3,
        *,
        training: str = "hybrid",
        standardise: bool = False,
        preset: str = "small",
        max_samples: int | None = None,
        patience: int | None = None,
        random_state: int | np.random.RandomState | None = 0,
        device: str = "auto",
        outputs: str | None = None,
        progress: bool = False,
        settings: Mapping[str, Any] | None = None,
    ) -> None:
        super().__init__(preset, max_samples, patience, random_state, device, outputs, progress, settings)
        self.latents, self.training, self.standardise = latents, training, standardise

    def _own_settings(self) -> dict[str, Any]:
        own = {"latents": self.latents, "standardise": self.standardise}
        return {"method.training": self.training, **{f"data.{name}": value for name, value in own.items()}}

    @property
    def _fewest_features(self) -> int:
        return self.latents

    @property
    def _n_features_out(self) -> int:
        module: Any = self.model_.module
        return module.layout.size

    def fit(self, X: Any, y: Any) -> Self:
        """Train on a time series.

        Parameters
        ----------
        X
            (N, features) array, sparse matrix or frame: observations, in the order of time.
        y
            (N,) or (N, labels) array, series or frame: what is known at each time.
        """
        if not isinstance(self.latents, int | np.integer) or self.latents < 1:  # in the run, 0 has a meaning
            raise RefusedInput(f"latents must be a whole number of at least 1, not {self.latents!r}")
        table = self._table(X, reset=True)
        labels = labels_of(self, y, table.ids)
        arrays = {"observations": table.values, "labels": labels.values, "label_names": labels.names}
        return self._fit({"path.npz": npz(**arrays, feature_names=table.names)})

    def _set_attributes(self, arrays: Mapping[str, np.ndarray], data: Any, inputs: Mapping[str, Path]) -> None:
        with np.load(inputs["path"], allow_pickle=False) as file:
            labels, features = file["label_names"], file["feature_names"]
            known = file["labels"][: data.train_items]
        seen = data.make().inputs[0, : data.train_items]
        self._train = self.model_.transform(seen)[0][:, self._label_coordinates], known
        self.attribution_ = pd.DataFrame(arrays["map_jf_plus"][0], labels, features)

    def score(self, X: Any, y: Any) -> float:
        """Return R2 of the labels, regressed on their coordinates of the training samples' embedding.

        Parameters
        ----------
        X, y
            As for `fit`.
        """
        embedding = self._codes(X)[:, self._label_coordinates]
        return float(linear_r2(*self._train, embedding, labels_of(self, y, counted(embedding)).values))

    @property
    def _label_coordinates(self) -> slice:
        module: Any = self.model_.module
        return module.layout.factors["labels"].embedding
