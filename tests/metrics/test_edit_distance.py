import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sparseid.metrics.edit_distance import cut_at_end, edit_distances, exact_match, without_padding

sequences = st.lists(st.integers(0, 11), max_size=8)


@pytest.mark.shared
@pytest.mark.parametrize("case", ["short", "long"])
def test_equal_to_the_published_evaluation(shared_arrays, case):
    arrays = shared_arrays("sparling_e2e_error")
    targets, predictions = (without_padding(arrays[f"{case}_{name}"]) for name in ("target", "pred"))
    distances = edit_distances(targets, predictions)
    np.testing.assert_allclose(distances, arrays[f"{case}_normalised_edit_distance"], atol=1e-12)
    assert 1 - distances.mean() == pytest.approx(float(arrays[f"{case}_edit_accuracy"]), abs=1e-12)
    assert exact_match(targets, predictions) == pytest.approx(float(arrays[f"{case}_exact_accuracy"]), abs=1e-12)


@pytest.mark.shared
def test_cut_equals_the_published_one(shared_arrays):
    arrays = shared_arrays("sparling_e2e_error")
    cut = cut_at_end(arrays["strip_raw"][:, 1:], end=int(arrays["strip_bos_eos_ids"][1]))
    assert cut == without_padding(arrays["strip_out"])


def test_known_values():
    targets = [[0, 7, 2, 6, 3, 4], [1, 2, 3], [], [5]]
    predictions = [[0, 7, 2, 3, 6, 4], [1, 2, 3], [], []]
    np.testing.assert_allclose(edit_distances(targets, predictions), [2 / 6, 0, 0, 1])
    assert exact_match(targets, predictions) == 0.5


def test_degenerate_input():
    assert edit_distances([], []).shape == (0,)
    assert math.isnan(exact_match([], []))
    assert cut_at_end(np.zeros((2, 0), int), end=3) == [[], []]
    with pytest.raises(ValueError, match="shorter"):
        edit_distances([[1], [2]], [[1]])


@given(sequences, sequences)
def test_symmetric_bounded_and_zero_only_for_equal(first, second):
    forward, backward = edit_distances([first], [second])[0], edit_distances([second], [first])[0]
    assert forward == backward
    assert 0 <= forward <= 1
    assert (forward == 0) == (first == second)
