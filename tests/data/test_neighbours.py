import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from sparseid.data.neighbours import LabelIndex, label_changes, label_positives, positive_tables


def brute_force(labels, queries):
    """Return the nearest label of each query, the first of equal ones, and its squared distance."""
    distances = np.square(labels[None].astype(float) - queries[:, None].astype(float)).sum(axis=-1)
    return distances.argmin(axis=1), distances


@pytest.mark.parametrize("case", ["td2", "td3"])
def test_positives_are_those_of_cebra_for_the_same_draws(fixture_arrays, case):
    stored = fixture_arrays("regcl_timedelta")
    labels, reference, drawn = (stored[f"{case}_{name}"] for name in ("labels", "ref_idx", "diff_idx"))
    changes = label_changes(labels, int(stored[f"{case}_time_delta"]))
    np.testing.assert_array_equal(changes, stored[f"{case}_delta_table"])
    queries = labels[reference] + changes[drawn]
    np.testing.assert_array_equal(queries, stored[f"{case}_query"])
    found = LabelIndex(labels).nearest(queries)
    slack = 1e-6 * (1 + np.square(queries.astype(float)).sum(axis=1))
    clear = stored[f"{case}_gap64"] > slack
    assert clear.mean() > 0.9
    assert np.array_equal(found[clear], stored[f"{case}_pos_idx"][clear])
    distance = np.square(labels[found].astype(float) - queries).sum(axis=1)
    assert (distance <= stored[f"{case}_best_d2_64"] + slack).all()


def test_changes_over_several_steps():
    labels = np.array([[0.0], [1.0], [3.0], [6.0]], dtype=np.float32)
    assert label_changes(labels, 2)[:, 0].tolist() == [0, 0, 3, 5]


@settings(max_examples=50)
@given(
    arrays(
        np.float32, st.tuples(st.integers(1, 40), st.integers(1, 3)), elements=st.sampled_from([0.0, 1.0, 2.0, 5.0])
    ),
    st.integers(0, 10**6),
)
def test_nearest_label_is_the_first_of_the_nearest(labels, seed):
    queries = labels[np.random.default_rng(seed).integers(len(labels), size=20)] + np.float32(0.25)
    found = LabelIndex(labels).nearest(queries)
    expected, distances = brute_force(labels, queries)
    each = np.arange(len(queries))
    np.testing.assert_allclose(distances[each, found], distances[each, expected])
    np.testing.assert_array_equal(labels[found], labels[expected])
    assert np.array_equal(found, expected)  # labels on a grid, queries off it: no two labels are equally near


@pytest.mark.parametrize("delta", [1, 3])
def test_table_holds_nearest_labels_of_all_changes_alike(delta):
    rng = np.random.default_rng(0)
    labels = np.cumsum(rng.normal(size=(6, 2)), axis=0).astype(np.float32)
    table = label_positives(labels, delta, 3000, np.random.default_rng(1))
    assert table.dtype == np.int32
    changes = label_changes(labels, delta)
    for reference, row in enumerate(table):
        nearest, _ = brute_force(labels, labels[reference] + changes)
        expected = np.bincount(nearest, minlength=6) / 6  # each change is as likely as the others
        np.testing.assert_allclose(np.bincount(row, minlength=6) / 3000, expected, atol=0.04)


def test_zero_changes_make_a_sample_its_own_positive():
    labels = np.linspace(0, 1, 30, dtype=np.float32)[:, None]
    table = label_positives(labels, 29, 1, np.random.default_rng(0))  # one change of 1, 29 of 0
    assert (table[:, 0] == np.arange(30)).mean() > 0.7


def test_equal_labels_give_the_first_sample_quickly():
    labels = np.repeat(np.float32([[0], [1]]), 20000, axis=0)
    table = label_positives(labels, 1, 4, np.random.default_rng(0))
    assert np.unique(table[20000:]).tolist() == [20000]
    assert set(np.unique(table[:20000]).tolist()) <= {0, 20000}


def test_members_have_tables_of_their_own_whoever_is_beside_them():
    labels = torch.randn(3, 50, 2)
    tables = positive_tables(labels, [7, 0, 3], 1, 5)
    assert tables.shape == (3, 50, 5)
    assert torch.equal(positive_tables(labels[1:2], [0], 1, 5)[0], tables[1])
    same = positive_tables(labels[:1].expand(2, -1, -1), [0, 1], 1, 5)
    assert not torch.equal(same[0], same[1])
