"""The Sparse VAE as an estimator."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np
import pandas as pd
import torch

from sparseid.data.feature_matrix import CHUNK
from sparseid.estimators.table import TableEstimator, npz_of
from sparseid.methods.sparse_vae.evaluation import scores_of


class SparseVAE(TableEstimator):
    """Factors of a matrix, each of which few features depend on.

    Parameters
    ----------
    latents
        Number of factors; None for the preset's.
    likelihood
        gaussian (real values) or multinomial (counts).
    standardise
        Scale real values to the mean and spread of the training rows; counts are never scaled.
    preset, max_samples, patience, random_state, device, outputs, progress, settings
        As for :class:`~sparseid.estimators.base.Estimator`.

    Attributes
    ----------
    factors_
        DataFrame (features, latents): the selector W; features with large entries in a column depend on that factor.
    mask_
        DataFrame (features, latents) of bool: entries of W that more probably belong to the slab than to the spike.
    rows_
        DataFrame of the run's results on held-out rows, those of baselines included.
    baselines_
        DataFrame (baselines, metrics) of the baselines' results.
    model_
        The trained model, :class:`~sparseid.training.trained.TrainedModel`.
    n_features_in_, feature_names_in_
        Number of features, and their names if they have any.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> table = pd.DataFrame(rng.normal(size=(40, 1)) @ [[1, 1, -1]], columns=["height", "weight", "age"])
    >>> model = SparseVAE(latents=2, preset="smoke", patience=0).fit(table)
    >>> model.transform(table).shape, model.factors_.index.tolist()
    ((40, 2), ['height', 'weight', 'age'])
    >>> import anndata
    >>> people = anndata.AnnData(table.set_axis([f"person{number}" for number in range(40)]))
    >>> model.annotate(people)
    >>> people.obsm["X_sparse_vae"].shape, list(people.varm)
    ((40, 2), ['sparse_vae_factors', 'sparse_vae_mask'])
    """

    experiment = "sparse_vae/arrays"
    frames: ClassVar[Mapping[str, int | None]] = {"factors_": 0, "mask_": 0}

    def __init__(
        self,
        latents: int | None = None,
        *,
        likelihood: str = "gaussian",
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
        self.latents, self.likelihood, self.standardise = latents, likelihood, standardise

    def _own_settings(self) -> dict[str, Any]:
        own = {"likelihood": self.likelihood, "standardise": self.standardise}
        return {"method.latents": self.latents, **{f"data.{name}": value for name, value in own.items()}}

    def fit(self, X: Any, y: Any = None) -> Self:
        """Train on a matrix.

        Parameters
        ----------
        X
            (N, features) array, sparse matrix, frame or AnnData; the index of a frame holds ids of rows.
        y
            Not used.
        """
        return self._fit({"path.npz": npz_of(self._table(X, reset=True))})

    def _set_attributes(self, arrays: Mapping[str, np.ndarray], data: Any, inputs: Mapping[str, Path]) -> None:
        axes = arrays["feature_names"], self._latent_names
        if "selector" in arrays:  # of the models with one
            self.factors_ = pd.DataFrame(arrays["selector"][0], *axes)
        if "slab_probability" in arrays:
            self.mask_ = pd.DataFrame(arrays["slab_probability"][0] > 0.5, *axes)

    def score(self, X: Any, y: Any = None) -> float:
        """Return minus the error of reconstructions, as the run measures it on held-out rows: mse, or log loss.

        Parameters
        ----------
        X
            As for `transform`.
        y
            Not used.
        """
        inputs = torch.from_numpy(self._inputs(X))
        module: Any = self.model_.module
        models = module.method.restarts
        chosen = module.chosen_models(self.model_.run.arrays, models)
        errors = []
        with torch.inference_mode():
            for number, part in enumerate(inputs.split(CHUNK)):
                repeated = part.expand(models, -1, -1)
                outputs = module.model.reconstruct(repeated, module.evaluation_noise("test", number, repeated))
                errors.append(scores_of(outputs[chosen], part[None], module.given.gaussian)[module.error])
        return -float(torch.cat(errors, dim=1).mean())
