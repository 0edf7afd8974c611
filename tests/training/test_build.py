"""Names in the configuration -> the objects of a run."""

from __future__ import annotations

from pkgutil import resolve_name

import pytest
from pytorch_lightning import LightningDataModule, LightningModule

from sparseid.config.components import component_names, settings_classes
from sparseid.config.sweep import plan
from sparseid.training.build import build_data, build_module

PRESETS = {
    "sparling": "digitcircle",
    "tbr": "tbr/fig4",
    "regcl": "regcl/table1",
    "sparse_vae": "sparse_vae/fig3",
    "ddl": "ddl/table6",
}
"""A preset of each method, and so of a data set that it is paired with."""

OTHER_DATA = {
    "gtex": "tbr/fig5a",
    "movielens": "sparse_vae/table1",
    "peerread": "sparse_vae/table1_peerread",
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
    cfg = plan([f"experiment={PRESETS[method]}", "scale=smoke"]).trials[0].run
    data = build_data(cfg)
    module = build_module(cfg, data)
    assert isinstance(data, LightningDataModule)
    assert isinstance(module, LightningModule)
    assert type(module).__module__ == f"sparseid.methods.{method}.module"
    assert type(data).__module__ == f"sparseid.data.{cfg.data.name}.datamodule"
