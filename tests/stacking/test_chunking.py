import math

import pytest
import torch
from torch import nn
from torch.func import functional_call

from sparseid.stacking.chunking import PART_FLOATS, losses_in_groups, member_groups, parts
from sparseid.stacking.layers import stacked_mlp
from sparseid.stacking.members import generators, sum_of_members


@pytest.mark.parametrize(("members", "batch", "floats"), [(1, 1, 1), (4, 300, 10), (3, 5, 2**15), (2, 7, 2**30)])
def test_the_parts_cover_every_row_once_and_hold_no_more_than_they_may(members, batch, floats):
    seen = torch.zeros(members, batch)
    for part, rows in parts(members, batch, floats, torch.device("cpu")):
        seen[part, rows] += 1
        assert seen[part, rows].numel() * floats <= max(PART_FLOATS["cpu"], floats)
    assert (seen == 1).all()


def test_groups_cover_all_members_and_hold_one_at_least():
    assert member_groups(3, 2**40, torch.device("cpu")) == [slice(0, 1), slice(1, 2), slice(2, 3)]
    assert member_groups(3, 1, torch.device("cpu")) == [slice(0, 3)]


def gradients(groups, inputs):
    network = stacked_mlp([4, 8, 2], generators([0, 1, 2, 3, 4], "init"), nn.Tanh)
    network.unused = nn.Parameter(torch.ones(5, 1))

    def losses(parameters, members):
        return functional_call(network, parameters, inputs[members]).square().mean(dim=(1, 2))

    values = losses_in_groups(losses, dict(network.named_parameters()), groups)
    total = sum_of_members(values * torch.arange(1.0, 6))
    total.backward()
    return [values.detach()] + [p.grad for name, p in network.named_parameters() if name != "unused"]


def test_losses_and_gradients_are_those_of_the_whole_stack():
    inputs = torch.randn(5, 6, 4, generator=torch.Generator().manual_seed(0))
    whole = gradients([slice(0, 5)], inputs)
    torch.testing.assert_close(gradients([slice(0, 2), slice(2, 4), slice(4, 5)], inputs), whole)


def test_a_member_that_diverges_leaves_the_others_of_its_group_alone():
    inputs = torch.randn(5, 6, 4, generator=torch.Generator().manual_seed(0))
    whole = gradients([slice(0, 5)], inputs)
    inputs[1] = math.nan
    for good, part in zip(whole, gradients([slice(0, 3), slice(3, 5)], inputs), strict=True):
        others = [0, 2, 3, 4]
        torch.testing.assert_close(part[others], good[others])
