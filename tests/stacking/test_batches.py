import pytest
import torch

from sparseid.stacking.batches import StackedBatches, take


def test_an_epoch_shows_every_item_once_and_the_next_in_another_order():
    batches = StackedBatches([0, 1], items=12, batch_size=4)
    first, second = (torch.cat([batches.indices(3 * epoch + i) for i in range(3)], dim=1) for epoch in (0, 1))
    for order in (first, second):
        assert order.sort(dim=1).values.tolist() == [list(range(12))] * 2
    assert not torch.equal(first, second)
    assert not torch.equal(first[0], first[1])


def test_a_batch_is_a_function_of_seed_and_number():
    batches = StackedBatches([5, 3], items=10, batch_size=3)
    assert len(batches) == 3
    there = [batches.indices(number).clone() for number in range(7)]
    alone = StackedBatches([3], items=10, batch_size=3)
    for number in (6, 0, 4, 4):  # in any order, as after a resume
        assert torch.equal(alone.indices(number)[0], there[number][1])


def test_too_few_items_are_refused():
    with pytest.raises(ValueError, match="3 items do not fill a batch of 4"):
        StackedBatches([0], items=3, batch_size=4)


def test_take_is_indexing_per_member():
    values, indices = torch.randn(3, 8, 2, 5), torch.randint(0, 8, (3, 6))
    assert torch.equal(take(values, indices), torch.stack([values[m, indices[m]] for m in range(3)]))


def test_take_sends_gradients_back_where_they_belong():
    values = torch.zeros(2, 3, requires_grad=True)
    take(values, torch.tensor([[0, 0], [2, 1]])).sum().backward()
    assert values.grad.tolist() == [[2.0, 0.0, 0.0], [0.0, 1.0, 1.0]]


def test_a_smaller_last_batch_completes_the_epoch():
    batches = StackedBatches([0, 1], items=10, batch_size=4, drop_last=False)
    assert len(batches) == 3
    for epoch in range(2):
        parts = [batches.indices(3 * epoch + i) for i in range(3)]
        assert [part.shape[1] for part in parts] == [4, 4, 2]
        assert torch.cat(parts, dim=1).sort(dim=1).values.tolist() == [list(range(10))] * 2
    few = StackedBatches([0], items=3, batch_size=4, drop_last=False)
    assert len(few) == 1
    assert few.indices(5).shape == (1, 3)
    with pytest.raises(ValueError, match="0 items"):
        StackedBatches([0], items=0, batch_size=4, drop_last=False)
