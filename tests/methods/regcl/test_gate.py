import math

from sparseid.measurements import Measurement
from sparseid.methods.regcl.gate import gate_remarks


def explained(*values, name="labels"):
    return [Measurement("r2", value, keys={"explained": name}, seed=seed) for seed, value in enumerate(values)]


def test_a_good_fit_needs_no_remark():
    assert gate_remarks([*explained(95.0, 99.9), *explained(3.0, name="z1"), Measurement("auc", 50.0)]) == []
    assert gate_remarks([]) == []


def test_diverged_members_are_left_to_another_remark():
    assert gate_remarks(explained(None, 99.0)) == []


def test_what_cannot_be_explained_is_said():
    [remark] = gate_remarks(explained(math.nan, 99.0))
    assert "undefined: a label is constant" in remark
