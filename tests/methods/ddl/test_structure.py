from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from sparseid.data.mlp_mixture.masks import FAMILIES, circulant
from sparseid.methods.ddl.structure import (
    as_mask,
    atomic_regions,
    dependency_structure,
    evidence,
    implications,
    indeterminacy,
    index_set,
    keeps_support,
    perfect_matching,
    separated_by,
    separation,
    structurally_sparse,
    sufficiently_diverse,
)

MASKS = st.tuples(st.integers(1, 4), st.integers(1, 4)).flatmap(lambda shape: arrays(bool, shape))
VENN = as_mask([[1, 0, 0, 1, 1, 0, 1], [0, 1, 0, 1, 0, 1, 1], [0, 0, 1, 0, 1, 1, 1]])
"""Three sets with a latent in each of the seven regions of their diagram (Figure 3)."""


def subsets(count):
    return [chosen for size in range(1, count + 1) for chosen in combinations(range(count), size)]


@pytest.mark.parametrize("n", [3, 4, 5])
@pytest.mark.parametrize(
    ("family", "diverse", "sparse"),
    [
        ("identity", True, True),
        ("circulant", True, True),
        ("lower_triangular", True, False),
        ("ones_minus_identity", True, True),
        ("dense", False, False),
        ("dense_minus_edge", False, False),
    ],
)
def test_families(family, n, diverse, sparse):
    mask = circulant(n, 2) if family == "circulant" else FAMILIES[family](n)
    assert sufficiently_diverse(mask) == diverse
    assert structurally_sparse(mask) == sparse
    separated = [latent for latent, clauses in enumerate(evidence(mask)) if clauses]
    assert len(separated) == {"dense": 0, "dense_minus_edge": 1}.get(family, n)


def test_distinct_columns_are_not_enough_for_sufficient_diversity():
    mask = np.array([list(column) for column in ("1100", "1110", "1101", "1000", "0100")], dtype=int).T == 1
    assert len(atomic_regions(mask)) == 5
    assert [bool(clauses) for clauses in evidence(mask)] == [False, True, True, True, True]


def test_nor_are_they_where_g_can_be_injective():
    mask = as_mask([[1, 0, 1, 1, 1], [1, 0, 0, 0, 0], [1, 1, 1, 0, 1], [0, 0, 1, 0, 0], [1, 0, 1, 1, 1]])
    assert perfect_matching(mask) is not None
    assert len(atomic_regions(mask)) == 5
    assert [bool(clauses) for clauses in evidence(mask)] == [True, True, True, True, False]
    assert (indeterminacy(mask) | np.eye(5, dtype=bool)).all()  # Theorem 1 tells the last one from all others


@given(MASKS)
def test_single_observations_separate_what_any_two_sets_do(mask):
    latents = mask.shape[1]
    brute = np.zeros((latents, latents), dtype=bool)
    by_structure = brute.copy()
    for first in subsets(len(mask)):
        for second in subsets(len(mask)):
            pairs = separated_by(mask, first, second)
            brute |= pairs["intersection"] | pairs["symmetric difference"] | pairs["complement"]
            by_structure |= pairs["intersection"] | pairs["complement"]
            implied = implications(mask, first, second)
            assert (implied["object-centric"] == (pairs["intersection"] | pairs["complement"])).all()
            assert (implied["individual-centric"] == (pairs["symmetric difference"] | pairs["complement"])).all()
            assert (implied["shared-centric"] == pairs["intersection"]).all()
    assert (indeterminacy(mask) == brute).all()
    read = np.outer(mask.any(axis=0), mask.any(axis=0))
    assert ((~keeps_support(mask) & read) == by_structure).all()  # (R) is conditions (i) and (iii)
    for i, j in np.ndindex(latents, latents):
        found = separation(mask, i, j)
        assert (found is not None) == brute[i, j]
        if found is not None:
            assert separated_by(mask, [found.first], [found.second])[found.condition][i, j]
            assert (found.condition != "symmetric difference") == by_structure[i, j]


@given(MASKS)
def test_what_is_identified_without_independence_is_what_meets_clause_3(mask):
    alone = (keeps_support(mask) == np.eye(mask.shape[1], dtype=bool)).all(axis=1) & mask.any(axis=0)
    by_clause = [any(one.clause == 3 for one in clauses) for clauses in evidence(mask)]
    assert alone.tolist() == by_clause
    assert structurally_sparse(mask) == alone.all()


@given(arrays(bool, st.tuples(st.integers(2, 6), st.integers(2, 5))), st.integers(0, 2**32 - 1))
def test_a_map_with_the_pattern_of_the_rule_keeps_the_support_and_one_entry_more_does_not(mask, seed):
    rng = np.random.default_rng(seed)
    jacobians = rng.standard_normal((4, *mask.shape)) * mask
    pattern = keeps_support(mask)
    transition = rng.standard_normal(pattern.shape) * pattern
    structure = dependency_structure(jacobians)
    assert (structure == mask).all()
    assert (dependency_structure(jacobians @ transition, 1e-9) == mask).all()
    for i, j in np.argwhere(~pattern):
        more = transition.copy()
        more[i, j] = 1 + rng.random()
        grown = dependency_structure(jacobians @ more, 1e-9)
        assert (grown & ~mask).any()
        assert (grown >= mask).all()


def test_every_region_of_three_sets_is_separated_by_two_choices():
    assert atomic_regions(VENN) == [[latent] for latent in range(7)]
    a, b, c = [0], [1], [2]
    choices = {  # Example 5
        0: [(a, b), (a, c)],
        1: [(b, a), (b, c)],
        2: [(c, a), (c, b)],
        3: [(a, b), (a + b, c)],
        4: [(a, c), (a + c, b)],
        5: [(b, c), (b + c, a)],
        6: [(a, b), (a, c), (b, c)],
    }
    for latent, sets in choices.items():
        told = np.zeros(7, dtype=bool)
        for first, second in sets:
            told |= np.any([pairs[latent] for pairs in separated_by(VENN, first, second).values()], axis=0)
        assert set(np.flatnonzero(~told)) == {latent}, latent


def test_regions_of_some_observations_only():
    assert atomic_regions(VENN, [2]) == [[2, 4, 5, 6]]
    assert index_set(VENN, [0, 1]).tolist() == [True, True, False, True, True, True, True]


def mixed(z):
    """Return (samples, 2) x1 = g1(z1), x2 = g2(z1, z2), injective, and their Jacobians."""
    first, second = z.T
    x = np.stack([first + 0.3 * np.tanh(first), second + 0.3 * np.sin(first)], axis=1)
    zero = np.zeros_like(first)
    jacobian = np.stack([1 + 0.3 / np.cosh(first) ** 2, zero, 0.3 * np.cos(first), zero + 1], axis=1)
    return x, jacobian.reshape(-1, 2, 2)


def test_dependent_latents_break_condition_ii_and_no_edge_gives_it_away():
    """z^1 = z1, z^2 = z2 + z1 is another model of the same observations with the same edges; z2 depends on z^1."""
    mask = as_mask([[1, 0], [1, 1]])
    z = np.random.default_rng(0).standard_normal((20_000, 2))
    learned = np.stack([z[:, 0], z[:, 1] + z[:, 0]], axis=1)
    transition = np.array([[1.0, 0.0], [-1.0, 1.0]])  # dz / dz^
    np.testing.assert_allclose(learned @ transition.T, z, atol=1e-12)
    assert (dependency_structure(mixed(z)[1]) == mask).all()
    assert (dependency_structure(mixed(learned @ transition.T)[1] @ transition) == mask).all()
    assert separation(mask, 1, 0).condition == "symmetric difference"
    assert keeps_support(mask)[1, 0]
    assert transition[1, 0] != 0  # the condition says it is
    assert np.corrcoef(learned.T)[0, 1] == pytest.approx(0.5**0.5, abs=0.02)  # a prior that factorises excludes it


def test_independent_normal_latents_do_not_save_condition_ii_in_a_block_of_several():
    """(z2, z3) is (z^2, z^3) turned by an angle that depends on z^1: all of them are independent and normal."""
    mask = as_mask([[1, 0, 0], [1, 1, 1], [1, 1, 1]])
    learned = np.random.default_rng(0).standard_normal((50_000, 3))
    cos, sin = np.cos(learned[:, 0]), np.sin(learned[:, 0])
    second, third = cos * learned[:, 1] - sin * learned[:, 2], sin * learned[:, 1] + cos * learned[:, 2]
    z = np.stack([learned[:, 0], second, third], axis=1)
    np.testing.assert_allclose(np.cov(z.T), np.eye(3), atol=0.03)
    radius = np.square(z[:, 1:]).sum(axis=1)
    np.testing.assert_allclose(np.square(learned[:, 1:]).sum(axis=1), radius)  # the density of z is that of z^
    one, zero = np.ones_like(cos), np.zeros_like(cos)
    transition = np.stack([one, zero, zero, -third, cos, -sin, second, sin, cos], axis=1).reshape(-1, 3, 3)
    jacobians = np.random.default_rng(1).standard_normal((50_000, 3, 3)) * mask  # of any g with these edges
    assert (dependency_structure(jacobians @ transition) == mask).all()
    assert separation(mask, 1, 0).condition == "symmetric difference"
    assert np.abs(transition[:, 1, 0]).mean() > 0.5
