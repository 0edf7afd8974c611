"""Names in the configuration -> the objects of a run."""

from __future__ import annotations

from pkgutil import resolve_name

import pytest
from pytorch_lightning import LightningDataModule, LightningModule

from sparseid.config.components import component_names, settings_classes
from sparseid.config.sweep import plan
from sparseid.errors import InputError
from sparseid.training.build import build_data, build_module, build_trainer
from sparseid.training.preemption import Preemption
from sparseid.training.run_folder import RunFolder
from sparseid.training.runtime import accelerator, mps_note

PRESETS = {
    "sparling": "digitcircle",
    "tbr": "tbr/fig4",
    "regcl": "regcl/table1",
    "sparse_vae": "sparse_vae/fig3",
    "ddl": "ddl/table6",
    "factor_vae": "ddl/table8",
    "gin": "ddl/fig8",
    "disco": "ddl/table1_disco",
    "encdiff": "ddl/fig10",
    "sae": "ddl/table3",
}
"""A preset of each method, and so of a data set that it is paired with."""

OTHER_DATA = {
    "gtex": "tbr/fig5a",
    "movielens": "sparse_vae/table1",
    "mpi3d": "ddl/table8_mpi3d",
    "peerread": "sparse_vae/table1_peerread",
    "shapes3d": "ddl/table1",
    "peerread_shift": "sparse_vae/table2",
    "zeisel": "sparse_vae/fig4",
}
"""A preset of each further data set."""


def test_every_data_set_and_method_of_the_configuration_can_be_built():
    for group in ("data", "method"):
        for settings in settings_classes(group).values():
            assert resolve_name(settings.loads).from_settings
    assert set(component_names("method")) == set(PRESETS)


@pytest.mark.parametrize("data", OTHER_DATA)
def test_a_run_gets_the_data_that_it_names(data):
    cfg = plan([f"experiment={OTHER_DATA[data]}", "scale=smoke"]).trials[0].run
    assert type(build_data(cfg)).__module__ == f"sparseid.data.{data}.datamodule"


@pytest.mark.parametrize("method", PRESETS)
def test_a_run_gets_the_method_and_the_data_that_it_names(method):
    cfg = plan([f"experiment={PRESETS[method]}", "scale=smoke"]).trials[-1].run  # the first may be a parent run
    data = build_data(cfg)
    module = build_module(cfg, data)
    assert isinstance(data, LightningDataModule)
    assert isinstance(module, LightningModule)
    assert type(module).__module__ == f"sparseid.methods.{method}.module"
    assert type(data).__module__ == f"sparseid.data.{cfg.data.name}.datamodule"


@pytest.fixture
def mac(monkeypatch):
    """A machine with a GPU that has no double precision, and no other."""
    monkeypatch.setattr("torch.backends.mps.is_available", lambda: True)
    monkeypatch.setattr("torch.cuda.is_available", lambda: False)
    monkeypatch.setattr("pytorch_lightning.accelerators.mps.MPSAccelerator.is_available", lambda: True)
    monkeypatch.setattr("pytorch_lightning.accelerators.cuda.CUDAAccelerator.is_available", lambda: False)


@pytest.mark.parametrize("accelerator", ["auto", "cpu"])
def test_a_mac_trains_on_the_cpu_and_says_why(mac, tmp_path, accelerator):
    cfg = plan(["experiment=digitcircle", "scale=smoke", f"trainer.accelerator={accelerator}"]).trials[0].run
    trainer = build_trainer(cfg, RunFolder(tmp_path), Preemption())
    assert trainer.strategy.root_device.type == "cpu"
    assert ("no double precision" in mps_note(accelerator)) == (accelerator == "auto")


def test_a_mac_refuses_its_gpu_with_the_reason(mac, tmp_path):
    cfg = plan(["experiment=digitcircle", "scale=smoke", "trainer.accelerator=gpu"]).trials[0].run
    with pytest.raises(InputError, match=r"\(MPS\) is not used: it has no double.*: trainer=cpu always works"):
        build_trainer(cfg, RunFolder(tmp_path), Preemption())


def test_a_cuda_gpu_is_used_wherever_there_is_one(mac, monkeypatch):
    monkeypatch.setattr("torch.cuda.is_available", lambda: True)
    assert [accelerator(choice) for choice in ("auto", "gpu", "cpu")] == ["cuda", "cuda", "cpu"]
    assert mps_note("auto") == ""
