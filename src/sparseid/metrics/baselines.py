"""Predictions of simple methods, with which a model is compared on data without published numbers."""

from __future__ import annotations

import warnings

import numpy as np
from numpy.typing import NDArray
from sklearn.decomposition import NMF, PCA
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import RidgeCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

Values = NDArray[np.floating]

MOST_ROWS = 5000
"""Maximum number of training rows of an NMF: its components hardly depend on more."""
ALPHAS = np.logspace(-3, 4, 15)
"""Penalties of ridge regression to choose from, by leave-one-out error."""


def mean_rows(train: Values, test: Values) -> Values:
    """Return the training mean for every test row: (train samples, features), (test samples, features).

    Examples
    --------
    >>> mean_rows(np.array([[1.0, 2.0], [3.0, 2.0]]), np.zeros((1, 2))).tolist()
    [[2.0, 2.0]]
    """
    return np.broadcast_to(train.mean(axis=0), test.shape)


def pca_rows(train: Values, test: Values, components: int) -> Values:
    """Return the test rows reconstructed from the principal components of the training rows, at most `components`."""
    fitted = PCA(min(components, *train.shape), random_state=0).fit(train)
    return fitted.inverse_transform(fitted.transform(test))


def popularity(train: Values, test: Values) -> Values:
    """Return the shares of the features in all training counts, each plus one, for every test row.

    Examples
    --------
    >>> popularity(np.array([[2.0, 0.0], [0.0, 0.0]]), np.zeros((1, 2))).tolist()
    [[0.75, 0.25]]
    """
    counts = train.sum(axis=0) + 1
    return np.broadcast_to(counts / counts.sum(), test.shape)


def nmf_shares(train: Values, test: Values, components: int) -> Values:
    """Return the shares of the features in each test row by NMF with the divergence of counts.

    One per cent of popularity is mixed in: otherwise a feature that no component of a row has would have share 0, and
    an infinite loss.
    """
    count = min(components, *train.shape)
    model = NMF(count, init="nndsvda", solver="mu", beta_loss="kullback-leibler", random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # 200 iterations are enough for a comparison
        model.fit(train[:MOST_ROWS])
        rows = model.transform(test) @ model.components_
    total = rows.sum(axis=1, keepdims=True)
    common = popularity(train, test)
    shares = np.divide(rows, total, out=common.astype(rows.dtype), where=total > 0)
    return 0.99 * shares + 0.01 * common


def ridge(inputs: Values, labels: Values, test_inputs: Values) -> Values:
    """Return labels predicted by a ridge regression on standardised inputs, its penalty one of `ALPHAS`.

    Parameters
    ----------
    inputs, test_inputs
        (samples, features)
    labels
        (samples,) or (samples, k)

    Examples
    --------
    >>> x = np.arange(20.0)[:, None]
    >>> bool(np.allclose(ridge(x[:15], 2 * x[:15] + 1, x[15:]), 2 * x[15:] + 1, atol=0.01))
    True
    """
    model = make_pipeline(StandardScaler(), RidgeCV(ALPHAS)).fit(inputs, labels)
    return model.predict(test_inputs).reshape(-1, *labels.shape[1:])


def ridge_by_environment(
    inputs: Values,
    labels: Values,
    environments: NDArray[np.integer],
    test_inputs: Values,
    test_environments: NDArray[np.integer],
) -> Values:
    """Return the labels (test samples,) predicted by a ridge regression of each environment.

    Parameters
    ----------
    inputs, test_inputs
        (samples, features)
    labels
        (samples,)
    environments, test_environments
        (samples,) number of the environment; one without training samples is predicted by the mean of all labels.
    """
    predicted = np.full(len(test_inputs), labels.mean(dtype=np.float64))
    for environment in np.unique(test_environments):
        own, asked = environments == environment, test_environments == environment
        if np.count_nonzero(own) < 2:
            predicted[asked] = labels[own].mean() if own.any() else predicted[asked]
            continue
        predicted[asked] = ridge(inputs[own], labels[own], test_inputs[asked])
    return predicted


def means_by_environment(
    labels: Values, environments: NDArray[np.integer], test_environments: NDArray[np.integer]
) -> Values:
    """Return the mean label of its environment for each test sample; that of all for one without training samples.

    Examples
    --------
    >>> means_by_environment(np.array([1.0, 3.0, 8.0]), np.array([0, 0, 1]), np.array([1, 0, 2])).tolist()
    [8.0, 2.0, 4.0]
    """
    means = {number: labels[environments == number].mean() for number in np.unique(environments)}
    return np.array([means.get(number, labels.mean()) for number in test_environments])
