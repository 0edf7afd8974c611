"""Simulated phenotypes: how many weights change along each arc, and what curves against S share."""

import numpy as np
import pytest

from sparseid.data.gtex.phenotypes import draw_phenotype, sparse_rows, unseen_weights
from sparseid.data.trees import perfect_binary_tree
from sparseid.streams import Streams

TREE = perfect_binary_tree(6)


@pytest.mark.parametrize("sparsity", range(6))
def test_exactly_s_weights_change_along_each_arc(sparsity):
    found = draw_phenotype(TREE, 5, sparsity, 0.5, Streams(0))
    assert found.deltas.shape == (126, 5)
    assert set(np.count_nonzero(found.deltas, axis=1)) == {sparsity}
    np.testing.assert_allclose(found.weights, found.root_weights + TREE.incidence @ found.deltas)
    if sparsity:
        values = found.deltas[found.deltas != 0]
        assert values.std() == pytest.approx(0.5, rel=4 / (2 * len(values)) ** 0.5)


def test_curves_against_s_share_what_they_can():
    few, more = (draw_phenotype(TREE, 5, sparsity, 0.5, Streams(3)) for sparsity in (2, 3))
    np.testing.assert_array_equal(few.root_weights, more.root_weights)
    changed = few.deltas != 0
    np.testing.assert_array_equal(few.deltas[changed], more.deltas[changed])


def test_seeds_and_choices_differ_and_repeat():
    def draw(seed, choice):
        return draw_phenotype(TREE, 5, 1, 0.5, Streams(seed), choice).deltas

    np.testing.assert_array_equal(draw(1, 2), draw(1, 2))
    assert not np.array_equal(draw(1, 2), draw(2, 2))
    assert not np.array_equal(draw(1, 2), draw(1, 3))


def test_every_entry_changes_equally_often():
    share = sparse_rows(20_000, 4, 1, np.random.default_rng(0)).mean(axis=0)
    np.testing.assert_allclose(share, 0.25, atol=0.015)


def test_an_unseen_environment_differs_in_one_weight():
    nearest = np.arange(5.0)
    found = unseen_weights(nearest, 0.5, np.random.default_rng(0))
    assert np.count_nonzero(found - nearest) == 1
