import numpy as np
import pytest

from sparseid.metrics.topics import npmi, top_features


def test_top_features_are_the_largest_in_size_whatever_their_sign():
    selector = np.array([[0.0, 1.0], [-3.0, 1.0], [2.0, 0.5]])
    assert top_features(selector, 2).tolist() == [[1, 2], [0, 1]]
    assert top_features(selector, 9).shape == (2, 3)


def test_coherence_of_a_pair_by_hand():
    occurs = np.array([[1, 1, 0, 1], [1, 1, 0, 1], [0, 0, 1, 1], [0, 1, 0, 1]], dtype=bool)
    pairs = np.array([[0, 1], [0, 2], [0, 3], [3, 3]])
    by_hand = np.log(0.5 / (0.5 * 0.75)) / -np.log(0.5)
    assert npmi(occurs, pairs) == pytest.approx([by_hand, -1.0, 0.0, 0.0], abs=1e-6)


def test_features_of_the_same_rows_are_wholly_coherent_and_a_group_is_the_mean_of_its_pairs():
    occurs = np.array([[1, 1, 0], [1, 1, 0], [0, 0, 1], [0, 0, 0]], dtype=bool)
    assert npmi(occurs, np.array([[0, 1]])) == pytest.approx([1.0])
    assert npmi(occurs, np.array([[0, 1, 2]])) == pytest.approx([(1 - 1 - 1) / 3])


def test_a_feature_that_never_occurs_is_not_coherent():
    occurs = np.array([[1, 0], [1, 0]], dtype=bool)
    assert npmi(occurs, np.array([[0, 1]])).tolist() == [-1.0]
