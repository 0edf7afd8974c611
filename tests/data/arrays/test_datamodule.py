import numpy as np
import pytest
import torch

from sparseid.config.schema import RunConfig
from sparseid.config.validate import problems
from sparseid.data.arrays.datamodule import ArraysData
from sparseid.data.latent_walk.datamodule import LatentWalkData
from sparseid.errors import InputError
from sparseid.settings import MethodSettings, TrainerSettings
from sparseid.training.build import build_data


@pytest.fixture
def walk(walk_config):
    data = LatentWalkData(walk_config(), [0], 16)
    data.positives = ("time", "labels")
    data.setup()
    return data


@pytest.fixture
def written(tmp_path, walk):
    """Write the walk of seed 0 as a user would, and return the file."""

    def write(rows=slice(None)):
        whole = [
            torch.cat(parts, dim=1)[0].numpy()
            for parts in zip(vars(walk.train).values(), vars(walk.held_out).values(), strict=True)
        ]
        truth = walk.truth[0, rows].numpy()
        np.savez(tmp_path / "own.npz", observations=whole[0], labels=whole[1], latents=whole[2], ground_truth=truth)
        return str(tmp_path / "own.npz")

    return write


def made(config, *seeds):
    data = ArraysData(config, seeds, 16)
    data.positives = ("time", "labels")
    data.setup()
    return data


def test_arrays_are_a_walk_that_comes_from_a_file(walk, written, arrays_config):
    data = made(arrays_config(path=written()), 0, 1)
    assert (data.features, data.latents, data.label_dim) == (walk.features, walk.latents, walk.label_dim)
    assert (data.latent_rows, data.label_rows) == (walk.latent_rows, walk.label_rows)
    assert (data.train_items, data.test_items) == (360, 40)
    assert torch.equal(data.truth, walk.truth.repeat(2, 1, 1))
    for number in (0, 7):
        for ours, own in zip(data.training_batch(number), walk.training_batch(number), strict=True):
            assert torch.equal(ours[:1], own)
            assert not torch.equal(ours[:1], ours[1:])  # members differ in their batches
    for ours, own in zip(data.attribution_batch(), walk.attribution_batch(), strict=True):
        assert torch.equal(ours, own.expand_as(ours))
    [chunk] = data.test_dataloader()
    assert torch.equal(chunk.inputs[1], walk.held_out.inputs[0])
    assert data.true_jacobian(0) is None


def test_a_map_of_the_labels_alone(walk, written, arrays_config):
    data = made(arrays_config(path=written(walk.label_rows)), 0)
    assert torch.equal(data.truth, walk.truth)


def test_without_map_and_latents(tmp_path, arrays_config):
    rng = np.random.default_rng(0)
    np.savez(tmp_path / "own.npz", observations=rng.normal(size=(100, 6)), labels=rng.normal(size=100))
    data = made(arrays_config(path=tmp_path / "own.npz", latents=3), 0)
    assert data.truth is None
    assert data.latent_rows == (slice(0, 2), slice(2, 3))
    assert next(iter(data.val_dataloader())).latents is None
    assert data.training_batch(0).labels.shape == (1, 16, 1)


def test_runs_are_built_and_refused_by_name(written, arrays_config, tmp_path):
    method = MethodSettings("any")  # without rules of its own
    method.interfaces = ("contrastive",)
    trainer = TrainerSettings(max_samples=1000, batch_size=16)
    run = RunConfig(experiment="x", scale="smoke", paper="regcl", method=method, data=None, trainer=trainer)
    run.data = arrays_config(path=written())
    assert problems(run) == []
    assert isinstance(build_data(run), ArraysData)
    run.data = arrays_config(path=tmp_path / "absent.npz")
    [problem] = problems(run)
    assert "No such file" in problem.text
    with pytest.raises(InputError, match="No such file"):
        build_data(run)


def test_public_example_after_renaming_its_arrays(tmp_path, shared_arrays, arrays_config):
    example = shared_arrays("regcl_public_example")
    arrays = {"observations": example["observations"], "labels": example["Z2"], "latents": example["latents"]}
    np.savez(tmp_path / "example.npz", **arrays, ground_truth=example["gt_map"])
    data = made(arrays_config(path=tmp_path / "example.npz"), 0, 1)
    assert (data.features, data.latents, data.label_dim) == (50, 6, 3)
    assert data.latent_rows == (slice(0, 3), slice(3, 6))
    assert np.array_equal(data.truth[1], example["gt_map"])
    assert np.array_equal(data.train.inputs[0], example["observations"][:900])
    assert np.array_equal(data.held_out.labels[1], example["Z2"][900:])
    assert data.training_batch(3).inputs.shape == (2, 64, 50)
