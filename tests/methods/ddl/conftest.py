"""Small runs of Diverse Dictionary Learning, composed of the groups' own files."""

from pathlib import Path

import pytest
import yaml
from omegaconf import OmegaConf

from sparseid.config.schema import RunConfig
from sparseid.data.mlp_mixture.settings import MLPMixtureSettings
from sparseid.methods.ddl.settings import DDLSettings
from sparseid.settings import TrainerSettings

CONFIGS = Path(__file__).resolve().parents[3] / "configs"


@pytest.fixture
def config(tmp_path):
    """Return a run of 60 steps on three latents of two seeds, with changes like method.alpha=0.1."""

    def composed(*changes: str) -> RunConfig:
        def published(group, name):
            return {
                k: v
                for k, v in yaml.safe_load((CONFIGS / group / f"{name}.yaml").read_text()).items()
                if k != "defaults"
            }

        groups = {
            "method": OmegaConf.structured(DDLSettings),
            "data": OmegaConf.structured(MLPMixtureSettings),
            "trainer": OmegaConf.structured(TrainerSettings),
        }
        values = {
            "method": published("method", "ddl") | {"hidden": 16},
            "data": published("data", "mlp_mixture") | {"samples": 200, "test_samples": 600},
            "trainer": {"max_samples": 60 * 32, "batch_size": 32, "threads": 1, "accelerator": "cpu"},
            "seeds": [0, 1],
        }
        tree = OmegaConf.merge(groups, values, OmegaConf.from_dotlist(list(changes)))
        parts = {name: OmegaConf.to_object(tree[name]) for name in groups}
        return RunConfig("ddl/test", "smoke", "ddl", seeds=list(tree.seeds), outputs=str(tmp_path), **parts)

    return composed
