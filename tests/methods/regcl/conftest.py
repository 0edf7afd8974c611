"""Small RegCL runs: 400 steps of a walk of four latents, narrow batches."""

from pathlib import Path

import pytest
import yaml
from omegaconf import OmegaConf

from sparseid.config.schema import RunConfig
from sparseid.data.latent_walk.settings import LatentWalkSettings
from sparseid.methods.regcl.settings import RegCLSettings
from sparseid.settings import TrainerSettings

CONFIGS = Path(__file__).resolve().parents[3] / "configs"
SMALL = {
    "data": {
        "latents": 4,
        "samples": 400,
        "dim_x1": 6,
        "dim_x2": 5,
        "attribution_samples": 40,
        "conditioning_draws": 50,
    },
    "trainer": {"max_samples": 640, "batch_size": 32, "threads": 1, "accelerator": "cpu"},
}


@pytest.fixture
def config(tmp_path):
    """Return a run of 20 steps with the published values but for its size, with changes like method.lr=0.1."""

    def published(name):
        values = yaml.safe_load((CONFIGS / f"{name}.yaml").read_text())
        del values["defaults"]
        return values

    def composed(*changes: str) -> RunConfig:
        groups = {
            "method": OmegaConf.structured(RegCLSettings),
            "data": OmegaConf.structured(LatentWalkSettings),
            "trainer": OmegaConf.structured(TrainerSettings),
        }
        values = {"method": published("method/regcl"), "data": published("data/latent_walk"), "trainer": {}}
        tree = OmegaConf.merge(groups, values, SMALL, {"seeds": [0, 1]}, OmegaConf.from_dotlist(list(changes)))
        parts = {name: OmegaConf.to_object(tree[name]) for name in groups}
        return RunConfig("regcl/test", "smoke", "regcl", seeds=list(tree.seeds), outputs=str(tmp_path), **parts)

    return composed
