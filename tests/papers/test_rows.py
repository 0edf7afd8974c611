"""Values of a cell, one per replicate."""

import pandas as pd
import pytest

from sparseid.papers.rows import per_replicate, select


def rows(entries):
    frame = pd.DataFrame(entries, columns=["seed", "dim", "value"])
    keys = [{"dim": dim} if dim is not None else {} for dim in frame["dim"]]
    return frame.assign(keys=keys, metric="auc").drop(columns="dim")


ENTRIES = [(10, 4, 1.0), (2, 4, 2.0), (2, 2, 3.0), (2, 2, 5.0), (0, 4, float("nan"))]


@pytest.mark.parametrize("entries", [ENTRIES, ENTRIES[::-1], ENTRIES[2:] + ENTRIES[:2]])
def test_values_stand_in_the_order_of_their_replicates_whenever_they_were_measured(entries):
    assert per_replicate(rows(entries), "auc").tolist() == [10 / 3, 1.0]
    by_dim = per_replicate(rows(entries), "auc", ["dim"])
    assert list(by_dim.index) == [(2, 2), (2, 4), (10, 4)]
    assert by_dim.tolist() == [4.0, 2.0, 1.0]


def test_a_key_that_some_rows_lack():
    assert per_replicate(rows([(1, None, 1.0), (1, 2, 2.0)]), "auc", ["dim"]).tolist() == [2.0, 1.0]


def test_no_rows():
    assert len(per_replicate(rows(ENTRIES), "mcc")) == 0


def test_none_allows_rows_without_the_key():
    frame = pd.DataFrame({"keys": [{"a": 1}, {"a": 2}, {"b": 1}], "value": [1, 2, 3]})
    assert select(frame, {"a": (1, None)})["value"].tolist() == [1, 3]
    assert select(frame, {"a": (1,)})["value"].tolist() == [1]
    assert select(frame, {"a": (None,), "b": (1, 2)})["value"].tolist() == [3]
