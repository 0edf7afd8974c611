"""Batches of images of discrete factors."""

from types import SimpleNamespace

import numpy as np
import pytest
import torch

from sparseid.data.batch import FactorBatch
from sparseid.data.factor_images import CHUNK
from sparseid.data.shapes3d.datamodule import Shapes3DData
from sparseid.data.shapes3d.mini import MiniShapes
from sparseid.data.shapes3d.settings import Shapes3DSettings
from sparseid.settings import RunNumbers

SETTINGS = Shapes3DSettings(size=32, levels=[3, 3, 3, 2, 4, 2])


@pytest.fixture(scope="module", autouse=True)
def _drawn_once():
    """Share the images among the tests."""
    images = MiniShapes(SETTINGS.mini_levels, 32)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Shapes3DData, "mini", staticmethod(lambda settings: images))
        yield


def data(seed=0, batch_size=8, **numbers):
    return Shapes3DData.from_settings(SETTINGS, RunNumbers(seed, [seed], batch_size, **({"steps": 95} | numbers)))


def trainer(**attributes):
    strategy = SimpleNamespace(root_device=torch.device("cpu"))
    return SimpleNamespace(**{"global_rank": 0, "world_size": 1, "strategy": strategy, "global_step": 0} | attributes)


def same(first, second):
    return all(torch.equal(a, b) for a, b in zip(first, second, strict=True))


def test_batches_have_the_documented_shapes_and_their_factors():
    module = data()
    batch = module.training_batch(0)
    assert isinstance(batch, FactorBatch)
    assert (batch.inputs.shape, batch.inputs.dtype) == ((8, 3, 32, 32), torch.float32)
    assert batch.inputs.is_contiguous()
    assert 0 <= batch.inputs.min() < 0.01
    assert 0.5 < batch.inputs.max() <= 1
    assert batch.factors.shape == (8, 6)
    images = module.images.observations(batch.factors.numpy())
    assert np.array_equal((batch.inputs * 255).round().byte().permute(0, 2, 3, 1).numpy(), images)


def test_training_batches_are_a_function_of_seed_and_number():
    assert same(data().training_batch(5), data().training_batch(5))
    assert not same(data().training_batch(5), data().training_batch(6))
    assert not same(data().training_batch(5), data(seed=1).training_batch(5))
    assert not same(data().training_batch(5), data().training_batch(5, "permuted"))


def test_a_resumed_run_goes_on_with_the_batch_of_its_step():
    module = data(steps=40)
    module.trainer = trainer()
    batches = list(module.train_dataloader())
    assert len(batches) == module.batches_per_check == 4
    module.trainer = trainer(global_step=6)
    rest = list(module.train_dataloader())
    assert len(rest) == 2
    assert same(rest[0], data().training_batch(6))
    assert same(batches[3], data().training_batch(3))


@pytest.mark.parametrize("processes", [2, 4])
def test_processes_share_a_batch(processes):
    whole, parts = data().training_batch(3), []
    for rank in range(processes):
        module = data()
        module.trainer = trainer(global_rank=rank, world_size=processes)
        parts.append(module.training_batch(3))
    for place, expected in enumerate(whole):
        assert torch.equal(torch.stack([part[place] for part in parts], dim=1).flatten(0, 1), expected)


def test_fixed_sets_depend_neither_on_the_seed_nor_on_their_size():
    module = data(check_every=80, check_items=200)
    assert module.batches_per_check == 10
    few, many = list(module.val_dataloader()), list(data(seed=3).fixed_set("validation", 300))
    assert [len(batch.factors) for batch in many] == [CHUNK, CHUNK, 44]
    assert same(few[0], many[0])
    assert torch.equal(few[1].inputs, many[1].inputs[: 200 - CHUNK])
    module.test_items = 50
    (test,) = module.test_dataloader()
    assert len(test.inputs) == 50
    assert not torch.equal(test.factors, few[0].factors[:50])


def test_a_method_that_leaves_it_to_the_data_gets_ten_validations():
    module = data(steps=95)
    assert (module.batches_per_check, module.check_items, module.test_items) == (10, 1000, 10_000)


def test_images_that_are_drawn_are_said_to_be():
    assert data().note == "images drawn by the run, in place of Shapes3D"
    assert data().remarks == [
        "432 images of 32 pixels: floor_hue 3, wall_hue 3, object_hue 3, scale 2, shape 4, orientation 2"
    ]
