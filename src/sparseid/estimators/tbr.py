"""Tree-based regularization as an estimator."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.metrics import r2_score

from sparseid.data.paths import unusable
from sparseid.data.tables import check_present, texts_of
from sparseid.data.tables.names import counted
from sparseid.data.tables.numbers import shown
from sparseid.data.tree_table.environments import is_newick
from sparseid.data.tree_table.settings import CLUSTER
from sparseid.errors import InputError
from sparseid.estimators.base import RefusedInput, refusals
from sparseid.estimators.table import TableEstimator, labels_of, npz_of
from sparseid.homes import expanded
from sparseid.spelling import did_you_mean
from sparseid.text import read_text


class TBR(TableEstimator):
    """Latents whose weights for a label change little along a tree of environments.

    Parameters
    ----------
    latents
        Number of latents; None for the preset's.
    tree
        Tree whose nodes are the environments, in Newick format, or the path of a file with it (or of a csv file of
        child and parent); cluster: hierarchical clustering of the environments' mean features.
    standardise
        Scale features and label to the mean and spread of the training rows; predictions are in the label's unit.
    preset, max_samples, patience, random_state, device, outputs, progress, settings
        As for :class:`~sparseid.estimators.base.Estimator`.

    Attributes
    ----------
    weights_
        DataFrame (environments, latents): weights of the scaled label in each environment.
    deltas_
        DataFrame (arcs, latents): changes of the weights along each arc, named after its lower node.
    rows_, baselines_, model_, n_features_in_, feature_names_in_
        As for :class:`~sparseid.SparseVAE`.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> features, tissues = rng.normal(size=(60, 2)), np.repeat(["lung", "gut", "liver"], 20)
    >>> model = TBR(latents=2, tree="((lung,gut),liver);", preset="smoke", patience=0)
    >>> model = model.fit(features, features[:, 0], environments=tissues)
    >>> model.weights_.index.tolist(), model.predict(features, tissues).shape
    (['gut', 'liver', 'lung'], (60,))
    """

    experiment = "tbr/arrays"
    data = "X, y and environments"
    frames: ClassVar[Mapping[str, int | None]] = {"weights_": None, "deltas_": None}
    needs_labels = True

    def __init__(
        self,
        latents: int | None = None,
        *,
        tree: str = CLUSTER,
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
        self.latents, self.tree, self.standardise = latents, tree, standardise

    def _own_settings(self) -> dict[str, Any]:
        return {"method.latents": self.latents, "data.standardise": self.standardise}

    def fit(self, X: Any, y: Any, environments: Any = None) -> Self:
        """Train on samples of several environments.

        Parameters
        ----------
        X
            (N, features) array, sparse matrix or frame; the index of a frame holds ids of rows.
        y
            (N,) numbers to predict.
        environments
            (N,) names of environments.
        """
        table = self._table(X, reset=True)
        labels = labels_of(self, y, table.ids).values
        if labels.shape[1] != 1:
            raise RefusedInput(f"y has {labels.shape[1]} columns: TBR predicts one label")
        columns = {"label": labels[:, 0], "environment": named(environments, len(table.ids))}
        return self._fit({"path.npz": npz_of(table, **columns), **self._tree()})

    def _tree(self) -> dict[str, bytes]:
        """Return the content of the tree's file; empty to cluster the environments."""
        if self.tree == CLUSTER:
            return {}
        if not isinstance(self.tree, str | Path):
            text = f"tree is {shown(self.tree)}: name a file, write it in Newick format, or pass {CLUSTER!r}"
            raise RefusedInput(text)
        if is_newick(str(self.tree)):
            return {"tree.txt": str(self.tree).encode()}
        with refusals("tree"):
            file = Path(expanded(self.tree))
            if reason := unusable(file):
                raise InputError(f"{file} {reason}: name a file, or write the tree in Newick format")
            return {"tree.txt": read_text(file).encode()}

    def _argument(self, name: str) -> str:
        return super()._argument(name) if name != "tree" else shown(str(self.tree))

    def _set_attributes(self, arrays: Mapping[str, np.ndarray], data: Any, inputs: Mapping[str, Path]) -> None:
        self.weights_ = pd.DataFrame(arrays["weights"][0], arrays["environment_names"], self._latent_names)
        if "deltas" in arrays:  # not of the baseline
            self.deltas_ = pd.DataFrame(arrays["deltas"][0], arrays["arc_names"], self._latent_names)
        self._label_scale = data.label_scale

    def predict(self, X: Any, environments: Any = None) -> NDArray[np.float64]:
        """Return the labels (N,) of samples in their environments, in the unit of the training labels.

        Parameters
        ----------
        X
            As for `transform`.
        environments
            (N,) names of environments that were trained on.
        """
        codes = self._codes(X)
        names, known = named(environments, len(codes)), self.weights_.index
        if unknown := [(row, name) for row, name in enumerate(names.tolist()) if name not in known]:
            row, name = unknown[0]
            hint = did_you_mean(name, known) or f"trained on: {', '.join(known)}"
            raise RefusedInput(f"environments, row {row + 1}: {name!r} was not trained on; {hint}")
        found = (codes * self.weights_.loc[names.tolist()].to_numpy()).sum(axis=1, dtype=np.float64)
        return found if self._label_scale is None else self._label_scale.undo(found[:, None])[:, 0]

    def score(self, X: Any, y: Any, environments: Any = None) -> float:
        """Return the explained fraction of the labels' variance, R2.

        Parameters
        ----------
        X, y, environments
            As for `fit`.
        """
        predicted = self.predict(X, environments)
        return float(r2_score(labels_of(self, y, counted(predicted)).values[:, 0], predicted))


def named(environments: Any, rows: int) -> NDArray[np.str_]:
    """Return the environment (rows,) of each row as text.

    Raises
    ------
    ValueError
        If there are none, or not one per row, or one is missing.
    """
    if environments is None:
        raise RefusedInput("TBR needs the environment of each row: pass environments=...")
    with refusals():
        of_one_column = isinstance(environments, pd.DataFrame) and environments.shape[1] == 1
        names = texts_of("environments", environments.iloc[:, 0] if of_one_column else environments)
        if names.shape != (rows,):
            raise InputError(f"environments are of shape {names.shape}, X has {rows} rows")
        check_present("environments", names, lambda row: f"row {row + 1}")
    return names
