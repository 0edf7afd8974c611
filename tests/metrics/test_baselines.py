import numpy as np
import pytest

from sparseid.metrics.baselines import (
    mean_rows,
    means_by_environment,
    nmf_shares,
    pca_rows,
    ridge,
    ridge_by_environment,
)

RNG = np.random.default_rng(0)


def test_pca_reconstructs_data_of_its_rank_exactly_and_others_not():
    factors, weights = RNG.normal(size=(60, 2)), RNG.normal(size=(2, 5))
    train, test = (factors @ weights + 3)[:40], (factors @ weights + 3)[40:]
    np.testing.assert_allclose(pca_rows(train, test, 2), test, atol=1e-10)
    assert np.square(pca_rows(train, test, 1) - test).mean() > 0.01
    np.testing.assert_allclose(pca_rows(train, test, 9), test, atol=1e-10)  # no more than there are
    np.testing.assert_array_equal(mean_rows(train, test)[7], train.mean(axis=0))


def test_nmf_finds_topics_and_leaves_no_share_at_zero():
    topics = np.array([[0.5, 0.5, 0, 0], [0, 0, 0.5, 0.5]])
    counts = np.stack([RNG.multinomial(40, topics[number % 2]) for number in range(60)]).astype(float)
    shares = nmf_shares(counts[:40], counts[40:], 2)
    np.testing.assert_allclose(shares.sum(axis=1), 1)
    assert (shares > 0).all()
    assert np.abs(shares - topics[np.arange(20) % 2]).max() < 0.15


def test_ridge_predicts_several_labels_at_once():
    inputs = RNG.normal(size=(60, 3))
    labels = inputs @ RNG.normal(size=(3, 2)) + 5
    np.testing.assert_allclose(ridge(inputs[:40], labels[:40], inputs[40:]), labels[40:], atol=0.01)
    assert ridge(inputs[:40], labels[:40, :1], inputs[40:]).shape == (20, 1)
    assert ridge(inputs[:40], labels[:40, 0], inputs[40:]).shape == (20,)


def test_ridge_follows_the_weights_of_each_environment():
    inputs, environments = RNG.normal(size=(80, 3)), np.arange(80) % 2
    labels = np.where(environments, 1, -1) * inputs[:, 0] + 5
    predicted = ridge_by_environment(inputs[:60], labels[:60], environments[:60], inputs[60:], environments[60:])
    np.testing.assert_allclose(predicted, labels[60:], atol=0.05)
    alone = ridge_by_environment(inputs[:60], labels[:60], environments[:60], inputs[60:61], np.array([7]))
    assert alone[0] == pytest.approx(labels[:60].mean())
    np.testing.assert_allclose(means_by_environment(labels[:60], environments[:60], np.array([7])), labels[:60].mean())
