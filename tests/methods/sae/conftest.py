"""Small runs on a random transformer, composed of the method's own file."""

from functools import partial
from pathlib import Path

import pytest
import yaml
from omegaconf import OmegaConf

from sparseid.config.schema import RunConfig
from sparseid.data.mlp_activations.settings import MLPActivationsSettings
from sparseid.methods.sae.settings import SAESettings
from sparseid.settings import TrainerSettings
from sparseid.training.run import execute

METHOD = Path(__file__).resolve().parents[3] / "configs" / "method" / "sae.yaml"
SMALL = {"features": 48, "k": 4, "idle_features": 8, "lr": 0.003}
DATA = {"model": "random", "layer": 1, "context": 16, "tokens": 512, "held_out": 128}


def composed(outputs: Path, *changes: str) -> RunConfig:
    """Return a run of 12 steps, with changes like method.k=3."""
    published = {k: v for k, v in yaml.safe_load(METHOD.read_text()).items() if k != "defaults"}
    groups = {
        "method": OmegaConf.structured(SAESettings),
        "data": OmegaConf.structured(MLPActivationsSettings),
        "trainer": OmegaConf.structured(TrainerSettings),
    }
    trainer = {"max_samples": 12 * 32, "batch_size": 32, "threads": 1, "accelerator": "cpu"}
    values = {"method": published | SMALL, "data": DATA, "trainer": trainer, "seed": 0}
    tree = OmegaConf.merge(groups, values, OmegaConf.from_dotlist(list(changes)))
    parts = {name: OmegaConf.to_object(tree[name]) for name in groups}
    return RunConfig("ddl/table3", "smoke", "ddl", seed=tree.seed, outputs=str(outputs), **parts)


@pytest.fixture(scope="session")
def data_folder(tmp_path_factory):
    """Return a folder of data that all tests share: the activations are computed once."""
    return tmp_path_factory.mktemp("data")


@pytest.fixture(autouse=True)
def _own_data_folder(data_folder, monkeypatch):
    monkeypatch.setenv("SPARSEID_DATA", str(data_folder))


@pytest.fixture
def config(tmp_path):
    """Return a small run with changes, with a folder of this test's."""
    return partial(composed, tmp_path)


@pytest.fixture(scope="module")
def finished(tmp_path_factory, data_folder):
    """Return the folder of a finished run of the Jacobian pair."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SPARSEID_DATA", str(data_folder))
        return execute(composed(tmp_path_factory.mktemp("finished"), *OF_KIND["jsae"]))


OF_KIND = {
    "topk": (),
    "batchtopk": ("method.kind=batchtopk",),
    "jsae": ("method.kind=jsae", "method.idle_weight=0", "method.jacobian_weight=1", "method.decay=0.5"),
}
"""Changes for each kind."""


@pytest.fixture
def of_kind():
    """Return the changes for each kind."""
    return OF_KIND
