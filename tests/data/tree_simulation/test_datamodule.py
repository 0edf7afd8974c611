import torch

from sparseid.data.tree_simulation.datamodule import TreeSimulationData
from sparseid.data.tree_simulation.generator import simulate
from sparseid.data.tree_simulation.settings import TreeSimulationSettings

CONFIG = TreeSimulationSettings(
    depth=2, samples=10, features=3, latents=2, delta_std=0.5, noise_std_z=0.1, noise_std_y=0.1
)


def made(*seeds, batch_size=8):
    data = TreeSimulationData(CONFIG, list(seeds), batch_size)
    data.setup()
    return data


def test_splits_are_a_half_a_quarter_and_the_rest_of_every_environment():
    data = made(3)
    drawn = simulate(CONFIG, data.tree, 3)
    parts = ((data.train, slice(0, 5)), (data.validation, slice(5, 7)), (data.test, slice(7, 10)))
    for split, samples in parts:
        for environment in range(6):
            here = split.environments == environment
            assert torch.equal(split.inputs[0, here], drawn.inputs[environment, samples])
            assert torch.equal(split.labels[0, here], drawn.labels[environment, samples])
    assert torch.equal(data.test.latents[0, :3], drawn.latents[0, 7:])
    assert data.test_items == len(data.test) == 18
    assert data.train.latents is data.validation.latents is None


def test_a_member_has_the_data_and_batches_it_has_alone():
    stack, alone = made(3, 0, 7), made(0)
    for number in (0, 2, 5):
        together, single = stack.training_batch(number), alone.training_batch(number)
        assert together.inputs.shape == (3, 8, 3)
        for tensor, own in zip(together[:3], single[:3], strict=True):
            assert torch.equal(tensor[1], own[0])


def test_samples_of_a_batch_keep_their_environment():
    data = made(0, 1)
    batch = data.training_batch(4)
    for member in range(2):
        for inputs, label, environment in zip(
            batch.inputs[member], batch.labels[member], batch.environments[member], strict=True
        ):
            place = (data.train.inputs[member] == inputs).all(dim=1).nonzero().item()
            assert data.train.labels[member, place] == label
            assert data.train.environments[place] == environment


def test_fixed_sets_come_in_order_and_as_many_as_asked_for():
    data = made(0, 1)
    chunks = list(data.test.chunks(11, size=4))
    assert [chunk.labels.shape for chunk in chunks] == [(2, 4), (2, 4), (2, 3)]
    assert len(data.test.chunks(11, size=4)) == 3
    assert torch.equal(torch.cat([chunk.latents for chunk in chunks], dim=1), data.test.latents[:, :11])
    assert torch.equal(torch.cat([chunk.environments for chunk in chunks], dim=1)[1], data.test.environments[:11])
    data.test_items = 5
    assert sum(chunk.labels.shape[1] for chunk in data.test_dataloader()) == 5
    assert sum(chunk.labels.shape[1] for chunk in data.val_dataloader()) == 12
