import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sparseid.metrics.top_k import top_k_accuracy


@pytest.mark.shared
def test_accuracies_are_those_of_the_authors_code(shared_arrays):
    arrays = shared_arrays("sparling_seeds_bootstrap_topk")
    found = [top_k_accuracy(arrays["topk_scores"][:, :, c], arrays["topk_labels"] == c) for c in (1, 2)]
    assert found == [pytest.approx(float(arrays[f"topk_class{c}"]), abs=1e-12) for c in (1, 2)]
    assert np.mean(found) == pytest.approx(float(arrays["topk_mean"]), abs=1e-12)


def test_as_many_are_predicted_as_there_are():
    scores = np.array([[0.1, 0.9, 0.2], [0.8, 0.3, 0.7]])
    assert top_k_accuracy(scores, scores > 0.65) == 1
    assert top_k_accuracy(scores, scores == 0.2) == 0
    assert top_k_accuracy(scores, (scores == 0.9) | (scores == 0.1)) == 0.5


def test_equal_scores_predict_nothing():
    assert top_k_accuracy(np.zeros(10), np.arange(10) < 3) == 0


def test_a_class_without_entries_has_no_accuracy():
    assert math.isnan(top_k_accuracy(np.arange(4.0), np.zeros(4, bool)))


@given(st.integers(0, 10_000), st.integers(1, 60))
def test_it_is_the_share_above_numpys_quantile(seed, positives):
    rng = np.random.default_rng(seed)
    scores, positive = rng.standard_normal(97).astype(np.float32), np.arange(97) < positives
    threshold = np.quantile(scores.astype(float), 1 - positive.mean())
    assert top_k_accuracy(scores, positive) == pytest.approx((scores[positive] > threshold).mean())
