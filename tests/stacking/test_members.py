import pytest
import torch

from sparseid.stacking.members import generators, per_member, sum_of_members


def test_a_members_draws_depend_on_its_seed_alone():
    together = [torch.rand(3, generator=g).tolist() for g in generators([7, 2], "x", 5)]
    assert together[1] == torch.rand(3, generator=generators([2], "x", 5)[0]).tolist()
    assert together[1] != torch.rand(3, generator=generators([2], "x", 6)[0]).tolist()


def test_one_number_or_one_for_each():
    assert per_member([1.0, 2.0], 2).tolist() == [1.0, 2.0]
    with pytest.raises(ValueError, match="2 values for 3 members"):
        per_member([1.0, 2.0], 3)


def test_a_member_that_diverges_leaves_the_others_their_gradient():
    weights = torch.tensor([2.0, 3.0], requires_grad=True)
    losses = weights**2 * torch.tensor([1.0, torch.inf])
    total = sum_of_members(losses)
    total.backward()
    assert total.item() == 4.0
    assert weights.grad[0].item() == 4.0
    assert sum_of_members(torch.tensor([torch.nan, torch.inf])).isnan()
