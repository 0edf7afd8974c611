import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from sparseid.metrics.structure import forbidden_entry, structure_recovery, support_of

CHAIN = np.array([[1, 0, 0], [1, 1, 0], [1, 1, 1]])
masks = st.integers(1, 4).flatmap(lambda n: arrays(bool, (n + 1, n)))


def test_small_entries_count_against_the_largest_of_their_row():
    strength = np.array([[1.0, 0.1, 0.09], [100.0, 1.0, 11.0], [0.0, 0.0, 0.0]])
    assert support_of(strength).tolist() == [[True, True, False], [True, False, True], [False] * 3]
    assert support_of(strength, threshold=0.5).sum() == 2


@given(masks, st.randoms(use_true_random=False))
def test_the_truth_is_recovered_in_any_order_and_scale_of_rows(mask, random):
    order = random.sample(range(mask.shape[1]), mask.shape[1])
    scales = np.array([random.uniform(0.1, 10) for _ in mask])[:, None]
    assert structure_recovery(scales * mask[:, order], mask) == (1.0, 0.0)


@given(masks.flatmap(lambda mask: st.tuples(st.just(mask), arrays(bool, mask.shape))))
def test_f1_is_that_of_the_edges_under_the_best_matching(pair):
    from itertools import permutations

    mask, found = pair
    by_order = {}
    for order in permutations(range(mask.shape[1])):
        columns = found[:, list(order)]
        both, either = int((columns & mask).sum()), int((columns ^ mask).sum())
        by_order[order] = (either, 1.0 if not both and not either else 2 * both / (2 * both + either))
    shd, f1 = min(by_order.values())
    recovered = structure_recovery(found.astype(float), mask)
    assert recovered.shd == shd
    assert recovered.f1 == pytest.approx(f1)


def test_one_edge_too_many_and_one_missing():
    assert structure_recovery(np.array([[1.0, 1.0], [0.0, 1.0]]), np.eye(2)) == pytest.approx((4 / 5, 1))
    assert structure_recovery(np.array([[1.0, 0.0], [0.0, 0.0]]), np.eye(2)) == pytest.approx((2 / 3, 1))


def test_what_is_not_finite_has_no_structure_and_other_shapes_are_refused():
    assert np.isnan(structure_recovery(np.array([[1.0, np.nan], [0.0, 1.0]]), np.eye(2))).all()
    with pytest.raises(ValueError, match=r"structure \(2, 3\) and the mask \(2, 2\) must have the same shape"):
        structure_recovery(np.ones((2, 3)), np.eye(2))


@pytest.mark.parametrize("order", [[0, 1, 2], [2, 0, 1]])
def test_only_entries_whose_children_are_not_contained_are_forbidden(order):
    """In the chain the children of 3 are among those of 2, and these among those of 1: T is triangular."""
    transition = np.array([[1.0, 0.03, 0.02], [0.5, 1.0, 0.04], [0.5, 0.5, 1.0]])
    assert forbidden_entry(transition[:, order], CHAIN) == pytest.approx(0.04)
    transition[0, 2] = 0.3
    assert forbidden_entry(transition[:, order], CHAIN) == pytest.approx(0.3)


def test_a_dense_mask_forbids_nothing_and_diverged_members_have_no_entry():
    assert np.isnan(forbidden_entry(np.eye(3), np.ones((3, 3))))
    assert np.isnan(forbidden_entry(np.full((3, 3), np.inf), CHAIN))
    with pytest.raises(ValueError, match="must have the same number of latents"):
        forbidden_entry(np.eye(2), CHAIN)


@given(masks, st.integers(0, 2**32 - 1))
def test_a_transition_that_follows_the_rule_keeps_the_support_and_has_no_forbidden_entry(mask, seed):
    generator = np.random.default_rng(seed)
    contained = (mask[:, :, None] <= mask[:, None, :]).all(axis=0)
    size = mask.shape[1]
    transition = np.where(contained, generator.uniform(0.1, 0.2, (size, size)), 0.0)
    transition[np.diag_indices(size)] += 1.0
    order = generator.permutation(size)
    value = forbidden_entry(transition[:, order], mask)
    assert np.isnan(value) if contained.all() else value == 0
    jacobian = generator.uniform(1, 2, mask.shape) * mask
    assert ((jacobian @ transition != 0) == mask).all()
