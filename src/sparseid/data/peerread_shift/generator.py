"""Generator of counts with correlated topics, in the steps of the Sparse VAE's code (semi-synthetic PeerRead).

Topics are fitted to the corpus once. The test documents are the expected counts for these topics and a document's own
intensities. In the training documents the second half of the topics has the intensities of the first half, times noise:
the smaller the noise, the stronger the correlation of pairs of topics that are uncorrelated in the test.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sparseid.data.cache import cached_arrays
from sparseid.data.peerread.counts import Counts, identity
from sparseid.streams import FIXED, Streams

if TYPE_CHECKING:
    from sparseid.data.peerread_shift.settings import PeerreadShiftSettings

VERSION = 1
"""Incremented when the fit of the topics changes, which is then repeated."""

Array = NDArray[np.float64]


class Topics(NamedTuple):
    """A topic model of a corpus.

    Attributes
    ----------
    intensities
        (documents, topics) fraction of each topic in each document.
    words
        (topics, words) probability of each word in each topic.
    """

    intensities: Array
    words: Array


def fitted_topics(config: PeerreadShiftSettings, counts: Counts) -> Topics:
    """Return the topics of all documents by latent Dirichlet allocation (scikit-learn's), cached in the data folder."""

    def fit() -> dict[str, Array]:
        from sklearn.decomposition import LatentDirichletAllocation

        seed = FIXED.integer("peerread/topics") % 2**32
        model = LatentDirichletAllocation(n_components=config.topics, random_state=seed)
        intensities = model.fit_transform(counts.matrix)
        return {"intensities": _shares(intensities), "words": _shares(model.components_)}

    return Topics(**cached_arrays("peerread_shift", [VERSION, config.topics, identity(config.corpus)], fit))


def expected_counts(lengths: NDArray[np.int64], intensities: Array, words: Array) -> Array:
    """Return the expected counts (documents, words) of each word in documents of given lengths, rounded.

    Halves are rounded to even numbers.

    Examples
    --------
    >>> expected_counts(np.array([10]), np.array([[1.0, 0.0]]), np.array([[0.66, 0.25, 0.09], [0, 0, 1]])).tolist()
    [[7.0, 2.0, 1.0]]
    """
    return np.round(lengths[:, None] * (intensities @ words))


def correlated(intensities: Array, sigma: float, noise: Array) -> Array:
    """Return fractions (documents, topics) in which the second half of the topics are noisy copies of the first half.

    Parameters
    ----------
    intensities
        (documents, topics); those of the second half are not used.
    sigma
        Standard deviation of the logarithm of a copy around that of the original.
    noise
        (documents, topics / 2) standard normal.
    """
    originals = np.log(intensities[:, : noise.shape[1]])
    return _shares(np.exp(np.concatenate([originals, originals + sigma * noise], axis=1)))


def draw(config: PeerreadShiftSettings, counts: Counts, seeds: Sequence[int]) -> tuple[Array, Array]:
    """Return training counts (members, documents, words) and test counts (documents, words).

    Documents whose counts all round to zero are dropped, as in the authors' code. Their number differs a little between
    members, but each has as many training documents as there are test documents: in a fixed random order, the first
    ones are repeated or the last ones dropped.
    """
    topics = fitted_topics(config, counts)
    lengths = counts.matrix.sum(axis=1).astype(np.int64)
    order = FIXED.numpy("peerread_shift/order").permutation(len(lengths))
    test = _not_empty(expected_counts(lengths, *topics))
    train = np.empty((len(seeds), *test.shape), dtype=np.float32)
    for member, seed in enumerate(seeds):
        generator = Streams(seed).numpy("data/peerread_shift", round(config.sigma_shift * 1e6))
        noise = generator.standard_normal((len(lengths), config.topics // 2))
        intensities = correlated(topics.intensities, config.sigma_shift, noise)
        drawn = _not_empty(expected_counts(lengths, intensities, topics.words)[order])
        train[member] = drawn[np.resize(np.arange(len(drawn)), len(test))]
    return train, test.astype(np.float32)


def _not_empty(counts: Array) -> Array:
    return counts[counts.any(axis=1)]


def _shares(values: Array) -> Array:
    return values / values.sum(axis=1, keepdims=True)
