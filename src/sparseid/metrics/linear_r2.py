"""R2 of labels regressed linearly on an embedding (RegCL, section 3: the R2 gate)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import torch
from numpy.typing import NDArray

from sparseid.metrics.tensors import as_tensor

if TYPE_CHECKING:
    from torch import Tensor

    Values = NDArray[np.floating] | Tensor

COLLINEAR = 1e-12
"""Variances of an embedding below this fraction of its largest count as 0: constant or collinear columns."""


def linear_r2(train: Values, train_labels: Values, embedding: Values, labels: Values) -> NDArray[np.float64]:
    """Return the R2 of labels predicted from an embedding by least squares with an intercept.

    Parameters
    ----------
    train
        (..., n, outputs) embedding to fit the regression; leading axes are members. Arrays, or tensors on any device.
    train_labels
        (..., n, k).
    embedding, labels
        (..., m, outputs) and (..., m, k) to score it: those of the fit, or of another split.

    Returns
    -------
    NDArray
        (...,): the mean over the k labels of 1 - residual / total sum of squares, at most 1, below 0 if the prediction
        is worse than the mean. Of several solutions (constant or collinear outputs) the one of minimum norm is taken.
        NaN for members with a label that is constant in the scored samples (R2 is undefined) or a value that is not
        finite.

    Raises
    ------
    ValueError
        If embedding and labels have different numbers of samples, or the splits different numbers of columns.

    Examples
    --------
    >>> z = np.array([[0.0, 1.0], [1.0, 5.0], [2.0, 3.0], [5.0, 0.0]])
    >>> round(float(linear_r2(z, z @ [[2.0], [-1.0]] + 7, z, z @ [[2.0], [-1.0]] + 7)), 6)
    1.0
    """
    x, y, x_scored, y_scored = (as_tensor(v).detach().double() for v in (train, train_labels, embedding, labels))
    _check(x, y, x_scored, y_scored)
    finite = torch.stack([torch.isfinite(v).flatten(-2).all(dim=-1) for v in (x, y, x_scored, y_scored)]).all(dim=0)
    x, y, x_scored, y_scored = (torch.where(finite[..., None, None], v, 0.0) for v in (x, y, x_scored, y_scored))
    x_mean, y_mean = x.mean(dim=-2, keepdim=True), y.mean(dim=-2, keepdim=True)
    centred = (x - x_mean).mT  # (..., outputs, n)
    variances = centred @ centred.mT
    slopes = torch.linalg.pinv(variances, rtol=COLLINEAR, hermitian=True) @ (centred @ (y - y_mean))
    score = _r2(y_scored - y_mean - (x_scored - x_mean) @ slopes, y_scored)
    return torch.where(finite, score, torch.nan).cpu().numpy()


def r2(predicted: Values, labels: Values) -> NDArray[np.float64]:
    """Return the R2 of predicted labels.

    Parameters
    ----------
    predicted, labels
        (..., n, k), finite; leading axes are members.

    Returns
    -------
    NDArray
        (...,): as of `linear_r2`.

    Examples
    --------
    >>> labels = np.array([[0.0, 1.0], [2.0, 5.0]])
    >>> float(r2(labels, labels)), float(r2(labels[::-1], labels)), float(r2(labels, np.ones((2, 2))))
    (1.0, -3.0, nan)
    """
    known = as_tensor(labels).detach().double()
    return _r2(known - as_tensor(predicted).detach().double(), known).cpu().numpy()


def _r2(residual: Tensor, labels: Tensor) -> Tensor:
    spread = labels - labels.mean(dim=-2, keepdim=True)
    varies = (labels != labels[..., :1, :]).any(dim=-2)  # not by the spread: the mean of equal numbers is rounded
    of_labels = 1 - residual.square().sum(dim=-2) / spread.square().sum(dim=-2)  # (..., k)
    return torch.where(varies, of_labels, torch.nan).mean(dim=-1)


def _check(train: Tensor, train_labels: Tensor, embedding: Tensor, labels: Tensor) -> None:
    for x, y in ((train, train_labels), (embedding, labels)):
        if x.dim() < 2 or y.dim() < 2 or x.shape[-2] != y.shape[-2]:
            shapes = f"{tuple(x.shape)} and {tuple(y.shape)}"
            raise ValueError(f"embedding and labels must be (..., samples, columns) of the same samples, got {shapes}")
    for name, a, b in (("outputs", train, embedding), ("labels", train_labels, labels)):
        if a.shape[-1] != b.shape[-1]:
            raise ValueError(f"{a.shape[-1]} {name} in the training split, {b.shape[-1]} in the scored one")
