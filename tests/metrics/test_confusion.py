"""Shares of kinds; the arrangement for drawing is compared with the published one in test_motifs.py."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from sparseid.metrics.confusion import arrange_confusion, channel_kinds, join_channels, kind_columns, kind_shares

COUNTS = np.array([[60, 0, 20, 0, 20], [0, 90, 0, 0, 10], [0, 0, 0, 0, 0], [1, 0, 3, 4, 0]])
"""Three kinds, the last of which does not occur; four channels, the last of which only fires where nothing is."""


def test_channels_of_one_kind_count_together_and_a_kind_that_does_not_occur_has_no_share():
    shares = kind_shares(COUNTS)
    np.testing.assert_allclose(shares.to_kind[:2], [[0.8, 0, 0], [0, 0.9, 0]])
    assert np.isnan(shares.to_kind[2]).all()
    np.testing.assert_allclose(shares.to_kind[3], [0.5, 0, 0])  # the other half is in the channel without a kind
    np.testing.assert_allclose(shares.missed, [0.2, 0.1, np.nan])
    np.testing.assert_allclose(shares.row_shares, np.array([100, 100, 0, 8]) / 208)
    assert shares.busiest_outside == 0.5


def test_a_channel_is_of_the_kind_it_fires_on_most_by_row_share():
    assert channel_kinds(COUNTS).tolist() == [0, 1, 0, -1]
    rare_and_frequent = np.array([[30, 970], [9, 1], [0, 0]])  # 3 % of a frequent kind, 90 % of a rare one
    assert channel_kinds(rare_and_frequent).tolist() == [1]


def test_joined_channels_keep_all_counts_and_name_their_channels():
    joined, names = join_channels(COUNTS)
    assert names == [(3,), (0, 2), (1,)]
    assert joined.tolist() == [[0, 80, 0, 20], [0, 0, 90, 10], [0, 0, 0, 0], [4, 4, 0, 0]]
    assert [names[column] for column in arrange_confusion(joined).channels[:-1]] == [(3,), (0, 2), (1,)]


def test_channels_are_joined_by_counts_and_only_if_there_are_more_than_kinds():
    """As in the authors' code: LaTeX-OCR's channels are joined, those of DigitCircle and audio are not."""
    more = np.array([[30, 970, 5, 0], [20, 1, 9, 0], [0, 0, 0, 0]])  # by row fraction the first would be the second's
    assert kind_columns(more) == [(0, 1), (2,)]
    assert join_channels(more)[1] == [(0, 1), (2,)]
    np.testing.assert_allclose(kind_shares(more).to_kind[:2], [[1000 / 1005, 5 / 1005], [21 / 30, 9 / 30]])
    same = np.array([[60, 30, 0, 10], [0, 0, 90, 10], [0, 0, 80, 20], [0, 0, 0, 0]])
    assert kind_columns(same) == [(0,), (2,), ()]
    joined, columns = join_channels(same)
    assert columns == [(0,), (1,), (2,)]
    assert np.array_equal(joined, same)
    np.testing.assert_allclose(kind_shares(same).to_kind[:3], [[0.6, 0, 0], [0, 0.9, 0], [0, 0.8, 0]])


@given(arrays(np.int64, (4, 6), elements=st.integers(0, 20)))
def test_every_row_is_shared_out(matrix):
    matrix[-1, -1] = 0  # an activation outside every box is no missed site
    shares = kind_shares(matrix)
    without_kind = matrix[:-1, :-1][:, channel_kinds(matrix) == -1]
    assert not without_kind.any()
    occurs = matrix[:-1].sum(axis=1) > 0
    np.testing.assert_allclose((shares.to_kind[:-1].sum(axis=1) + shares.missed)[occurs], 1)
    assert join_channels(matrix)[0].sum() == matrix.sum()
    assert np.isnan(shares.busiest_outside) == (matrix[-1].sum() == 0)
