from types import SimpleNamespace

import numpy as np
import pytest
import torch

from sparseid.data.feature_matrix import FeatureData, FeatureTruth, Matrices, rows


class Made(FeatureData):
    """A data set that holds what a test gives it."""

    likelihood = "gaussian"

    def __init__(self, made, seeds=(0, 1), batch_size=4, test_items=1000):
        super().__init__(seeds, batch_size, test_items)
        self.made, self.features = made, made.train.shape[-1]

    def make(self):
        return self.made


def ready(*arguments, **options):
    data = Made(*arguments, **options)
    data.setup()
    return data


def test_an_epoch_shows_each_member_its_samples_once():
    train = torch.arange(2 * 10 * 3.0).view(2, 10, 3)
    data = ready(Matrices(train, train[:, :5]))
    assert data.epoch_steps == 3
    batches = [data.training_batch(number).inputs for number in range(3)]
    assert [tuple(batch.shape) for batch in batches] == [(2, 4, 3), (2, 4, 3), (2, 2, 3)]
    for member in range(2):
        seen = torch.cat([batch[member] for batch in batches])
        assert torch.equal(seen[seen[:, 0].argsort()], train[member])
    again = ready(Matrices(train, train[:, :5]))
    assert torch.equal(again.training_batch(4).inputs, data.training_batch(4).inputs)  # whatever came before


def test_a_member_gets_the_batches_that_it_gets_alone():
    train = torch.randn(2, 10, 3)
    both = ready(Matrices(train, train), seeds=(5, 7))
    alone = ready(Matrices(train[1:], train[1:]), seeds=(7,))
    assert torch.equal(both.training_batch(5).inputs[1:], alone.training_batch(5).inputs)


def test_members_that_share_the_data_share_its_memory():
    shared = torch.randn(1, 10, 3)
    data = ready(Matrices(shared, shared[:, :4]), seeds=(0, 1, 2))
    copied = ready(Matrices(shared.repeat(3, 1, 1), shared[:, :4].repeat(3, 1, 1)), seeds=(0, 1, 2))
    assert data.train.shape == (3, 10, 3)
    assert data.train.stride(0) == 0
    assert data.column_sd.shape == (3, 3)
    for number in range(3):
        assert torch.equal(data.training_batch(number).inputs, copied.training_batch(number).inputs)
    assert torch.equal(data.test, copied.test)


def test_rows_of_a_shared_matrix_are_those_of_its_copies():
    matrix, indices = torch.randn(1, 8, 5), torch.randint(0, 8, (3, 6))
    assert torch.equal(rows(matrix.expand(3, -1, -1), indices), rows(matrix.repeat(3, 1, 1), indices))


def test_spread_is_that_of_all_samples():
    train, test = torch.randn(2, 10, 3), 5 + torch.randn(2, 6, 3)
    data = ready(Matrices(train, test))
    np.testing.assert_allclose(data.column_sd, np.concatenate([train, test], axis=1).std(axis=1), rtol=1e-6)


@pytest.mark.shared
@pytest.mark.parametrize("case", ["gauss", "counts", "float32"])
def test_spread_is_the_authors(shared_arrays, case):
    arrays = shared_arrays("sparsevae_sigma_prior")
    matrix = torch.from_numpy(arrays[f"{case}/x"]).float()[None]
    data = ready(Matrices(matrix[:, :30], matrix[:, 30:]), seeds=(0,))
    np.testing.assert_allclose(data.column_sd[0], arrays[f"{case}/sd"], rtol=1e-4)


def test_members_can_share_the_test_samples_alone():
    train, test = torch.randn(2, 10, 3), torch.randn(1, 6, 3)
    data, copied = ready(Matrices(train, test)), ready(Matrices(train, test.repeat(2, 1, 1)))
    assert torch.equal(data.test, copied.test)
    assert torch.equal(data.column_sd, copied.column_sd)


def test_without_held_out_samples_all_are_evaluated():
    train = torch.randn(1, 10, 3)
    data = ready(Matrices(train))
    assert data.test is data.train
    assert torch.equal(data.column_sd[0], train[0].double().std(dim=0, correction=0).float())


def test_the_test_set_comes_in_order_and_as_far_as_asked():
    test = torch.randn(2, 1300, 3)
    data = ready(Matrices(torch.randn(2, 8, 3), test))
    assert [batch.inputs.shape[1] for batch in data.test_dataloader()] == [512, 488]
    assert len(data.test_dataloader()) == 2
    data.test_items = 2000
    assert torch.equal(torch.cat([batch.inputs for batch in data.test_dataloader()], dim=1), test)


def test_truth_comes_along():
    truth = FeatureTruth(torch.randn(2, 8, 2), torch.randn(2, 4, 2), torch.eye(3)[:, :2])
    data = ready(Matrices(torch.randn(2, 8, 3), torch.randn(2, 4, 3), truth))
    assert torch.equal(data.truth.train, truth.train)
    assert ready(Matrices(torch.randn(2, 8, 3))).truth is None


def test_training_goes_on_with_the_next_step():
    data = ready(Matrices(torch.randn(2, 10, 3)))
    data.trainer = SimpleNamespace(global_step=3, max_steps=42)
    batches = list(data.train_dataloader())
    assert len(batches) == 2  # a period has ceil(42 / 10) batches
    assert torch.equal(batches[0].inputs, data.training_batch(3).inputs)
