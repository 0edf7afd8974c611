"""Log loss, recall and NDCG against the authors' code and by hand."""

import numpy as np
import pytest
import torch
from sklearn.metrics import ndcg_score

from sparseid.metrics.ranking import log_loss, ndcg_at, recall_at


@pytest.mark.shared
def test_rows_have_the_values_of_the_authors_code(shared_arrays):
    arrays = shared_arrays("sparsevae_ranking")
    predicted, target, counts = (torch.from_numpy(arrays[name]) for name in ("pred", "target", "counts"))
    for length in (5, 10):
        np.testing.assert_allclose(recall_at(predicted, target, length), arrays[f"recall{length}_rows"], atol=1e-6)
    np.testing.assert_allclose(ndcg_at(predicted, target, 10), arrays["ndcg10_rows"], atol=1e-6)
    np.testing.assert_allclose(ndcg_at(predicted, counts, 10), arrays["ndcg10_rows"], atol=1e-6)
    np.testing.assert_allclose(log_loss(predicted, counts), arrays["logloss_counts_rows"], rtol=1e-5)
    np.testing.assert_allclose(log_loss(predicted, target), arrays["logloss_binary_rows"], rtol=1e-5)
    assert recall_at(predicted, target, 5).mean().item() == pytest.approx(float(arrays["recall5"]), abs=1e-6)


def test_ndcg_is_that_of_scikit_learn():
    generator = torch.Generator().manual_seed(0)
    scores, targets = torch.rand(2, 20, 15, generator=generator), torch.rand(2, 20, 15, generator=generator) < 0.3
    targets[..., 0] = True
    found = ndcg_at(scores, targets, 10)
    for member in (0, 1):
        expected = ndcg_score(targets[member].int(), scores[member], k=10)
        assert found[member].mean().item() == pytest.approx(expected)


def test_by_hand():
    scores, targets = torch.tensor([[0.4, 0.3, 0.2, 0.1]]), torch.tensor([[0, 2, 0, 1]])
    assert recall_at(scores, targets, 1).item() == 0
    assert recall_at(scores, targets, 2).item() == 0.5
    assert recall_at(scores, targets, 4).item() == 1
    ideal = 1 + 1 / np.log2(3)
    assert ndcg_at(scores, targets, 4).item() == pytest.approx((1 / np.log2(3) + 1 / np.log2(5)) / ideal)
    one = torch.tensor([[0, 1, 0, 0]])  # one positive is enough for a full score
    assert recall_at(scores, one, 2).item() == 1
    assert ndcg_at(scores, one, 2).item() == pytest.approx(1 / np.log2(3))


def test_lists_longer_than_the_items_are_the_items():
    scores, targets = torch.tensor([0.6, 0.4]), torch.tensor([0, 1])
    assert recall_at(scores, targets, 10).item() == 1
    assert ndcg_at(scores, targets, 10).item() == pytest.approx(1 / np.log2(3))


def test_rows_without_positives_have_no_rank_and_no_loss():
    scores, nothing = torch.tensor([[0.6, 0.4]]), torch.zeros(1, 2)
    assert torch.isnan(recall_at(scores, nothing, 1)).all()
    assert torch.isnan(ndcg_at(scores, nothing, 1)).all()
    assert log_loss(scores, nothing).item() == 0


def test_scores_that_are_not_finite_have_no_rank():
    scores = torch.tensor([[0.6, torch.nan]])
    assert torch.isnan(recall_at(scores, torch.ones(1, 2), 1)).all()
    assert torch.isnan(ndcg_at(scores, torch.ones(1, 2), 1)).all()
