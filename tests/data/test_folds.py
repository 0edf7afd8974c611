import numpy as np
import pytest

from sparseid.data.folds import fold_numbers, split


@pytest.mark.shared
def test_folds_are_the_authors(shared_arrays):
    expected = shared_arrays("sparsevae_splits")
    for samples, folds in ((50, 5), (20, 2)):
        assert fold_numbers(samples, folds).tolist() == expected[f"N{samples}_F{folds}_seed42"].astype(int).tolist()


def test_known_folds():
    """Output of NumPy's legacy generator for seed 42, which NumPy promises not to change."""
    assert fold_numbers(10, 5).tolist() == [3, 4, 2, 4, 4, 1, 2, 2, 2, 4]


def test_every_sample_is_held_out_once():
    parts = [split(103, 5, fold) for fold in range(5)]
    assert sorted(np.concatenate([test for _, test in parts]).tolist()) == list(range(103))
    for train, test in parts:
        assert sorted([*train, *test]) == list(range(103))
        assert (np.diff(train) > 0).all()
