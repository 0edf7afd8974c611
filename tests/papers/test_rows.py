"""Rows as a table: what is selected, and the values of a table entry, one per replicate."""

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sparseid.papers.rows import (
    keys_of,
    newest,
    no_rows,
    per_replicate,
    rows_frame,
    select,
    values_of,
    with_keys,
    without_baselines,
)
from sparseid.training.rows import Row

KEY_VALUES = st.sampled_from(["1", "a", "", 1, 1.0, 0, 0.0, 2.5, True, -1])
KEYS = st.dictionaries(st.sampled_from("abc"), KEY_VALUES)
BASE = {"run": "r", "paper": "tbr", "scale": "small", "recipe": "0", "unit": "", "n": 1, "commit": "", "dirty": False}
BASE |= {"device": "cpu", "written": "2026-05-01T10:00:00+00:00"}


def keyed(*keys):
    return with_keys(pd.DataFrame({"value": range(len(keys))}), keys)


def rows(entries):
    keys = [{} if dim is None else {"dim": dim} for _, dim, _ in entries]
    made = [
        Row(keys=key, seed=seed, metric="auc", value=v, **BASE) for key, (seed, _, v) in zip(keys, entries, strict=True)
    ]
    return rows_frame(made)


ENTRIES = [(10, 4, 1.0), (2, 4, 2.0), (2, 2, 3.0), (2, 2, 5.0), (0, 4, float("nan"))]


@pytest.mark.parametrize("entries", [ENTRIES, ENTRIES[::-1], ENTRIES[2:] + ENTRIES[:2]])
def test_values_stand_in_the_order_of_their_replicates_whenever_they_were_measured(entries):
    assert per_replicate(rows(entries), "auc").tolist() == [10 / 3, 1.0]
    by_dim = per_replicate(rows(entries), "auc", ["dim"])
    assert list(by_dim.index) == [(2, 2), (2, 4), (10, 4)]
    assert by_dim.tolist() == [4.0, 2.0, 1.0]


def test_a_key_that_some_rows_lack():
    assert per_replicate(rows([(1, None, 1.0), (1, 2, 2.0)]), "auc", ["dim"]).tolist() == [2.0, 1.0]


def test_simple_baselines_are_left_out():
    found = keyed({"method": "sparling_mt"}, {"method": "most_frequent"}, {})
    assert without_baselines(found).index.tolist() == [0, 2]


def test_no_rows():
    assert len(per_replicate(rows(ENTRIES), "mcc")) == 0
    assert len(per_replicate(no_rows(), "mcc", ["dim"])) == 0
    assert values_of(no_rows(), "dim") == []


def test_none_allows_rows_without_the_key():
    frame = keyed({"a": 1}, {"a": 2}, {"b": 1})
    assert select(frame, {"a": (1, None)})["value"].tolist() == [0, 2]
    assert select(frame, {"a": (1,)})["value"].tolist() == [0]
    assert select(frame, {"a": (None,), "b": (1, 2)})["value"].tolist() == [2]


@given(
    st.lists(KEYS, min_size=1, max_size=6),
    st.dictionaries(st.sampled_from("abcd"), st.lists(st.none() | KEY_VALUES, max_size=3)),
)
def test_a_row_is_selected_if_each_key_is_one_of_the_allowed_values(keys, allowed):
    """As Python compares: 1, 1.0 and True are equal, "1" is another value."""
    expected = [i for i, own in enumerate(keys) if all(own.get(name) in allowed[name] for name in allowed)]
    assert select(keyed(*keys), allowed)["value"].tolist() == expected


@given(st.lists(KEYS, max_size=6))
def test_keys_of_rows_are_those_they_were_given_also_beside_rows_with_others(keys):
    found = keys_of(keyed(*keys))
    assert found == keys
    assert [list(map(type, own.values())) for own in found] == [
        [type(own[name]) for name in of_row] for own, of_row in zip(keys, found, strict=True)
    ]
    together = pd.concat([keyed(*keys, {}), keyed({"z": 1})], ignore_index=True)
    assert keys_of(together) == [*keys, {}, {"z": 1}]


def test_with_other_keys_nothing_of_the_old_ones_is_left():
    assert keys_of(with_keys(keyed({"a": 1}, {"b": 2}), [{"c": 3}, {}])) == [{"c": 3}, {}]


def test_a_key_distinguishes_rows_of_which_the_newest_counts():
    made = [
        Row(keys=key, seed=0, metric="auc", value=value, **BASE | {"written": f"2026-05-01T{hour}:00:00+00:00"})
        for key, value, hour in [({}, 1.0, 12), ({"dim": 4}, 2.0, 11), ({}, 3.0, 10), ({"dim": 4}, 4.0, 13)]
    ]
    assert newest(rows_frame(made))["value"].tolist() == [1.0, 4.0]
