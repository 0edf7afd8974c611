"""Finished runs are read back."""

import pytest
import torch

import sparseid
from sparseid.config.compose import compose
from sparseid.errors import InputError
from sparseid.training.checkpoints import load
from sparseid.training.run import execute


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    outputs = tmp_path_factory.mktemp("outputs")
    overrides = ["experiment=tbr/fig4", "scale=smoke", "hydra.mode=RUN", "seeds=[0,1]", "trainer=cpu"]
    return execute(compose([*overrides, f"outputs={outputs}", "trainer.max_samples=512"]))


def test_the_module_of_a_finished_run_has_its_weights_and_makes_its_predictions(folder):
    run = sparseid.load_run(folder)
    module = run.module()
    saved = load(folder / "checkpoints" / "last.ckpt")["state_dict"]
    assert module.state_dict().keys() == saved.keys()
    assert all(torch.equal(value, saved[name]) for name, value in module.state_dict().items())
    assert not module.training
    data = run.data()
    data.setup("test")
    batch = next(iter(data.test_dataloader()))
    assert module.model(batch.inputs, batch.environments).shape == batch.labels.shape


def test_rows_arrays_and_configuration_are_those_of_the_run(folder):
    run = sparseid.load_run(str(folder))
    assert run.config.seeds == [0, 1]
    assert {row.metric for row in run.rows} >= {"mcc", "mse"}
    assert run.arrays["weights"].shape[0] == 2
    assert "last" in run.checkpoints


def test_a_misspelled_checkpoint_and_a_folder_that_holds_no_finished_run_are_refused(folder, tmp_path):
    with pytest.raises(InputError, match="has no checkpoint 'lst'\n  did you mean: last"):
        sparseid.load_run(folder).module("lst")
    with pytest.raises(InputError, match="holds no finished run"):
        sparseid.load_run(tmp_path)
    with pytest.raises(InputError, match="does not exist: name the folder of a run"):
        sparseid.load_run(tmp_path / "nowhere")
