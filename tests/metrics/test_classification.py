import numpy as np
import pytest

from sparseid.metrics.classification import cross_validated_accuracy


def blobs(distance, seed=0):
    rng = np.random.default_rng(seed)
    centres = distance * np.array([[0, 0], [1, 0], [0, 1]])
    labels = np.repeat([0, 1, 2], 40)
    return centres[labels] + rng.normal(size=(120, 2)), np.array(["a", "b", "c"])[labels]


def test_classes_apart_are_told_and_equal_ones_are_not():
    assert cross_validated_accuracy(*blobs(10)) == 1
    assert cross_validated_accuracy(*blobs(0)) == pytest.approx(1 / 3, abs=0.15)
    assert 0.6 < cross_validated_accuracy(*blobs(2)) < 0.99


def test_scale_and_shift_of_codes_do_not_count():
    codes, labels = blobs(2)
    moved = codes * [1e4, 1e-4] + [-7, 3]
    assert cross_validated_accuracy(moved, labels) == pytest.approx(cross_validated_accuracy(codes, labels))


def test_folds_are_the_seeds():
    codes, labels = blobs(2)
    values = {cross_validated_accuracy(codes, labels, seed=seed) for seed in range(5)}
    assert len(values) > 1
    assert cross_validated_accuracy(codes, labels, seed=3) == cross_validated_accuracy(codes, labels, seed=3)


def test_corner_cases():
    codes, labels = blobs(2)
    assert cross_validated_accuracy(codes, np.repeat("a", 120)) == 1
    assert np.isnan(cross_validated_accuracy(np.full_like(codes, np.nan), labels))
    with pytest.raises(ValueError, match="class d has 1 samples, fewer than the 5 folds"):
        cross_validated_accuracy(codes, np.array([*labels[:-1], "d"]))
    with pytest.raises(ValueError, match="codes of 120 samples, labels of 119"):
        cross_validated_accuracy(codes, labels[1:])
