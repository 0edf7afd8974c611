"""Base class of the estimators of tables: NumPy, pandas, sparse and AnnData in, named codes out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from sklearn.base import ClassNamePrefixFeaturesOutMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from sparseid.data.module import DataModule
from sparseid.data.sparse import dense, in_memory, sparse_fault
from sparseid.data.tables import Table, array_of, held, table_of_frame, texts_of
from sparseid.errors import InputError
from sparseid.estimators.base import Estimator, RefusedInput, npz, refusals

FEWEST = 10
"""Minimum number of rows, of which some are held out."""


class TableEstimator(ClassNamePrefixFeaturesOutMixin, Estimator):
    """Base class of the estimators of tables; parameters as for `Estimator`."""

    needs_labels: ClassVar[bool] = False
    """True if `fit` needs labels."""
    frames: ClassVar[Mapping[str, int | None]] = {}
    """Fitted frames, of which a model may lack some -> axis of the features; None without features."""

    def _take(self, folder: Path, inputs: Mapping[str, Path]) -> DataModule:
        data = super()._take(folder, inputs)
        with np.load(inputs["path"], allow_pickle=False) as file:
            self._names: list[str] = file["feature_names"].tolist()
        self._scale, self.n_features_in_ = data.input_scale, self.model_.input_shape[0]
        return data

    def _table(self, X: Any, reset: bool) -> Table:
        """Return the checked table of an array, sparse matrix, frame or AnnData; with `reset` that of a fit."""
        with refusals("X"):
            X = framed(X)
            if isinstance(X, pd.DataFrame):
                # before scikit-learn's check, which does not say which names are double
                table = table_of_frame(X if reset else X.reset_index(drop=True))
                validate_data(self, X, reset=reset, skip_check_array=True)
                if not reset:
                    self._check_names(X.columns, table.names.tolist())
                return table
            if isinstance(X, list | tuple | np.ma.MaskedArray):
                X = array_of(X)
            needed = {"ensure_min_samples": FEWEST, "ensure_min_features": self._fewest_features} if reset else {}
            as_given = {"accept_sparse": True, "dtype": None, "ensure_all_finite": False}
            values = validate_data(self, X, reset=reset, **as_given, **needed)
            return Table.of(values, names=numbered(values.shape[1]))

    def _check_names(self, columns: pd.Index, names: list[str]) -> None:
        """Refuse other columns, or another order, than those of the fit, if both have names that are no text.

        Where either are text, scikit-learn compares them, or warns that the other side has none.
        """
        of_text = hasattr(self, "feature_names_in_") or all(isinstance(name, str) for name in columns)
        if of_text or self._names in (names, numbered(len(names))):
            return
        place = next(place for place, name in enumerate(names) if name != self._names[place])
        wanted = self._names[place]
        text = f"column {place + 1} is {names[place]!r}, in the fit it was {wanted!r}"
        raise InputError(f"{text}: pass the columns of the fit, in their order")

    @property
    def _fewest_features(self) -> int:
        return 1

    @property
    def _latent_names(self) -> list[str]:
        return self.get_feature_names_out().tolist()

    def _inputs(self, X: Any) -> NDArray[np.float32]:
        """Return new samples (N, features) in the form of the training data."""
        check_is_fitted(self)
        table = self._table(X, reset=False)
        with refusals("X"):
            return held(table.values, np.float32, table.names.tolist(), table.where, self._scale)

    def transform(self, X: Any) -> NDArray[np.float32] | pd.DataFrame:
        """Return the codes of samples, whose values are scaled as those of the training data were.

        Parameters
        ----------
        X
            (N, features) array, sparse matrix, frame or AnnData, in the units of the training data.

        Returns
        -------
        ndarray or DataFrame
            (N, latents) float32; a frame with the index of `X` if that was a frame or AnnData.
        """
        codes = self._codes(X)
        X = framed(X)
        return pd.DataFrame(codes, X.index, self._latent_names) if isinstance(X, pd.DataFrame) else codes

    def _codes(self, X: Any) -> NDArray[np.float32]:
        inputs = self._inputs(X)
        with refusals("X"):
            return self.model_.transform(inputs)[0]

    def annotate(self, adata: Any, key: str | None = None) -> None:
        """Write the results into an AnnData of the same features, as scanpy does: codes, and what is fitted.

        ``obsm["X_<key>"]`` has the codes of its observations, ``varm["<key>_<attribute>"]`` each fitted frame with a
        row or column per feature (``factors``, ``mask``, ``jacobian``, ``structure``, ``attribution``), and
        ``uns["<key>_<attribute>"]`` other frames (``weights``, ``deltas``). All are frames with names.

        Parameters
        ----------
        adata
            Observations, in the units of the training data.
        key
            Beginning of the names; None for the method's: sparse_vae, ddl, tbr or regcl.
        """
        check_is_fitted(self)
        if not annotated(adata):
            raise RefusedInput(f"annotate writes into an AnnData, not a {type(adata).__name__}: transform takes others")
        start = key or self.experiment.partition("/")[0]
        codes = self.transform(adata)
        adata.obsm[f"X_{start}"] = codes
        for name, axis in self.frames.items():
            if (frame := getattr(self, name, None)) is None:
                continue
            entry = f"{start}_{name.removesuffix('_')}"
            if axis is None:
                adata.uns[entry] = frame.copy()
            else:
                adata.varm[entry] = (frame.T if axis else frame).set_axis(adata.var_names)

    @property
    def _n_features_out(self) -> int:
        return self.model_.run.config.method.latents

    def __sklearn_tags__(self) -> Any:
        """Return scikit-learn's tags: sparse matrices, codes in single precision, and labels where they are needed."""
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.target_tags.required = self.needs_labels
        tags.transformer_tags.preserves_dtype = ["float32"]
        return tags


def labels_of(estimator: Estimator, y: Any, ids: Sequence[str] | NDArray[np.str_]) -> Table:
    """Return labels as a table; columns without names are ``y0``, ``y1`` and so on.

    Parameters
    ----------
    estimator
        The estimator that needs them.
    y
        (rows,) or (rows, columns) array, list, series or frame.
    ids
        (rows,) ids of the rows of X, for messages; a series or frame may have its own.

    Raises
    ------
    ValueError
        If there are none, their number is another one, or one is not a finite number.
    """
    if y is None:
        raise RefusedInput(f"{type(estimator).__name__} requires y to be passed, but the target y is None")
    with refusals("y"):
        if isinstance(y, pd.Series):
            y = y.to_frame("y0" if y.name is None else y.name)
        values = y if isinstance(y, pd.DataFrame) else array_of(y)
        if len(values.shape) and len(values) != len(ids):
            raise RefusedInput(f"y has {len(values)} rows, X has {len(ids)}")
        if isinstance(values, pd.DataFrame):
            own = texts_of("ids of y", values.index)  # may be double, or missing: they do not matter
            named = not isinstance(values.index, pd.RangeIndex) and len({"", *own.tolist()}) > len(own)
            return table_of_frame(values.set_axis(pd.Index(own if named else ids, dtype=object)))
        values = values[:, None] if values.ndim == 1 else values
        return Table.of(values, [f"y{column}" for column in range(values.shape[1])] if values.ndim == 2 else None, ids)


def numbered(features: int) -> list[str]:
    """Return the names of the columns of an array."""
    return [f"x{column}" for column in range(features)]


def annotated(X: Any) -> bool:
    """Return whether the input is an AnnData, without importing anndata."""
    return hasattr(X, "obs_names") and hasattr(X, "to_df")


def framed(X: Any) -> Any:
    """Return an AnnData as a frame, anything else unchanged."""
    if not annotated(X):
        return X
    if X.X is None:
        raise InputError("the AnnData has no X: set it, such as to one of its layers")
    values = in_memory(X.X)
    if fault := sparse_fault(values):
        raise InputError(f"the values are no sparse matrix: {fault}")
    return pd.DataFrame(dense(values), X.obs_names, X.var_names) if hasattr(values, "toarray") else X.to_df()


def npz_of(table: Table, **columns: ArrayLike) -> bytes:
    """Return the npz file of a table, with further columns."""
    return npz(X=table.values, row_ids=table.ids, feature_names=table.names, **columns)
