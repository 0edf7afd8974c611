"""Finished runs are read back."""

import shutil
import subprocess
import sys
from types import SimpleNamespace

import numpy as np
import pytest
import torch

import sparseid
from sparseid.config.compose import compose
from sparseid.errors import InputError
from sparseid.methods.module import StackedModule
from sparseid.training.checkpoints import load
from sparseid.training.errors import RunError
from sparseid.training.run import execute


def finished(outputs, seeds):
    overrides = ["experiment=tbr/fig4", "scale=smoke", "hydra.mode=RUN", f"seeds={seeds}", "trainer=cpu"]
    return execute(compose([*overrides, f"outputs={outputs}", "trainer.max_samples=512"]))


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return finished(tmp_path_factory.mktemp("outputs"), "[0,1]")


@pytest.fixture(scope="module")
def other(tmp_path_factory):
    return finished(tmp_path_factory.mktemp("outputs"), "[2,3]")


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


def test_damaged_files_of_a_finished_run_are_named_with_the_remedy(folder, tmp_path):
    copy = tmp_path / folder.name
    shutil.copytree(folder, copy)
    arrays, last = copy / "arrays.npz", copy / "checkpoints" / "last.ckpt"
    whole = arrays.read_bytes()
    arrays.write_bytes(whole.replace(whole[100:120], bytes(20)))  # within the first array
    with pytest.raises(RunError, match=rf"^{arrays} is damaged .*force=true"):
        sparseid.load(copy)
    arrays.write_bytes(whole[:-100])
    with pytest.raises(InputError, match=rf"holds no finished run .state: failed.: {arrays} is damaged .*force=true"):
        sparseid.load(copy)
    arrays.write_bytes(whole)
    last.write_bytes(last.read_bytes()[:-100])
    with pytest.raises(RunError, match=rf"^{last} is damaged .*force=true"):
        sparseid.load(copy)


def test_weights_of_another_run_are_refused_wherever_the_folder_is(folder, other, tmp_path):
    moved = tmp_path / "renamed"
    shutil.copytree(folder, moved)
    sparseid.load(moved)
    last = moved / "checkpoints" / "last.ckpt"
    last.write_bytes((other / "checkpoints" / "last.ckpt").read_bytes())
    names = [run.name.rpartition("-")[2] for run in (other, folder)]
    said = rf"^{last} is a checkpoint of another run, {names[0]}; this one is {names[1]}\. Put its own there again"
    with pytest.raises(RunError, match=said):
        sparseid.load(moved)
    with pytest.raises(RunError, match=said):
        sparseid.load_run(moved).module()


# The trained model on new samples


def test_a_loaded_model_transforms_new_samples_in_a_fresh_process_to_the_same_values(folder, tmp_path):
    model = sparseid.load(folder)
    inputs = np.random.default_rng(0).normal(size=(9, *model.input_shape)).astype(np.float32)
    latents = model.transform(inputs, samples=4)
    module = model.module
    with torch.no_grad():
        expected = module.model.encode(torch.from_numpy(inputs).expand(2, -1, -1))
    assert latents.shape == (2, 9, module.method.latents)
    np.testing.assert_allclose(latents, expected.numpy(), rtol=1e-5, atol=1e-6)
    np.save(tmp_path / "inputs.npy", inputs)
    code = (
        "import sys, numpy as np, sparseid\n"
        "np.save(sys.argv[3], sparseid.load(sys.argv[1]).transform(np.load(sys.argv[2]), samples=4))"
    )
    files = [str(path) for path in (folder, tmp_path / "inputs.npy", tmp_path / "latents.npy")]
    subprocess.run([sys.executable, "-c", code, *files], check=True)
    np.testing.assert_array_equal(np.load(tmp_path / "latents.npy"), latents)


def test_a_loaded_model_makes_the_latents_that_the_tests_of_its_run_saved(folder):
    model = sparseid.load(folder)
    data = model.run.data()
    data.setup("test")
    inputs = torch.cat([batch.inputs[0] for batch in data.test_dataloader()])
    saved = model.run.arrays["test_latents"]
    np.testing.assert_allclose(model.transform(inputs[: len(saved)])[0], saved, rtol=1e-5, atol=1e-6)


def test_new_samples_of_another_form_are_refused_with_the_place(folder):
    model = sparseid.load(folder)
    features = model.input_shape[0]
    with pytest.raises(InputError, match=rf"shape \(N, {features}\) with N > 0, not \(3, 2\)"):
        model.transform(np.ones((3, 2)))
    with pytest.raises(InputError, match="needs numbers of shape"):
        model.transform([["a"] * features])
    inputs = np.zeros((3, features))
    inputs[1, 2] = np.nan
    with pytest.raises(InputError, match=r"the one at \[1, 2\] is not"):
        model.transform(inputs)
    masked = np.ma.array(np.zeros((3, features)), mask=np.arange(3 * features).reshape(3, features) == 1)
    for inputs in (masked, [*masked]):
        with pytest.raises(InputError, match=r"the one at \[0, 1\] is not"):
            model.transform(inputs)
    for kind in ("M8[s]", complex):
        with pytest.raises(InputError, match=r"needs numbers of shape .* they are"):
            model.transform(np.zeros((3, features), kind))
    with pytest.raises(InputError, match="has no setting latnets\n  did you mean: latents"):
        sparseid.load(folder, data={"latnets": 3})


def test_the_choice_of_candidates_is_read_from_the_runs_arrays():
    stack = SimpleNamespace(seeds=[3, 4])
    chosen_models = StackedModule.chosen_models
    assert chosen_models(stack, {}, 2) == [0, 1]
    assert chosen_models(stack, {"models": np.array([1, 4])}, 6) == [1, 4]
    with pytest.raises(InputError, match="which candidates its tests have chosen"):
        chosen_models(stack, {}, 6)
