"""Diverse Dictionary Learning as an estimator."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np
import pandas as pd
import torch

from sparseid.estimators.table import TableEstimator, npz_of
from sparseid.metrics.structure import support_of


class DiverseDictionary(TableEstimator):
    """Latents of observations that each depend on few of them, through any smooth function.

    Parameters
    ----------
    latents
        Number of latents; None for the preset's.
    standardise
        Scale columns to the mean and spread of the training rows.
    preset, max_samples, patience, random_state, device, outputs, progress, settings
        As for :class:`~sparseid.estimators.base.Estimator`.

    Attributes
    ----------
    jacobian_
        DataFrame (features, latents): mean absolute derivative of each feature by each latent on held-out rows.
    structure_
        DataFrame (features, latents) of bool: whether a feature depends on a latent, from a tenth of the largest
        dependence of that feature, latents in units of their standard deviations.
    rows_, baselines_, model_, n_features_in_, feature_names_in_
        As for :class:`~sparseid.SparseVAE`.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> observed = np.tanh(rng.normal(size=(40, 2)) @ [[1, 1, 0], [0, 1, 1]])
    >>> model = DiverseDictionary(latents=2, preset="smoke", patience=0).fit(observed)
    >>> model.transform(observed).shape, model.structure_.shape
    ((40, 2), (3, 2))
    """

    experiment = "ddl/arrays"
    frames: ClassVar[Mapping[str, int | None]] = {"jacobian_": 0, "structure_": 0}

    def __init__(
        self,
        latents: int | None = None,
        *,
        standardise: bool = True,
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
        self.latents, self.standardise = latents, standardise

    def _own_settings(self) -> dict[str, Any]:
        return {"data.latents": self.latents, "data.standardise": self.standardise}

    @property
    def _n_features_out(self) -> int:
        return self.model_.run.config.data.latents

    def fit(self, X: Any, y: Any = None) -> Self:
        """Train on observations.

        Parameters
        ----------
        X
            (N, features) array, sparse matrix or frame; the index of a frame holds ids of rows.
        y
            Not used.
        """
        return self._fit({"path.npz": npz_of(self._table(X, reset=True))})

    def _set_attributes(self, arrays: Mapping[str, np.ndarray], data: Any, inputs: Mapping[str, Path]) -> None:
        axes, dependence = (arrays["feature_names"], self._latent_names), arrays["dependence"][0]
        self.jacobian_ = pd.DataFrame(dependence, *axes)
        self.structure_ = pd.DataFrame(support_of(dependence * arrays["codes"].std(axis=0)), *axes)

    def score(self, X: Any, y: Any = None) -> float:
        """Return minus the mean squared error of reconstructions, as the run measures it on held-out rows.

        Parameters
        ----------
        X
            As for `transform`.
        y
            Not used.
        """
        inputs = torch.from_numpy(self._inputs(X))
        module: Any = self.model_.module
        with torch.inference_mode():
            outputs = module.model.decoder(module.model.encode(inputs[None]).mean)[0]
        return -float((outputs - inputs).square().mean())
