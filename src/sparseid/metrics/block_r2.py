"""R2 of blocks of true latents, predicted from blocks of learned ones by kernel ridge regression (DDL, Figure 4)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment
from sklearn.kernel_ridge import KernelRidge
from sklearn.metrics import r2_score
from sklearn.model_selection import GridSearchCV

MOST_SAMPLES = 1500
"""Maximum number of training samples: the cost grows with their third power."""
GRID = {"alpha": [1.0, 0.1, 0.01, 0.001], "gamma": np.logspace(-2, 2, 4)}
"""Candidate ridges, and widths of the kernel exp(-gamma |x - y|^2), as is usual for block identifiability."""
FOLDS = 3

Values = NDArray[np.floating]


def block_r2(train_inputs: Values, train_targets: Values, inputs: Values, targets: Values) -> NDArray[np.float64]:
    """Return the R2 of each target, predicted from the inputs by kernel ridge regression.

    All columns are standardised by the training samples. Ridge and kernel width are those of the best mean R2 in a
    threefold cross-validation on them.

    Parameters
    ----------
    train_inputs, train_targets
        (n, p) and (n, k), to fit the regression; of more than 1500 samples the first 1500.
    inputs, targets
        (samples, p) and (samples, k), to score it.

    Returns
    -------
    NDArray
        (k,) at most 1, below 0 if the prediction is worse than the mean. NaN for all targets if a value is not finite,
        and for a target that is constant in the scored samples.

    Raises
    ------
    ValueError
        If inputs and targets have different numbers of samples, or the splits different numbers of columns.

    Examples
    --------
    >>> x = np.linspace(-1, 1, 60)[:, None]
    >>> block_r2(x, x**2, x, x**2).round(1).tolist()
    [1.0]
    """
    fitted, scored = (train_inputs[:MOST_SAMPLES], train_targets[:MOST_SAMPLES]), (inputs, targets)
    for x, y in (fitted, scored):
        if len(x) != len(y) or x.shape[1:] != inputs.shape[1:] or y.shape[1:] != targets.shape[1:]:
            shapes = [values.shape for values in (*fitted, *scored)]
            raise ValueError(f"need equally many samples of inputs and targets, and the same columns: {shapes}")
    if not all(np.isfinite(values).all() for values in (*fitted, *scored)):
        return np.full(targets.shape[1], np.nan)
    x, x_scored = _standardised(fitted[0], inputs)
    y, y_scored = _standardised(fitted[1], targets)
    search = GridSearchCV(KernelRidge(kernel="rbf"), GRID, cv=FOLDS, scoring="r2").fit(x, y)
    r2 = r2_score(y_scored, search.predict(x_scored).reshape(y_scored.shape), multioutput="raw_values")
    return np.where((y_scored != y_scored[:1]).any(axis=0), r2, np.nan)


def _standardised(train: Values, scored: Values) -> tuple[Values, Values]:
    """Return both in units of the training samples' standard deviations from their mean; constant columns become 0."""
    mean, sd = train.mean(axis=0, dtype=np.float64), train.std(axis=0, dtype=np.float64)
    sd = np.where((train != train[:1]).any(axis=0), sd, 1.0)
    return (train - mean) / sd, (scored - mean) / sd


def assigned(r2: Values, sizes: Sequence[int]) -> list[NDArray[np.int64]]:
    """Assign learned latents to the blocks of true ones so that the sum of R2 is largest.

    Parameters
    ----------
    r2
        (blocks, latents): R2 of each learned latent, predicted from each block of true ones.
    sizes
        Latents of each block; their sum is the number of learned latents.

    Returns
    -------
    list
        (size,) learned latents of each block, in ascending order.

    Raises
    ------
    ValueError
        If the sizes do not add up, or an R2 is not finite.

    Examples
    --------
    >>> [block.tolist() for block in assigned(np.array([[0.1, 0.9, 0.8], [0.7, 0.1, 0.85]]), [1, 2])]
    [[1], [0, 2]]
    """
    if sum(sizes) != r2.shape[1] or len(sizes) != len(r2) or not np.isfinite(r2).all():
        raise ValueError(f"{r2.shape} finite values of R2 cannot fill blocks of {list(sizes)} latents")
    owner = np.repeat(np.arange(len(sizes)), sizes)  # the block of each place
    places, latents = linear_sum_assignment(r2[owner], maximize=True)
    return [np.sort(latents[owner[places] == block]) for block in range(len(sizes))]
