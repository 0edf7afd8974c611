import numpy as np
import pytest

from sparseid.methods.regcl.schedule import LinearRamp


@pytest.mark.parametrize("case", ["paper", "notebook"])
def test_the_ramp_is_cebras(fixture_arrays, case):
    arrays = fixture_arrays("regcl_schedule")
    on, off, start, end, _ = arrays[f"{case}_params"]
    assert start == 0
    ramp = LinearRamp(on, off, end)
    weights = np.nan_to_num(arrays[f"{case}_weights"][:, 0])  # NaN: cebra takes no penalty yet
    np.testing.assert_allclose([ramp.weight(int(step)) for step in arrays[f"{case}_steps"]], weights, atol=1e-12)


def test_a_ramp_without_length_jumps():
    ramp = LinearRamp(on=3, off=3, end=0.1)
    assert [ramp.weight(step) for step in (0, 2, 3, 4)] == [0, 0, 0.1, 0.1]
