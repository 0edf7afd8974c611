import numpy as np
import pytest

from sparseid.metrics.projection import class_silhouette, tsne_plane


def test_classes_apart_stay_apart_in_the_plane_and_equal_ones_do_not():
    rng = np.random.default_rng(0)
    labels = np.repeat(["a", "b"], 40)
    apart = np.concatenate([rng.normal(size=(40, 5)), 20 + rng.normal(size=(40, 5))])
    assert class_silhouette(tsne_plane(apart), labels) > 0.7
    assert abs(class_silhouette(tsne_plane(rng.normal(size=(80, 5))), labels)) < 0.1


def test_equal_codes_share_a_place_and_the_seed_decides():
    codes = np.random.default_rng(0).normal(size=(20, 3))
    codes[5] = codes[2]
    plane = tsne_plane(codes, seed=1)
    np.testing.assert_array_equal(plane[5], plane[2])
    np.testing.assert_array_equal(plane, tsne_plane(codes, seed=1))


def test_corner_cases():
    assert np.isnan(tsne_plane(np.full((5, 2), np.nan))).all()
    assert np.isnan(class_silhouette(np.full((5, 2), np.nan), np.array(list("aabbb"))))
    assert np.isnan(class_silhouette(np.zeros((3, 2)), np.array(list("aaa"))))
    assert np.isnan(class_silhouette(np.zeros((3, 2)), np.array(list("abc"))))
    with pytest.raises(ValueError, match="three or more distinct codes, got 1"):
        tsne_plane(np.zeros((5, 2)))
