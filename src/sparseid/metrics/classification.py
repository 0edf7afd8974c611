"""Accuracy of classes predicted from codes."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler


def cross_validated_accuracy(codes: NDArray[np.floating], labels: NDArray, folds: int = 5, seed: int = 0) -> float:
    """Return the accuracy of multinomial logistic regression on standardised codes, averaged over stratified folds.

    Parameters
    ----------
    codes
        (samples, latents)
    labels
        (samples,) the class of each sample.
    folds
        Number of folds; scaling and regression are fitted on the other folds only.
    seed
        Seed of the split into folds.

    Returns
    -------
    float
        In [0, 1]; 1 with a single class. NaN for codes that are not finite.

    Raises
    ------
    ValueError
        If a class has fewer samples than there are folds, or the numbers of labels and codes differ.

    Examples
    --------
    >>> codes = np.repeat([[0.0], [1.0]], 10, axis=0)
    >>> cross_validated_accuracy(codes, np.repeat(["a", "b"], 10))
    1.0
    """
    if len(codes) != len(labels):
        raise ValueError(f"codes of {len(codes)} samples, labels of {len(labels)}")
    names, counts = np.unique(labels, return_counts=True)
    if counts.min() < folds:
        rare = names[counts.argmin()]
        raise ValueError(f"class {rare} has {counts.min()} samples, fewer than the {folds} folds")
    if not np.isfinite(codes).all():
        return float("nan")
    if len(names) == 1:
        return 1.0
    model = make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000))
    parts = StratifiedKFold(folds, shuffle=True, random_state=seed)
    return float(cross_val_score(model, codes, labels, cv=parts).mean())
