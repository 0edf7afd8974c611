"""AUC of attribution maps against scikit-learn and cebra, what it is invariant to, and the minimum-norm map."""

import numpy as np
import pytest
import torch
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from sklearn.metrics import roc_auc_score

from sparseid.metrics.attribution import attribution_auc, map_statistics, minimum_norm_auc


@pytest.mark.parametrize("case", ["float", "block", "rounded"])
def test_auc_and_statistics_are_those_of_cebra(fixture_arrays, case):
    arrays = fixture_arrays("regcl_auc")
    maps, truth = arrays[f"{case}_map"], arrays[f"{case}_gt"]
    assert attribution_auc(maps, truth) == pytest.approx(float(arrays[f"{case}_auc"]), abs=1e-12)
    found = map_statistics(maps, truth)
    np.testing.assert_allclose([found[name] for name in sorted(found)], arrays[f"{case}_metrics"], atol=1e-6)


@given(st.integers(0, 2**32 - 1), st.integers(1, 4), st.integers(1, 9), st.sampled_from([0, 1, 8]))
@settings(max_examples=60)
def test_auc_is_that_of_scikit_learn_and_depends_on_the_order_only(seed, outputs, features, decimals):
    rng = np.random.default_rng(seed)
    maps, truth = rng.normal(size=(outputs, features)).round(decimals), rng.random((outputs, features)) < 0.5
    assume(truth.any() and not truth.all())
    auc = attribution_auc(maps, truth)
    assert auc == pytest.approx(roc_auc_score(truth.ravel(), maps.ravel()), abs=1e-12)
    assert attribution_auc(np.exp(maps) * 7, truth) == pytest.approx(auc, abs=1e-12)
    assert attribution_auc(-maps, truth) == pytest.approx(1 - auc, abs=1e-12)
    assert attribution_auc(maps, ~truth) == pytest.approx(1 - auc, abs=1e-12)
    order = rng.permutation(features)
    assert attribution_auc(maps[::-1][:, order], truth[::-1][:, order]) == pytest.approx(auc, abs=1e-12)


def test_members_and_rows():
    rng = np.random.default_rng(1)
    maps, truth = rng.random((5, 4, 6)), rng.random((4, 6)) < 0.5
    together = attribution_auc(maps, truth, rows=slice(2, 4))
    assert together.shape == (5,)
    for member in range(5):
        assert together[member] == attribution_auc(maps[member, 2:], truth[2:])
        assert together[member] == attribution_auc(maps[member], truth, rows=[3, 2])
    own = rng.random((5, 4, 6)) < 0.5
    assert attribution_auc(maps, own)[3] == attribution_auc(maps[3], own[3])
    np.testing.assert_array_equal(map_statistics(maps, own)["gap_mean"][3], map_statistics(maps[3], own[3])["gap_mean"])


def test_one_kind_of_entries_and_nan_have_no_score():
    maps = np.arange(6.0).reshape(2, 3)
    for truth in (np.ones((2, 3), bool), np.zeros((2, 3), bool)):
        assert np.isnan(attribution_auc(maps, truth))
        assert np.isnan(map_statistics(maps, truth)["gap_minmax"])
    truth = np.array([[True, False, True]] * 2)
    stack = np.stack([maps, np.where(maps == 4, np.nan, maps)])
    assert np.isfinite(attribution_auc(stack, truth)).tolist() == [True, False]
    assert np.isfinite(map_statistics(stack, truth)["mean_connected"]).tolist() == [True, False]


def test_what_cannot_be_scored_is_refused():
    with pytest.raises(ValueError, match="boolean"):
        attribution_auc(np.ones((2, 3)), np.ones((2, 3)))
    with pytest.raises(ValueError, match="same outputs and features"):
        attribution_auc(np.ones((2, 3)), np.ones((3, 3), bool))


def test_minimum_norm_auc_is_that_of_the_mean_inverse():
    rng = np.random.default_rng(0)
    jacobians = rng.normal(size=(6, 50, 12, 3))  # members, samples, features, latents
    truth = np.ones((3, 12), bool)
    truth[2, :6] = False
    jacobians[..., ~truth.T] = 0
    found = minimum_norm_auc(jacobians, truth, rows=[2])
    for member in range(6):
        inverse = np.abs(np.linalg.pinv(jacobians[member])).mean(axis=0)
        assert found[member] == pytest.approx(roc_auc_score(truth[2], inverse[2]), abs=1e-12)
        assert minimum_norm_auc(torch.tensor(jacobians[member]), truth, [2]) == found[member]


def test_latents_that_share_no_feature_have_a_perfect_minimum_norm_map():
    jacobians = np.zeros((20, 6, 2))
    jacobians[:, :3, 0], jacobians[:, 3:, 1] = np.random.default_rng(0).normal(size=(2, 20, 3)) + 3
    truth = np.array([[True] * 3 + [False] * 3, [False] * 3 + [True] * 3])
    assert minimum_norm_auc(jacobians, truth) == 1


def test_the_jacobian_itself_is_read_off_an_encoder_that_inverts_the_generator():
    # RegCL, theorem 2: J_f = J_g^+ has the inverse J_g, whose zeros are those of the truth
    from sparseid.metrics.attribution import attribution_map

    rng = np.random.default_rng(2)
    mixing = rng.normal(size=(8, 3))
    mixing[:4, 2] = 0
    encoder = np.linalg.pinv(mixing)
    found = attribution_map(lambda x: x @ torch.tensor(encoder.T), rng.normal(size=(10, 8)))
    np.testing.assert_allclose(found, np.abs(mixing.T), atol=1e-9)
    truth = mixing.T != 0
    assert attribution_auc(found, truth, rows=[2]) == 1
    assert minimum_norm_auc(mixing[None], truth, rows=[2]) < 1
