import pytest
import torch

from sparseid.stacking.parts import FLOATS, parts


@pytest.mark.parametrize(("members", "batch", "floats"), [(1, 1, 1), (4, 300, 10), (3, 5, 2**15), (2, 7, 2**30)])
def test_the_parts_cover_every_row_once_and_hold_no_more_than_they_may(members, batch, floats):
    seen = torch.zeros(members, batch)
    for part, rows in parts(members, batch, floats, torch.device("cpu")):
        seen[part, rows] += 1
        assert seen[part, rows].numel() * floats <= max(FLOATS["cpu"], floats)
    assert (seen == 1).all()
