"""Trees of environments: numbering, incidence, clustering, taking an environment out."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sparseid.data.trees import ROOT, Tree, perfect_binary_tree, tree_of_merges, without_environment

MERGES = np.array([[0, 1, 0.1, 2], [3, 4, 0.2, 2], [2, 5, 0.3, 3], [6, 7, 0.4, 5]])
"""Groups 0..4: (0 1) is node 5, (3 4) node 6, (2 5) node 7, the root node 8."""


@st.composite
def random_trees(draw):
    nodes = draw(st.integers(2, 12))
    above = [draw(st.integers(0, node - 1)) for node in range(1, nodes)]
    shuffled = np.array(draw(st.permutations(range(nodes))))
    parents = np.full(nodes, ROOT)
    for node, parent in enumerate(above, start=1):
        parents[shuffled[node]] = shuffled[parent]
    return Tree(parents, np.arange(nodes))


@pytest.mark.parametrize(("depth", "nodes", "environments"), [(7, 255, 254), (8, 511, 510)])
def test_published_trees_have_the_published_counts(depth, nodes, environments):
    tree = perfect_binary_tree(depth)
    assert (tree.nodes, tree.arcs, len(tree.observed)) == (nodes, nodes - 1, environments)
    assert tree.incidence.shape == (environments, nodes - 1)
    leaves = perfect_binary_tree(depth, leaves_only=True)
    np.testing.assert_array_equal(leaves.observed, leaves.leaves)
    assert set(leaves.incidence.sum(axis=1)) == {depth}
    assert len(leaves.observed) == 2**depth


def test_arcs_between_observed_environments():
    tree = perfect_binary_tree(2)
    np.testing.assert_array_equal(tree.observed_arcs, [[0, 2], [0, 3], [1, 4], [1, 5]])
    assert len(perfect_binary_tree(7).observed_arcs) == 252
    assert len(perfect_binary_tree(3, leaves_only=True).observed_arcs) == 0


def test_a_clustering_is_a_tree_over_its_groups():
    tree = tree_of_merges(MERGES)
    np.testing.assert_array_equal(tree.parents, [5, 5, 7, 6, 6, 7, 8, 8, ROOT])
    assert (tree.root, tree.arcs) == (8, 8)
    np.testing.assert_array_equal(tree.leaves, tree.observed)
    on_path = [np.flatnonzero(row).tolist() for row in tree.incidence]
    assert on_path == [[0, 5, 7], [1, 5, 7], [2, 7], [3, 6], [4, 6]]
    assert set(tree.incidence.ravel()) == {0, 1}


@given(random_trees())
def test_incidence_follows_the_parents(tree):
    rows = dict(zip(tree.observed, tree.incidence, strict=True))
    assert not rows[tree.root].any()
    for arc, node in enumerate(tree.lower_nodes):
        expected = rows[tree.parents[node]].copy()
        expected[arc] += 1
        np.testing.assert_array_equal(rows[node], expected)


def test_weights_are_sums_of_deltas_along_the_path():
    deltas = np.arange(1.0, 9)[:, None]
    np.testing.assert_array_equal(tree_of_merges(MERGES).incidence @ deltas, [[15], [16], [11], [11], [12]])


def test_an_environment_taken_out_leaves_its_parent_with_one_child():
    tree, kept = without_environment(tree_of_merges(MERGES), 2)
    np.testing.assert_array_equal(kept, [0, 1, 3, 4, 5, 6, 7, 8])
    np.testing.assert_array_equal(tree.parents, [4, 4, 5, 5, 6, 7, 7, ROOT])
    np.testing.assert_array_equal(tree.observed, [0, 1, 2, 3])
    np.testing.assert_array_equal(tree.incidence.sum(axis=1), [3, 3, 2, 2])


def test_contracting_joins_the_two_arcs_of_that_parent():
    tree, kept = without_environment(tree_of_merges(MERGES), 2, contract=True)
    np.testing.assert_array_equal(kept, [0, 1, 3, 4, 5, 6, 8])
    np.testing.assert_array_equal(tree.parents, [4, 4, 5, 5, 6, 6, ROOT])
    np.testing.assert_array_equal(tree.incidence.sum(axis=1), [2, 2, 2, 2])


def test_contracting_below_the_root_makes_the_other_child_the_root():
    merges = np.array([[0, 1, 0.1, 2], [2, 3, 0.2, 3]])
    tree, kept = without_environment(tree_of_merges(merges), 2, contract=True)
    np.testing.assert_array_equal(kept, [0, 1, 3])
    np.testing.assert_array_equal(tree.parents, [2, 2, ROOT])


@pytest.mark.parametrize(
    ("parents", "observed", "message"),
    [
        ([-1, -1, 0], [2], "exactly one node"),
        ([-1, 2, 1], [2], "cycle"),
        ([-1, 3, 0], [2], "from 0 to 2"),
        ([-1, 0, 0], [3], "from 0 to 2"),
    ],
)
def test_what_is_no_tree_is_refused(parents, observed, message):
    with pytest.raises(ValueError, match=message):
        Tree(np.array(parents), np.array(observed))


def test_only_leaves_can_be_taken_out():
    with pytest.raises(ValueError, match="not at a leaf"):
        without_environment(perfect_binary_tree(2), 0)
    with pytest.raises(ValueError, match="has data"):
        without_environment(perfect_binary_tree(2), 2, contract=True)
    with pytest.raises(ValueError, match="depth 1 or more"):
        perfect_binary_tree(0)
