"""The densities that a run passes."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sparseid.methods.sparling.densities import cuts_above, density_grid


def test_published_grid_ends_at_the_published_density():
    grid = density_grid(0.5, 4.492e-5, 0.75)
    assert len(grid) == 33
    assert grid[-1] == pytest.approx(5.022621e-5, rel=1e-6)
    assert grid[-1] * 0.75 < 4.492e-5 <= grid[-1]


@given(start=st.floats(0.01, 1), factor=st.floats(0.1, 0.95), cuts=st.integers(0, 40))
def test_a_minimum_on_the_grid_is_its_last_density(start, factor, cuts):
    assert cuts_above(start * factor**cuts, start, factor) == cuts
    assert cuts_above(start * factor**cuts * 0.999, start, factor) == cuts
