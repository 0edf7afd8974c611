import numpy as np
import pytest

from sparseid.metrics.swaps import selectivity, transfer_and_leak


def test_transfer_counts_images_that_differed_and_leak_all_others():
    rng = np.random.default_rng(0)
    before, after = rng.integers(3, size=(2, 5, 7, 4))
    for factor in range(4):
        arrived, leaked = [], []
        for batch in range(5):
            for image in range(1, 7):
                if before[batch, image, factor] != before[batch, 0, factor]:
                    arrived.append(after[batch, image, factor] == before[batch, 0, factor])
                leaked += [
                    after[batch, image, other] != before[batch, image, other] for other in range(4) if other != factor
                ]
        assert transfer_and_leak(before, after, factor) == pytest.approx((np.mean(arrived), np.mean(leaked)))


def test_shares_of_nothing_are_not_numbers():
    same = np.zeros((1, 3, 1), int)
    assert np.isnan(transfer_and_leak(same, same, 0)).all()


def test_selectivity_is_the_share_of_changes():
    before = np.array([[0, 0], [1, 1]])
    after = np.array([[[1, 0], [2, 3]], [[1, 1], [0, 1]]])
    assert selectivity(before, after, 0) == pytest.approx(3 / 4)
    assert selectivity(before, after, 1) == pytest.approx(1 / 4)
    assert selectivity(before, np.repeat(before[:, None], 3, axis=1), 0) == 0
