"""Reader of a time series in an npz file or a table, with checks of its content (no torch)."""

from __future__ import annotations

import functools
import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sparseid.data.arrays.settings import ASK, BEHIND
from sparseid.data.npz import read_npz
from sparseid.data.tables import Scale, double_precision, kind_of, read_table, single_precision, texts_of
from sparseid.data.tables.names import counted
from sparseid.data.time_series import split_sizes
from sparseid.errors import InputError

if TYPE_CHECKING:
    from sparseid.data.arrays.settings import ArraysSettings

NEEDED, OPTIONAL = ("observations", "labels"), ("ground_truth", "latents", "feature_names", "label_names")

Values = NDArray[np.float32]


class TimeSeries(NamedTuple):
    """A series as stored in the file, or scaled; None for arrays that it does not have.

    Attributes
    ----------
    observations
        (samples, features) float32.
    labels
        (samples, label size) float32.
    truth
        (d or label size, features) bool.
    latents
        (samples, d) float32.
    feature_names, label_names
        Names of the columns of observations and labels.
    scale
        Scale by which observations were standardised; None if they were not.
    remarks
        Those of the table.
    """

    observations: Values
    labels: Values
    truth: NDArray[np.bool_] | None
    latents: Values | None
    feature_names: NDArray[np.str_] | None = None
    label_names: NDArray[np.str_] | None = None
    scale: Scale | None = None
    remarks: tuple[str, ...] = ()


def series_of(config: ArraysSettings) -> TimeSeries:
    """Return the series of some settings, scaled if they ask for it.

    Raises
    ------
    InputError
        If the file is missing or cannot be used.
    """
    return read_series(config.path, config.labels, config.ignore, config.held_out if config.standardise else None)


def largest_label(config: ArraysSettings) -> float:
    """Return the largest absolute label of a series; 0 if its file cannot be used."""
    try:
        return float(np.abs(series_of(config).labels).max())
    except InputError:
        return 0.0


def embedding_size(config: ArraysSettings, series: TimeSeries) -> int:
    """Return the number of latents d, from `config.latents` or else from the file's map or latents.

    Raises
    ------
    InputError
        If none of these gives it, two of them disagree, or it is below the size of a label or above that of an
        observation.
    """
    (_, features), label_dim = series.observations.shape, series.labels.shape[1]
    said = {"data.latents": config.latents} if config.latents else {}
    if series.latents is not None:
        said["latents"] = series.latents.shape[1]
    if series.truth is not None and len(series.truth) != label_dim:
        said["ground_truth"] = len(series.truth)
    keys = ("data.latents", "data.path")
    if not said:
        text = "the number of latents is unknown: set data.latents=d, or add ground_truth (d, D) or latents to the file"
        raise InputError(text, keys)
    if len(set(said.values())) > 1:
        text = ", ".join(f"{number} in {name}" for name, number in said.items())
        raise InputError(f"the numbers of latents do not agree: {text}", keys)
    latents = next(iter(said.values()))
    if not label_dim <= latents <= features:
        text = f"latents include the {label_dim} of the label and are at most {features}, one per observed feature"
        raise InputError(f"{text}: {latents} are not", keys)
    return latents


def read_series(
    path: str, labels: Sequence[str] = (), ignore: Sequence[str] = (), held_out: float | None = None
) -> TimeSeries:
    """Return the checked series of a file.

    Parameters
    ----------
    path
        An npz file, or a table.
    labels, ignore
        Columns of a table that are labels, and that are left out.
    held_out
        Fraction of the series, at its end, without which observations and labels are scaled to mean 0 and standard
        deviation 1; None to leave them as they are.

    Raises
    ------
    InputError
        If the file is missing or cannot be used.
    """
    if not path:
        raise InputError(ASK, ("data.path",))
    if kind_of(Path(path)) not in ("", "npz"):
        return _of_table(path, labels, ignore, held_out)
    if labels or ignore:
        text = f"{path}: an npz file names its arrays: data.labels and data.ignore are for tables, remove them"
        raise InputError(text, ("data.labels", "data.ignore", "data.path"))
    try:
        status = Path(path).stat()
        return _read(path, (status.st_mtime_ns, status.st_size, status.st_ino), held_out)
    except OSError as error:
        raise InputError(f"{path} cannot be read: {os.strerror(error.errno or 0)}", ("data.path",)) from error
    except InputError as error:
        raise InputError(f"{path} cannot be used: {error}{BEHIND}", ("data.path",)) from error


def _of_table(path: str, labels: Sequence[str], ignore: Sequence[str], held_out: float | None) -> TimeSeries:
    """Return the series of a table, a row per time step."""
    if not labels:
        raise InputError(f"{path}: set data.labels to the columns of the labels", ("data.labels", "data.path"))
    table = read_table(path, [*labels, *ignore])
    try:
        numbers = np.stack([table.numbers(name) for name in labels], axis=1)
        _check_varying(table.values, numbers, labels)
        scale, label_scale = _scales(table.values, numbers, held_out, table.names.tolist(), labels)
        return TimeSeries(
            single_precision("observations", table.values, table.names.tolist(), table.where, scale),
            single_precision("labels", numbers, labels, table.where, label_scale),
            None,
            None,
            table.names,
            np.array(labels, np.str_),
            scale,
            table.remarks,
        )
    except InputError as error:
        raise InputError(f"{path}: {error}", ("data.path",)) from error


def _check_varying(observations: NDArray[Any], labels: NDArray[Any], names: Sequence[str]) -> None:
    if constant := constant_columns(labels, names):
        raise InputError(f"labels is constant in column {constant}: nothing can be learned from it; drop it")
    if (observations == observations[0]).all():
        raise InputError("observations are the same in every row: nothing can be learned from them")


def _scales(
    observations: NDArray[Any],
    labels: NDArray[Any],
    held_out: float | None,
    of_features: Sequence[str],
    of_labels: Sequence[str],
) -> tuple[Scale | None, Scale | None]:
    """Return the scales of the training samples of observations and labels; None if nothing is scaled."""
    if held_out is None:
        return None, None
    training = np.arange(max(1, split_sizes(len(labels), held_out)[0]))  # without any, the settings are refused
    of_both = (("observations", observations, of_features), ("labels", labels, of_labels))
    scale, label_scale = (Scale.of(double_precision(*of_one), training) for of_one in of_both)
    return scale, label_scale


@functools.lru_cache(maxsize=1)
def _read(path: str, version: tuple[int, ...], held_out: float | None) -> TimeSeries:
    """Read a file, once for all runs of a sweep."""
    arrays = read_npz(Path(path), NEEDED, OPTIONAL)
    observations = _numbers("observations", arrays["observations"])
    length, features = observations.shape
    others = {
        name: _numbers(name, values[:, None] if values.ndim == 1 else values)
        for name in ("labels", "latents")
        if (values := arrays.get(name)) is not None
    }
    for name, values in others.items():
        if len(values) != length:
            raise InputError(f"{name} has {len(values)} rows and observations has {length}")
    labels = others["labels"]
    of_features, of_labels = _names(arrays, "feature_names", features), _names(arrays, "label_names", labels.shape[1])
    scale, label_scale = _scales(observations, labels, held_out, of_features, of_labels)
    latents = others.get("latents")
    series = TimeSeries(
        single_precision("observations", observations, of_features, scale=scale),
        single_precision("labels", labels, of_labels, scale=label_scale),
        None,
        None if latents is None else single_precision("latents", latents, counted(latents.T)),
        np.array(of_features, np.str_) if "feature_names" in arrays else None,
        np.array(of_labels, np.str_) if "label_names" in arrays else None,
        scale,
    )
    truth = arrays.get("ground_truth")
    known = None if truth is None else _map(truth, features, labels.shape[1])
    _check_varying(observations, labels, of_labels)
    return series._replace(truth=known)


def _map(truth: NDArray[np.generic], features: int, label_dim: int) -> NDArray[np.bool_]:
    """Return the true map, checked: its last rows, those of the labels, can be scored."""
    if truth.ndim != 2 or truth.shape[1] != features or not np.isin(truth, (0, 1)).all():
        raise InputError(f"ground_truth is {_kind(truth)}, not a table of 0 and 1 (or bool) with {features} columns")
    if len(truth) < label_dim:
        raise InputError(f"ground_truth has {len(truth)} rows, fewer than the {label_dim} of the labels")
    known = truth.astype(bool)
    scored = known[-label_dim:]
    if scored.all() or not scored.any():
        text = f"ground_truth is {scored.flat[0]} in all of the {label_dim} scored rows (those of the labels)"
        raise InputError(f"{text}, so the AUC is undefined: correct it or omit it")
    return known


def _names(arrays: Mapping[str, NDArray[Any]], name: str, columns: int) -> list[str]:
    """Return the names of columns in the file; without any, their numbers from 1."""
    if name not in arrays:
        return counted(range(columns))
    names = texts_of(name, arrays[name])
    if names.shape != (columns,):
        raise InputError(f"{name} is {_kind(arrays[name])}, where a text for each of {columns} columns is needed")
    return names.tolist()


def constant_columns(values: NDArray[Any], names: Iterable[str] | None = None) -> str:
    """Return the names of the constant columns (their numbers from 1), as text; empty if no column is constant."""
    constant = (values == values[0]).all(axis=0) if len(values) else []
    named = counted(values.T) if names is None else map(str, names)
    return ", ".join(repr(name) for name, is_constant in zip(named, constant, strict=False) if is_constant)


def _numbers(name: str, values: NDArray[Any]) -> NDArray[Any]:
    """Return a table of finite numbers."""
    if values.ndim != 2 or 0 in values.shape or values.dtype.kind not in "fiub":
        raise InputError(f"{name} is {_kind(values)}, not a table of numbers with samples in rows")
    if bad := int((~np.isfinite(values)).any(axis=1).sum()):
        raise InputError(f"{name} is NaN or infinite in {bad} of {len(values)} rows: fill or drop them")
    return values


def _kind(values: NDArray[np.generic]) -> str:
    return f"{values.dtype} {values.shape}"
