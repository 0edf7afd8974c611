import math

import numpy as np
import pytest

from sparseid.metrics.single_motif import count_predictions, single_motif_error


def test_counts():
    matrix = count_predictions(np.array([0, 1, 1, 1]), np.array([2, 0, 0, 1]), (2, 3))
    assert matrix.tolist() == [[0, 0, 1], [2, 1, 0]]


def test_channels_take_the_name_of_what_they_meet_most():
    assert single_motif_error(np.eye(4, dtype=int)[:, [2, 0, 3, 1]]) == 0
    # two channels for the first kind are no error; the second kind has none
    assert single_motif_error(np.array([[5, 5], [0, 2]])) == pytest.approx(2 / 12)
    assert single_motif_error(np.full((5, 1), 7)) == pytest.approx(0.8)


def test_kinds_left_out_take_their_channels_with_them():
    matrix = np.array([[9, 0, 1], [0, 8, 2], [3, 0, 7]])
    assert single_motif_error(matrix) == pytest.approx(6 / 30)
    # channel 2 stands for kind 2: what kinds 0 and 1 have there is left out too
    assert single_motif_error(matrix, without=[2]) == 0
    assert single_motif_error(matrix, without=[1]) == pytest.approx(4 / 20)
    assert math.isnan(single_motif_error(matrix, without=range(3)))
